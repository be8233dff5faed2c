"""Remove secrets from everything that people read.

All parameters, outputs of commands and requests that may appear in a message, a log or a history go through here.
Callers pass the secrets that they know, such as those of facts and parameters.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import urllib.parse
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

MASK = "***"
"""The text that replaces a secret."""

_NAME = re.compile(
    r"(?i)(?<![a-z])pass(?![a-z])|passwd|password|passphrase|secret|token(?!s?_?(?:type|expir|life|prov|format|ttl))"
    r"|sshpass|pgpass(?![a-z])|(?:[a-z0-9][_.-]|(?-i:[a-z](?=P)))pwd(?![a-z])|(?-i:\Apwd\Z)"
    r"|(?:_|-|\b(?:root|bind|user|admin|db))pw(?![a-z])|rediscli_auth"
    r"|credential|private_?key|api_?key|auth_?key|access_?key|ssh_?key|ssl_?key|hmac_?key|encryption_?key|cephx?_?key"
)
"""`MYSQL_PWD` and `dbPwd` are passwords, but `PWD` and `OLDPWD` are directories."""
_PEM = re.compile(r"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----).*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_HEAD = re.compile(
    r"""(?<![\w.\-\x80-\U0010ffff])[.\-0-9\x80-\U0010ffff]*+(?P<name>[A-Za-z_][\w.\-\x80-\U0010ffff]*+)"""
    r"""(?P<between>["']?[ \t]*+(?:=>|[:=])[ \t]*+)(?=[^\s,;}\]])"""
)
"""A name and the separator before its value. It begins only where a word begins, and never backtracks, so that a long
word is scanned once."""
_VALUE = re.compile(r""""[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+'|[^\s,;}\]"'][^,;}\]\n]*+""")
_EXPRESSION = re.compile(r"""\{\s*["']?yaql_exp\b""")
_OPTION = re.compile(
    r"""(?P<name>(?<![\w-])--?[A-Za-z][\w-]*+)(?P<between>[ \t]++)(?P<value>"[^"\n]*+"|'[^'\n]*+'|[^\s-]\S*+)"""
)
_WORD = re.compile(r"(?i)passwd|password|passphrase|secret|token|credentials?")
_NOT_A_NAME = r"(?![\"']?[ \t]*(?:=>|[:=]))"
"""The word is not the name of a value that follows."""
_DESCRIBED = frozenset({"value", "type", "label"})
"""A mapping with these keys is a setting of Fuel with its description."""
_PLAIN = re.compile(r"[\w./*-]*")
"""One word, as most values of tasks are: it has no separator, and so neither a name with a value nor a key."""
_URL = re.compile(r"((?<=[A-Za-z0-9+.-])://[^\s/:@]*+:)[^\s/@]++(@)")
_URL_CUT = re.compile(r"((?<=[A-Za-z0-9+.-])://[^\s/:@]*+:)(?!\d++\Z)[^\s/@]++\Z")
_PEM_CUT = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY-----")
_YAQL = "yaql_exp"
"""The value of this key is an expression, which refers to a secret but does not contain it."""
_MIN_CHARACTERS_IN_WORDS = 4
"""Secrets with fewer characters are replaced as whole words only, so that the rest of the text stays readable."""
_MIN_LINE_CHARACTERS = 16
"""Lines of a secret of at least this length are secrets by themselves."""
_REST_CHARACTERS = 256
"""How many characters after a cut may be the rest of a value, if no line ends there."""


@functools.lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether the value of something called `name` is a secret.

    >>> is_secret("admin_password"), is_secret("rpc.auth_token"), is_secret("passenger"), is_secret("token_type")
    (True, True, False, False)
    """
    return _NAME.search(name) is not None


def secrets_of(value: Any) -> frozenset[str]:
    """The values with secret names, anywhere in nested mappings and lists, as strings.

    If a mapping has a secret name, all its values are secrets, except expressions; if it describes a setting, only its
    value is. True, false and empty values are not secrets.

    >>> sorted(secrets_of({"db": {"user": "nova", "password": "s3cr3t"}, "keys": [{"api_key": 12345}]}))
    ['12345', 's3cr3t']
    """
    return frozenset(_secrets(value, in_secret=False))


def _secrets(value: Any, *, in_secret: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, child in value.items():
            if key == _YAQL:
                continue
            is_described = in_secret and key != "value" and value.keys() >= _DESCRIBED
            yield from _secrets(child, in_secret=not is_described and (in_secret or is_secret(str(key))))
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _secrets(child, in_secret=in_secret)
    elif in_secret and isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def scrubbed(text: str, secrets: Collection[str] = ()) -> str:
    """`text` without `secrets`, in any spelling in which programs print them.

    Passwords in URLs and private keys are removed even if they are not in `secrets`. A secret that is a word such as
    `password` is kept where it is the name of a value.

    >>> scrubbed("login nova:pa$s at amqp://nova:x@10.0.0.1/", ["pa$s"])
    'login nova:*** at amqp://nova:***@10.0.0.1/'
    """
    if not text:
        return text
    for spelling in sorted(
        {spelling for secret in secrets for spelling in _spellings(secret)}, key=lambda text: (-len(text), text)
    ):
        if len(spelling) < _MIN_CHARACTERS_IN_WORDS:
            text = re.sub(rf"(?<!\w){re.escape(spelling)}(?!\w)", MASK, text)
        elif _WORD.fullmatch(spelling):
            text = re.sub(re.escape(spelling) + _NOT_A_NAME, MASK, text)
        else:
            text = text.replace(spelling, MASK)
    text = _PEM.sub(rf"\1\n{MASK}\n\2", text)
    return _URL.sub(rf"\1{MASK}\2", text)


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret, its forms in shells, JSON and URLs, and each of its long lines."""
    secret = secret.strip()
    if not secret:
        return
    yield secret
    yield shlex.quote(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield urllib.parse.quote(secret, safe="")
    yield from (line.strip() for line in secret.splitlines() if len(line.strip()) >= _MIN_LINE_CHARACTERS)


def masked_text(text: str, secrets: Collection[str] = ()) -> str:
    """A document or a script without the values of secret names, and without `secrets`.

    >>> masked_text("user: nova\\npassword: 'top secret'\\n")
    'user: nova\\npassword: ***\\n'
    """
    if not secrets and _PLAIN.fullmatch(text):
        return text
    return scrubbed(_OPTION.sub(_masked_option, _masked_pairs(text)), secrets)


def masked_part(text: str, secrets: Collection[str] = (), *, head: bool = False, tail: bool = False) -> str:
    """Mask a part of a longer text as `masked_text` does; `head` and `tail` say which ends were cut off.

    A cut may split a secret, so the rest of a secret at a cut is masked, too. With `head`, the first line of a long
    text is left out, because it may be the rest of a value whose name was cut off.

    >>> masked_part("cret, and\\nlogin top-s", ["top-secret"], head=True, tail=True)
    '***, and\\nlogin ***'
    """
    spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
    # Both ends are measured before either is removed: a quotation mark may belong to the remainders of two secrets.
    text = text.lstrip("\ufffd") if head else text  # a character that was cut
    text = text.rstrip("\ufffd") if tail else text
    begin = _leaked(text, spellings) if head else 0
    end = len(text) - (_leaked(text[::-1], {spelling[::-1] for spelling in spellings}) if tail else 0)
    key = _PEM_CUT.search(text) if head else None
    begin = key.start() if key and key[1] == "END" else begin
    rest = MASK if begin < len(text) != end else ""
    text = f"{MASK if begin >= _MIN_CHARACTERS_IN_WORDS else ''}{text[begin:end]}{rest}"
    text = _URL_CUT.sub(rf"\1{MASK}", text) if tail else text
    text = masked_text(text, secrets)
    if not head:
        return text
    _, newline, rest = text.partition("\n")
    if newline and len(rest) >= _REST_CHARACTERS:
        return rest
    mask_at = text.find(MASK, 0, _REST_CHARACTERS)
    return text[mask_at if mask_at >= 0 else _REST_CHARACTERS :]


def _leaked(text: str, spellings: Collection[str]) -> int:
    """How many characters at the beginning of a text belong to a cut secret, or to secrets that adjoin it."""
    leaked = max((_overlap(spelling[1:], text) for spelling in spellings), default=0)
    while True:
        adjoining = ((text.rfind(spelling, 0, leaked + len(spelling)), len(spelling)) for spelling in spellings)
        end = max((start + length for start, length in adjoining if start >= 0), default=0)
        if end <= leaked:
            return leaked
        leaked = end


def _overlap(first: str, second: str) -> int:
    """The length of the longest end of `first` with which `second` begins, by the prefix function of Knuth et al.

    >>> _overlap("secret", "retry"), _overlap("secret", "secret"), _overlap("abab", "abc"), _overlap("x", "y")
    (3, 6, 2, 0)
    """
    joined = [*second[: len(first)], "", *first]
    prefix_lengths = [0] * len(joined)  # the longest proper prefix that ends at each index
    for index in range(1, len(joined)):
        length = prefix_lengths[index - 1]
        while length and joined[length] != joined[index]:
            length = prefix_lengths[length - 1]
        prefix_lengths[index] = length + (joined[length] == joined[index])
    return prefix_lengths[-1] if first else 0


def _masked_option(match: re.Match[str]) -> str:
    return f"{match['name']}{match['between']}{MASK}" if is_secret(match["name"]) else match[0]


def _masked_pairs(text: str) -> str:
    """`text` without the values of secret names, in one pass.

    A value may contain pairs itself: `environment: PASSWORD=x`. In a quoted value they end with the quotes.
    """
    pieces: list[str] = []
    ends = [len(text)]
    position = 0
    while ends:
        if (head := _HEAD.search(text, position, ends[-1])) is None:
            end = ends.pop()
            pieces.append(text[position:end])
            position = end
            continue
        pieces.append(text[position : head.end()])
        position = head.end()
        secret = is_secret(head["name"]) and not _EXPRESSION.match(text, position)
        quoted = text[position] in "\"'"
        if not secret and not quoted:
            continue
        if (value := _VALUE.match(text, position, ends[-1])) is None:
            continue
        if secret:
            pieces.append(MASK)
            position = value.end()
        else:
            pieces.append(text[position])
            position += 1
            ends.append(value.end() - 1)
    return "".join(pieces)


def masked(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """`value` with a mask for each value of a secret name; `leaf` is applied to all others, except mappings and lists.

    >>> masked({"user": "nova", "password": "x", "hosts": [{"token": "y"}]})
    {'user': 'nova', 'password': '***', 'hosts': [{'token': '***'}]}
    """
    if isinstance(value, Mapping):
        return {key: MASK if is_secret(str(key)) and child else masked(child, leaf) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [masked(child, leaf) for child in value]
    return leaf(value)


def masked_document(value: Mapping[str, Any]) -> dict[str, Any]:
    """A task as its author wrote it, without the values of secret names, in mappings and in strings such as scripts.

    >>> masked_document({"parameters": {"password": "pa55", "cmd": "login pa55; TOKEN=abc run"}})
    {'parameters': {'password': '***', 'cmd': 'login ***; TOKEN=***'}}
    """
    secrets = secrets_of(value)

    def leaf(child: Any) -> Any:
        return masked_text(child, secrets) if isinstance(child, str) else child

    return {str(key): masked(child, leaf) for key, child in value.items()}
