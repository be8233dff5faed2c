"""Expressions: the conditions that releases, plugins and graphs carry, and what follows from them.

`legacy` reads and evaluates Fuel's own expression language, `restrictions` says which roles a node may take.
The parser library is imported when the first expression is parsed, so that commands without any do not pay.
"""
