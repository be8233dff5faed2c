"""Evaluate the expressions of releases, plugins and graphs: conditions, dependencies, parameters, restrictions.

There are two languages: Fuel's own (`legacy`) and YAQL (`yaql_engine`). Both parser libraries are imported when the
first expression is parsed, so that commands without expressions do not pay for them.
"""
