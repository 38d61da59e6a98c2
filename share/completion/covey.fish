# Completion of covey in fish: covey completion fish | source. What fits, covey itself says.
function __covey_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] completion words $words[2..-1] 2>/dev/null)
        if test "$line" = /
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c covey -f -a '(__covey_complete)'
