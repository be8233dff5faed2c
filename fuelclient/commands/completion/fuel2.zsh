#compdef fuel2
# Completion of fuel2 in zsh, which asks `fuel2 complete --words` for what fits.
_fuel2() {
    local line value meaning
    local -a lines values shown
    lines=("${(@f)$("${(Q)words[1]}" complete --words "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case ${lines[1]} in
    files)
        compset -P '--*='
        _files
        ;;
    directories)
        compset -P '--*='
        _files -/
        ;;
    words)
        for line in "${(@)lines[2,-1]}"; do
            value=${line%%$'\t'*}
            meaning=${line#*$'\t'}
            values+=("$value")
            shown+=("$value${meaning:+  -- $meaning}")
        done
        compadd -V fuel2 -l -d shown -a values
        ;;
    esac
}
if [[ ${funcstack[1]} == _fuel2 ]]; then
    _fuel2 "$@"
else
    (( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
    compdef _fuel2 fuel2
fi
