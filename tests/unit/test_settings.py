from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import missing, refused

from fuelclient import settings
from fuelclient.commands.shell import FuelShell
from fuelclient.errors import InvalidDocument, Unavailable, UsageError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    return place


def own_file(home: Path, text: str) -> Path:
    path = home / ".config" / "fuel" / "fuel_client.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_default_lies_below_home(home: Path) -> None:
    engine = settings.load(environ={"HOME": str(home)})["ENGINE"]
    assert (engine.value, engine.origin) == (f"{home}/.local/share/fuel/engine.db", "default")


def test_default_follows_the_data_directory(home: Path) -> None:
    assert settings.load(environ={"HOME": str(home), "XDG_DATA_HOME": "/data"}).engine == "/data/fuel/engine.db"


def test_a_relative_data_directory_is_ignored(home: Path) -> None:
    loaded = settings.load(environ={"HOME": str(home), "XDG_DATA_HOME": "data"})
    assert loaded.engine == f"{home}/.local/share/fuel/engine.db"


def test_later_sources_win_and_say_who_they_are(home: Path, tmp_path: Path) -> None:
    own = own_file(home, "# mine\nENGINE: /own.db\n")
    custom = tmp_path / "custom.yaml"
    custom.write_text("SERVER_ADDRESS: 10.20.0.2\n\nENGINE: /custom.db\n")
    environ = {"HOME": str(home)}

    engine = settings.load(environ=environ)["ENGINE"]
    assert (engine.value, engine.origin) == ("/own.db", f"{own}:2")

    environ["FUELCLIENT_CUSTOM_SETTINGS"] = str(custom)
    engine = settings.load(environ=environ)["ENGINE"]
    assert (engine.value, engine.origin) == ("/custom.db", f"{custom}:3")

    environ["FUEL_ENGINE"] = "env.db"
    engine = settings.load(environ=environ)["ENGINE"]
    assert (engine.value, engine.origin) == ("env.db", "environment FUEL_ENGINE")

    engine = settings.load({"ENGINE": "~/line.db"}, environ)["ENGINE"]
    assert (engine.value, engine.origin) == (f"{home}/line.db", "command line --engine")


def test_absent_option_and_empty_variable_change_nothing(home: Path) -> None:
    environ = {"HOME": str(home), "FUEL_ENGINE": "", "FUELCLIENT_CUSTOM_SETTINGS": ""}
    assert settings.load({"ENGINE": None}, environ)["ENGINE"].origin == "default"


@pytest.mark.parametrize("blank", [" ", "\t "])
def test_a_blank_variable_counts_as_not_set(home: Path, blank: str) -> None:
    environ = {"HOME": str(home), "FUEL_ENGINE": blank, "FUELCLIENT_CUSTOM_SETTINGS": blank}
    assert settings.load(environ=environ)["ENGINE"].origin == "default"


@pytest.mark.parametrize("blank", ["", " ", "\t"])
def test_a_blank_option_is_a_mistake(home: Path, blank: str) -> None:
    with refused(UsageError, "--engine"):
        settings.load({"ENGINE": blank}, {"HOME": str(home)})


def test_command_line_leaves_nothing_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path))
    said = io.StringIO()
    assert FuelShell(io.StringIO(), io.StringIO(), said).run(["--engine", "", "release", "list"]) == 2
    assert said.getvalue() == ""  # the parser has said it on the real stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["work"]


def test_the_config_directory_can_be_elsewhere(home: Path, tmp_path: Path) -> None:
    (tmp_path / "fuel").mkdir()
    (tmp_path / "fuel" / "fuel_client.yaml").write_text("ENGINE: /elsewhere.db\n")
    environ = {"HOME": str(home), "XDG_CONFIG_HOME": str(tmp_path)}
    assert settings.load(environ=environ).engine == "/elsewhere.db"


def test_path_in_a_file_is_relative_to_that_file(home: Path) -> None:
    own = own_file(home, "ENGINE: engines/a.db\n")
    assert settings.load(environ={"HOME": str(home)}).engine == str(own.parent / "engines/a.db")


