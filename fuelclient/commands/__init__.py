"""Floor 5: the commands of `fuel2`, one module per noun: parse, one backend call, return columns and rows."""
