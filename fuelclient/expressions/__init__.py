"""Evaluate the expressions of releases, plugins and graphs: conditions, dependencies, parameters, restrictions.

There are two languages: Fuel's own (`legacy`) and YAQL (`yaql_engine`).
"""
