"""Commands of plugins: those of the store (list, show, install, remove, sync, enable, disable), and those of files
(create, check, build), which need no store at all."""
