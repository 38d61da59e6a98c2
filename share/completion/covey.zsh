#compdef covey
# Completion of covey in zsh: source <(covey completion zsh). What fits, covey itself says.
_covey() {
    local line name given=("${(@Q)words[2,CURRENT-1]}") described=() files=
    for line in "${(@f)$("${(Q)words[1]/#\~\//$HOME/}" completion words "${(@)given}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        name=${line%%$'\t'*}
        case $line in
        '') ;;
        /) files=1 ;;
        *$'\t'*) described+=("${name//:/\\:}:${line#*$'\t'}") ;;
        *) described+=("${name//:/\\:}") ;;
        esac
    done
    (( ${#described} )) && _describe covey described
    if [[ -n $files ]]; then
        compset -P '--*='
        _files
    fi
}
if [[ ${funcstack[1]} = _covey ]]; then _covey "$@"; else compdef _covey covey; fi
