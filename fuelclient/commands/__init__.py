"""The commands of `fuel2`, one module or package for each noun, named in `table`."""