def test_keys_of_older_clients_have_no_effect_and_no_warning(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_file(home, "PERF_TESTS_PATHS: {base: /tmp}\nSERVER_ADDRESS: 10.20.0.2\nHTTP_PROXY: null\nKEYSTONE_PORT: 5000\n")
    loaded = settings.load(environ={"HOME": str(home)})
    assert loaded.warnings == ()
    assert capsys.readouterr() == ("", "")


def test_misspelt_key_is_a_warning_with_the_nearest_name(home: Path, tmp_path: Path) -> None:
    custom = tmp_path / "custom.yaml"
    custom.write_text("SERVER_PORT: 8000\nSERVER_ADRESS: 10.20.0.2\nCOLOUR: blue\n", encoding="utf-8")
    loaded = settings.load(environ={"HOME": str(home), "FUELCLIENT_CUSTOM_SETTINGS": str(custom)})
    (misspelt,) = loaded.warnings
    assert misspelt.startswith(f"{custom}:2: SERVER_ADRESS ")
    assert "Did you mean SERVER_ADDRESS?" in misspelt


@pytest.mark.parametrize("text", ["", "# nothing\n", "ENGINE:\n"])
def test_a_file_that_states_nothing_changes_nothing(home: Path, text: str) -> None:
    own_file(home, text)
    assert settings.load(environ={"HOME": str(home)})["ENGINE"].origin == "default"


def test_nothing_is_written(home: Path) -> None:
    settings.load(environ={"HOME": str(home)})
    assert list(home.iterdir()) == []


def test_a_named_file_that_is_missing_is_an_error(home: Path) -> None:
    with missing("settings file", "/nowhere/s.yaml", "FUELCLIENT_CUSTOM_SETTINGS"):
        settings.load(environ={"HOME": str(home), "FUELCLIENT_CUSTOM_SETTINGS": "/nowhere/s.yaml"})


@pytest.mark.parametrize(
    ("text", "line"),
    [("- a\n- b\n", 1), ("A: 1\nENGINE: [a]\n", 2), ("\nENGINE: ''\n", 2), ("ENGINE: '  '\n", 1), ("ENGINE: 7\n", 1)],
)
def test_a_file_that_cannot_be_used_is_an_error_with_its_line(home: Path, text: str, line: int) -> None:
    own = own_file(home, text)
    with refused(InvalidDocument, f"{own}:{line}"):
        settings.load(environ={"HOME": str(home)})


def test_a_file_that_is_not_yaml_is_an_error_with_its_line(home: Path) -> None:
    own = own_file(home, "A: 1\nB: [unclosed\nC: }\n")
    with pytest.raises(InvalidDocument) as caught:
        settings.load(environ={"HOME": str(home)})
    text = f"{caught.value} {[str(finding) for finding in caught.value.findings]}"
    assert f"{own}:3" in text


def test_the_sample_uncommented_is_the_default(home: Path) -> None:
    names = tuple(f"# {spec.name}: " for spec in settings.SPECS)
    lines = [line.removeprefix("# ") for line in settings.sample().splitlines() if line.startswith(names)]
    before = settings.load(environ={"HOME": str(home)})
    own_file(home, "\n".join(lines))
    after = settings.load(environ={"HOME": str(home)})
    assert len(lines) == len(settings.SPECS)
    assert {name: setting.value for name, setting in after.values.items()} == {
        name: setting.value for name, setting in before.values.items()
    }


def test_yaml_is_imported_only_for_a_file_that_exists(home: Path) -> None:
    code = "import sys; from fuelclient import settings; settings.load(); print('yaml' in sys.modules)"
    answers = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], env={"HOME": str(home)}, cwd=ROOT, capture_output=True, text=True, check=True
        )
        answers.append(done.stdout.strip())
        if not (home / ".config").exists():
            own_file(home, "ENGINE: /a.db\n")
    assert answers == ["False", "True"]


# A Fuel master


def test_without_a_master_there_is_none(home: Path) -> None:
    assert settings.load(environ={"HOME": str(home), "OS_USERNAME": "admin"}).master is None


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("10.20.0.2", "http://10.20.0.2:8001"),
        ("fuel.example", "http://fuel.example:8001"),
        ("10.20.0.2:9000", "http://10.20.0.2:9000"),
        ("fe80::1", "http://[fe80::1]:8001"),
        ("http://10.20.0.2", "http://10.20.0.2"),
        ("https://fuel.example:8443/prefix/", "https://fuel.example:8443/prefix"),
        ("http://127.0.0.1:8000/api/v1/", "http://127.0.0.1:8000"),
    ],
)
def test_a_master_by_its_address(home: Path, address: str, url: str) -> None:
    environ = {"HOME": str(home), "SERVER_ADDRESS": address, "SERVER_PORT": "8001"}
    master = settings.load(environ=environ).master
    assert master is not None
    assert master.url == url


