"""Secrets disappear from texts in every spelling, and what is none stays readable."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuelclient import redact

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx1\nzzzzzzzzzzzzzzzzzz\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "name",
    ["password", "admin_password", "db_pass", "OS_PASSWORD", "userPassword", "passwd", "secret", "auth_token",
     "api_key", "private_key", "ssh_key", "credentials", "metadata_proxy_shared_secret", "passphrase",
     "MYSQL_PWD", "db-pwd", "dbPwd", "pwd", "PGPASSWORD",
     "SSHPASS", "PGPASS", "rootpw", "bind_pw", "REDISCLI_AUTH"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert redact.is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "user",
        "passenger",
        "compass_rose",
        "token_type",
        "keystone",
        "key",
        "path",
        "bypassed",
        "PWD",
        "OLDPWD",
        "cwd",
        "PGPASSFILE",
        "spw",
        "author",
        "is_auth",
    ],
)
def test_names_of_no_secrets(name: str) -> None:
    assert not redact.is_secret(name)


def test_secrets_are_found_at_any_depth() -> None:
    value = {"a": [{"password": "one", "user": "nova"}], "tokens": {"x": "two", "list": ["three", 4]}, "secret": True}
    assert redact.secrets_of(value) == {"one", "two", "three", "4"}


@given(secret=st.text(min_size=4, max_size=30).filter(lambda text: len(text.strip()) >= 4), around=st.text(max_size=20))
def test_a_secret_disappears_in_every_spelling(secret: str, around: str) -> None:
    stripped = secret.strip()
    for spelling in (stripped, shlex.quote(stripped), json.dumps(stripped)):
        told = redact.scrubbed(f"{around}\n{spelling}\n", [secret])
        assert stripped not in told.replace(redact.MASK, "") or stripped in redact.MASK or stripped in around


def test_short_secrets_leave_other_words_alone() -> None:
    assert redact.scrubbed("use pw, not pwd; pw=1", ["pw"]) == "use ***, not pwd; ***=1"


def test_private_keys_and_passwords_in_addresses_go_unasked() -> None:
    told = redact.scrubbed(f"{PEM}\nmysql://nova:hidden@10.0.0.1/nova")
    assert "MIIE" not in told
    assert "hidden" not in told
    assert "mysql://nova:***@10.0.0.1/nova" in told


def test_each_long_line_of_a_key_is_a_secret() -> None:
    assert "zzzzzzzz" not in redact.scrubbed("saw zzzzzzzzzzzzzzzzzz here", [PEM])


@pytest.mark.parametrize(
    "text",
    ["password: hidden", "  admin_password: 'hidden'", '{"db": {"password": "hidden", "user": "nova"}}',
     "PASSWORD=hidden", "export OS_PASSWORD='hidden one'",
     "MYSQL_PWD=hidden mysql -uroot", "PGPASSWORD='hidden' psql", "login --password hidden --user nova",
     "login --db-pass 'hidden one'", "login -password=hidden",
     "'password' => 'hidden',", "environment: DB_PASSWORD=hidden"],
)  # fmt: skip
def test_documents_lose_what_stands_beside_secret_names(text: str) -> None:
    assert "hidden" not in redact.masked_text(text)


def test_documents_keep_the_rest() -> None:
    text = "user: nova\nPWD=/root\nhosts: [a, b]\nurl: http://10.0.0.1:5000/v3\nport: 80\n"
    assert redact.masked_text(text) == text


def test_parameters_are_masked_for_showing() -> None:
    assert redact.masked({"user": "nova", "db": {"password": "x", "empty_password": ""}}) == {
        "user": "nova",
        "db": {"password": "***", "empty_password": ""},
    }


@pytest.mark.parametrize("secret", ["password", "Password", "x"])
def test_the_name_beside_a_secret_stays(secret: str) -> None:
    """Settings have words such as "password" below secret names: that is what kind of a field they are."""
    told = redact.masked_text(f"login --password={secret} --user=nova", [secret])
    assert told.startswith("login --password=***")
    assert redact.scrubbed(f"password: {secret}", [secret]) == "password: ***"
    assert redact.scrubbed("MyPassword1: wrong", ["MyPassword1"]) == "***: wrong", "one that somebody chose"


def test_the_description_of_a_setting_is_no_secret() -> None:
    field = {"value": "s3cr3t", "type": "password", "label": "Password", "description": "for the admin", "weight": 40}
    assert redact.secrets_of({"access": {"password": field}}) == {"s3cr3t"}
    assert redact.secrets_of({"password": {"value": "a", "other": "b"}}) == {"a", "b"}, "no description of a setting"
