"""Secrets disappear from texts in every spelling, and what is none stays readable."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from secret_parts import parts_of

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


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZäöüßéñ€漢字😀0123456789$'\\\"/"


@settings(max_examples=50, phases=set(Phase) - {Phase.shrink})
@given(letters=st.permutations(LETTERS), data=st.data())
def test_no_part_of_a_cut_secret_is_printed(letters: list[str], data: st.DataObject) -> None:
    """All characters of the secret are different, and none of them is in what stands around it."""
    secret = "".join(letters[: data.draw(st.integers(5, len(letters)), "length")]).strip()
    before, after = (data.draw(st.sampled_from(["", "x", "see ", "x\ny\n", "z" * 300]), side) for side in "ba")
    spelled = data.draw(st.sampled_from([secret, shlex.quote(secret), json.dumps(secret)]), "spelling")
    whole = data.draw(st.sampled_from([spelled, f"{spelled}-{spelled}"]), "often")
    for cut in range(1, len(whole)):
        for told in (
            redact.masked_part(whole[cut:] + after, [secret], head=True),
            redact.masked_part(before + whole[:cut], [secret], tail=True),
            redact.masked_part(whole[cut:] + after + whole[:cut], [secret], head=True, tail=True),
        ):
            assert parts_of(secret, told.replace(redact.MASK, "")) == [], cut


def test_what_is_left_of_two_secrets_may_overlap() -> None:
    """In the spelling of shells, the quote is also the last character of the first one."""
    assert redact.masked_part("cret'se", ["'secret"], head=True, tail=True).replace(redact.MASK, "") == ""


def test_what_has_no_name_after_a_cut_is_not_told() -> None:
    key = PEM.splitlines()
    assert "zzzz" not in redact.masked_part("\n".join([*key[2:], "x" * 300]), head=True)
    assert redact.masked_part(f"rest of a password\nnext {'x' * 300}", head=True) == f"next {'x' * 300}"
    assert redact.masked_part(f"{'p' * 200}{'x' * 300}", head=True) == "x" * 244
    assert redact.masked_part("amqp://nova:hid", tail=True) == "amqp://nova:***"
    assert redact.masked_part("http://10.20.0.2:80", tail=True) == "http://10.20.0.2:80"
    assert redact.masked_part("the whole", ["whole-secret", "the"]) == "*** whole"


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
