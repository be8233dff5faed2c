# Completion of fuel2 in fish, which asks `fuel2 complete --words` for what fits.
function __fish_fuel2_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $words[1] complete --words $words[2..-1] "$current" 2>/dev/null)
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    set -l path (string replace -r -- '^--[^=]*=' '' "$current")
    switch "$lines[1]"
        case files
            for value in (__fish_complete_path $path)
                echo "$prefix$value"
            end
        case directories
            for value in (__fish_complete_directories $path)
                echo "$prefix$value"
            end
        case words
            printf '%s\n' $lines[2..-1]
    end
end
complete -c fuel2 -f -k -a '(__fish_fuel2_words)'
