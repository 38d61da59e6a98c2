# Completion of covey in bash: source <(covey completion bash). What fits, covey itself says.
_covey() {
    local program=${1/#\~\//$HOME/} current=${COMP_WORDS[COMP_CWORD]} word help words=()
    [ "$current" = = ] && current=
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [ "$word" = = ] || words+=("$word") # bash makes three words of --name=value
    done
    COMPREPLY=()
    while IFS=$'\t' read -r word help; do
        if [ "$word" = / ]; then
            compopt -o filenames 2>/dev/null
            while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
        else
            COMPREPLY+=("$word")
        fi
    done < <("$program" completion words "${words[@]}" "$current" 2>/dev/null)
}
complete -F _covey covey