@pytest.mark.parametrize(
    "address", ["ftp://a", "http://", "http://a:b", "http://a?b", "a b", "http://user:secret@a", "https://a\x07"]
)
def test_what_is_no_address_of_a_master_is_an_error(home: Path, address: str) -> None:
    loaded = settings.load({"SERVER_ADDRESS": address}, {"HOME": str(home)})
    with refused(UsageError, "--server") as caught:
        _ = loaded.master
    assert "secret" not in str(caught.value)


def test_a_port_beyond_the_last_is_an_error(home: Path) -> None:
    environ = {"HOME": str(home), "SERVER_ADDRESS": "10.20.0.2", "SERVER_PORT": "65536"}
    with refused(UsageError, "SERVER_PORT", 65536):
        _ = settings.load(environ=environ).master


def test_a_settings_file_of_the_original_names_a_master(home: Path) -> None:
    own = own_file(
        home, 'SERVER_ADDRESS: "10.20.0.2"\nLISTEN_PORT: "8001"\nKEYSTONE_USER: admin\nKEYSTONE_PASS: 12345\n'
        'OS_TENANT_NAME: "ops"\nHTTP_PROXY: null\nHTTP_TIMEOUT: 7\n',
    )  # fmt: skip
    loaded = settings.load(environ={"HOME": str(home)})
    master = loaded.master
    assert master is not None
    assert (master.url, master.timeout, master.proxy) == ("http://10.20.0.2:8001", 7, "")
    asking = master.credentials
    assert (asking.username, asking.password, asking.project_name) == ("admin", "12345", "ops")
    assert [warning.partition(": ")[0] for warning in loaded.warnings] == [f"{own}:2", f"{own}:3", f"{own}:4"]
    assert "Use SERVER_PORT instead" in loaded.warnings[0]
    assert "12345" not in "".join(loaded.warnings)


def test_proper_names_count_more_than_deprecated_ones(home: Path) -> None:
    own_file(home, "SERVER_PORT: 8002\nLISTEN_PORT: 8001\n")
    assert settings.load(environ={"HOME": str(home)})["SERVER_PORT"].value == 8002
    environ = {"HOME": str(home), "LISTEN_PORT": "8003"}
    loaded = settings.load(environ=environ)
    assert (loaded["SERVER_PORT"].value, loaded["SERVER_PORT"].origin) == (8003, "environment LISTEN_PORT")


def test_projects_go_by_both_names(home: Path) -> None:
    own_file(home, "OS_PROJECT_NAME: file\n")
    for environ, value in (({}, "file"), ({"OS_TENANT_NAME": "old"}, "old"), ({"OS_PROJECT_NAME": "new"}, "new")):
        assert settings.load(environ={"HOME": str(home), **environ})["OS_TENANT_NAME"].value == value


@pytest.mark.parametrize(
    ("overrides", "local", "is_local"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"ENGINE": "/a.db"}, False, True),
        ({"SERVER_ADDRESS": "10.0.0.9"}, False, False),
        ({"ENGINE": "/a.db", "SERVER_ADDRESS": "10.0.0.9"}, False, False),
    ],
)
def test_engine_or_local_option_wins_over_a_configured_master(
    home: Path, overrides: dict[str, str], local: bool, is_local: bool
) -> None:
    own_file(home, "SERVER_ADDRESS: 10.20.0.2\n")
    loaded = settings.load(overrides, {"HOME": str(home)}, local=local)
    assert (loaded.master is None) is is_local
    if is_local:
        assert loaded["SERVER_ADDRESS"].origin.startswith("command line --")


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("SERVER_PORT: many\n", "a whole number from 1 to 2147483647"),
        ("SERVER_PORT: true\n", "a whole number from 1 to 2147483647"),
        ("HTTP_RETRIES: -1\n", "a whole number from 0 to 2147483647"),
        ("HTTP_RETRIES: 2147483648\n", "a whole number from 0 to 2147483647"),
        (f"HTTP_RETRIES: '{'9' * 4301}'\n", "a whole number from 0 to 2147483647"),
        ("OS_INSECURE: perhaps\n", "true or false"),
        ("OS_USERNAME: [a]\n", "a string"),
        ("HANDLER_COMMANDS: [a]\n", "a mapping of names to strings"),
        ("HANDLER_COMMANDS: {erase_node: ''}\n", "a mapping of names to strings"),
    ],
)
def test_values_have_types(home: Path, text: str, needed: str) -> None:
    own = own_file(home, text)
    with refused(InvalidDocument, f"{own}:1", needed):
        settings.load(environ={"HOME": str(home)})


