"""`plugins` commands. `create`, `check` and `build` work on files and need no store; the others do."""
