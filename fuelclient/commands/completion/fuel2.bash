# Completion of fuel2 in bash, which asks `fuel2 complete --words` for what fits.
_fuel2() {
    local word value meaning kind last prefix quote="" i words=() reply=()
    COMPREPLY=()
    # bash also breaks words at = and :, fuel2 does not.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && { [[ $word == [=:]* ]] || [[ ${COMP_WORDS[i - 1]} == *[=:] ]]; }; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    last=${words[${#words[@]} - 1]}
    [[ $last == [\"\']* ]] && quote=1
    for ((i = 0; i < ${#words[@]}; i++)); do
        word=${words[i]//\\/}
        word=${word#[\"\']}
        words[i]=${word%[\"\']}
    done
    last=${words[${#words[@]} - 1]}
    prefix=${last%"${last##*[=:]}"}
    {
        read -r kind
        case $kind in
        files | directories)
            type compopt &>/dev/null && compopt -o filenames 2>/dev/null
            [[ $kind == files ]] && kind=-f || kind=-d
            while IFS= read -r value; do
                reply+=("$value")
            done < <(compgen $kind -- "${last#"$prefix"}")
            ;;
        words)
            type compopt &>/dev/null && compopt -o nosort 2>/dev/null
            while IFS=$'\t' read -r value meaning; do
                value=${value#"$prefix"}
                [[ -z $quote && $value == *[!a-zA-Z0-9_./,:@%+=#-]* ]] && printf -v value %q "$value"
                # A list on the screen (63) shows meanings; whatever else is inserted.
                [[ $COMP_TYPE == 63 && -n $meaning ]] && value="$value  ($meaning)"
                reply+=("$value")
            done
            if ((${#reply[@]} == 1)); then
                reply[0]=${reply[0]%%  (*}
            fi
            ;;
        esac
    } < <("$1" complete --words "${words[@]}" 2>/dev/null)
    COMPREPLY=("${reply[@]}")
}
complete -F _fuel2 fuel2