def test_a_long_wrong_value_is_shown_in_part(home: Path) -> None:
    own_file(home, f"HTTP_RETRIES: '{'9' * 9999}'\n")
    with refused(InvalidDocument, "HTTP_RETRIES", "a whole number from 0") as caught:
        settings.load(environ={"HOME": str(home)})
    assert len(str(caught.value)) < 500


def test_a_secret_of_a_wrong_type_is_not_shown(home: Path) -> None:
    own_file(home, "OS_PASSWORD: [hunter2]\n")
    with refused(InvalidDocument, "OS_PASSWORD") as caught:
        settings.load(environ={"HOME": str(home)})
    assert "hunter2" not in str(caught.value)


def test_a_variable_of_a_wrong_type_is_a_mistake(home: Path) -> None:
    with refused(UsageError, "SERVER_PORT", "'x'", "whole number"):
        settings.load(environ={"HOME": str(home), "SERVER_PORT": "x"})


def test_commands_of_handlers_and_a_scheduler(home: Path) -> None:
    own = own_file(home, "HANDLER_COMMANDS: {erase_node: wipe --all}\nDASK_TLS_KEY: keys/dask.pem\n")
    environ = {"HOME": str(home), "FUEL_DASK_SCHEDULER": "tls://10.20.0.2:8786", "FUEL_DASK_TLS_CERT": "~/cert.pem"}
    loaded = settings.load(environ=environ)
    assert loaded.handler_commands == {"erase_node": "wipe --all"}
    assert loaded.dask_scheduler == "tls://10.20.0.2:8786"
    assert (loaded.dask_tls_ca_file, loaded.dask_tls_cert) == ("", f"{home}/cert.pem")
    assert loaded.dask_tls_key == str(own.parent / "keys/dask.pem")


def test_a_proxy_of_the_environment_is_left_to_its_conventions(home: Path) -> None:
    environ = {"HOME": str(home), "SERVER_ADDRESS": "10.20.0.2", "HTTP_PROXY": "http://proxy:3128"}
    for words, expected in (({}, ""), ({"FUELCLIENT_CUSTOM_SETTINGS": str(home / "own.yaml")}, "http://mine:3128")):
        (home / "own.yaml").write_text("HTTP_PROXY: http://mine:3128\n")
        if words:
            environ.pop("HTTP_PROXY")
        master = settings.load(environ={**environ, **words}).master
        assert master is not None
        assert master.proxy == expected


def test_the_registry_and_the_options_say_the_same() -> None:
    from fuelclient.commands.global_options import MASTER_OPTIONS

    described = {name: spellings for name, spellings, *_ in MASTER_OPTIONS}
    known = {spec.name: spec.options for spec in settings.SPECS if spec.options}
    assert described | {"ENGINE": ("--engine",), "SERVER_ADDRESS": ("--server",)} == known


@pytest.mark.parametrize("target", ["/proc/self/mem", "/proc/self"])
def test_unreadable_settings_stop_only_commands_that_need_them(home: Path, target: str) -> None:
    path = home / ".config" / "fuel" / "fuel_client.yaml"
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    environ = {"HOME": str(home)}
    with pytest.raises((Unavailable, UsageError)):
        settings.load({}, environ, chooses=True)
    for found in (
        settings.load(environ=environ),
        settings.load({"ENGINE": "e.db"}, environ, chooses=True),
        settings.load({"SERVER_ADDRESS": "fuel"}, environ, chooses=True),
        settings.load({}, environ, chooses=True, local=True),
    ):
        (warning,) = found.warnings
        assert warning.startswith(str(path))
