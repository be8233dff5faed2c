"""Complete command lines in bash, zsh and fish.

The scripts of the shells (`fuel2.bash`, `fuel2.zsh`, `fuel2.fish`) hand the words before the cursor to `fuel2 complete
--words`, which `main` answers without the command framework: loading it takes longer than a person waits for Tab.
`options.json` is generated from the parsers of the commands by `docs/reference.py`.

    options      what the options and arguments of each command take, from their parsers
    words        the words that fit at the cursor
"""
