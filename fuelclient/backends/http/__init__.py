"""HTTP to a server, whatever its kind: `session` sends requests, and `auth` gets tokens, from Keystone or from the file
of a server of this user. `answers` reads answers and translates them into errors, and `transport` ends every request in
time. Nothing is connected before its first use.
"""

MESSAGE_TYPE = "application/msgpack"
"""The media type of `backends.messages` and their answers."""
