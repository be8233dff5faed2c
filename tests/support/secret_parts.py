"""Find what a text tells of a secret."""

from __future__ import annotations


def parts_of(secret: str, text: str, length: int = 2) -> list[str]:
    """Return the parts of a secret, of `length` characters, that a text has.

    >>> parts_of("secret", "a creek"), parts_of("secret", "a secret", 5), parts_of("secret", "***")
    (['cr', 're'], ['secre', 'ecret'], [])
    """
    parts = (secret[start : start + length] for start in range(len(secret) - length + 1))
    return [part for part in parts if part in text]
