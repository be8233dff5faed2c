"""Nailgun's v1 paths over any backend (extra `server`).

`app.application` makes the WSGI application and `wsgi_server.Server` gives it a socket. Each noun is one module with a
list of `routes.Route`; the same lists make the URLs, check the requests, and are the OpenAPI document.
"""
