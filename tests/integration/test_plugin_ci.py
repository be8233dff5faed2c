"""The workflow and the hook of docs/plugin-ci.md, as a CI service and pre-commit run them, on a packaged plugin."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "fuelclient" / "examples"
WORKFLOW = yaml.safe_load((ROOT / "docs" / "plugin-ci.yaml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
INSTALL = 'python -m pip install "$FUELCLIENT"'
"""The only step that would download; the tests have installed what it installs."""

FIXTURE = """
- name: Small
  version: ocata-11.0.0
  operating_system: Ubuntu
  roles_metadata: {controller: {name: Controller}}
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A checkout of a packaged plugin."""
    return Path(shutil.copytree(EXAMPLES / "plugins" / "image-cache", tmp_path / "checkout"))


def environment(home: Path, **variables: str) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", **variables}


def run_workflow(checkout: Path, **variables: str) -> dict[str, subprocess.CompletedProcess[str]]:
    """Run the shell steps of the workflow until one fails, and return what each one did."""
    runner = checkout.parent / "runner"
    runner.mkdir()
    variables = {**WORKFLOW["env"], "RUNNER_TEMP": str(runner), **variables}
    [job] = WORKFLOW["jobs"].values()
    assert WORKFLOW["defaults"]["run"]["shell"] == "bash"
    done: dict[str, subprocess.CompletedProcess[str]] = {}
    for step in job["steps"]:
        if "run" not in step or step["run"] == INSTALL:
            continue
        script = runner / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        done[step["name"]] = ran(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], checkout, variables)
        if done[step["name"]].returncode:
            break
    return done


def ran(command: Sequence[str], directory: Path, variables: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    environ = environment(directory.parent / "home", **variables)
    return subprocess.run(command, cwd=directory, env=environ, capture_output=True, text=True, check=False)


def codes(done: Mapping[str, subprocess.CompletedProcess[str]]) -> dict[str, int]:
    return {name: result.returncode for name, result in done.items()}


@pytest.mark.slow
def test_the_workflow_accepts_and_builds_a_packaged_plugin(plugin: Path) -> None:
    steps = [step.get("run") for step in WORKFLOW["jobs"]["plugin"]["steps"]]
    assert steps.count(INSTALL) == 1

    done = run_workflow(plugin)

    assert codes(done) == {
        "Check the package": 0,
        "Check it together with a release": 0,
        "Build it": 0,
    }, done
    [package] = (plugin.parent / "runner" / "dist").iterdir()
    assert package.suffix == ".rpm"
    shown = ran(["fuel2", "plugins", "check", str(package), "-f", "value"], plugin, {})
    assert (shown.returncode, shown.stdout) == (0, ""), shown


def test_the_workflow_ends_at_a_mistake_and_names_its_line(plugin: Path) -> None:
    tasks = plugin / "deployment_tasks.yaml"
    text = tasks.read_text(encoding="utf-8")
    tasks.write_text(text.replace("type: shell", "type: shel", 1), encoding="utf-8")
    line = text[: text.index("type: shell")].count("\n") + 1

    done = run_workflow(plugin)

    assert codes(done) == {"Check the package": 7}
    assert re.search(rf"^::error file=deployment_tasks\.yaml,line={line}\b", done["Check the package"].stdout, re.M), (
        done
    )


@pytest.mark.slow
def test_the_workflow_takes_a_release_of_your_own(plugin: Path) -> None:
    """What the release lacks is found only together with it."""
    ci = plugin.parent / "ci"
    (ci / "tasks").mkdir(parents=True)
    (ci / "release.yaml").write_text(FIXTURE, encoding="utf-8")
    task = "- {id: pre_deployment_start, type: stage}\n"
    (ci / "tasks" / "tasks.yaml").write_text(task, encoding="utf-8")

    done = run_workflow(plugin, FIXTURE="../ci/release.yaml", RELEASE="Small", TASKS="../ci/tasks")

    together = done["Check it together with a release"]
    assert codes(done) == {"Check the package": 0, "Check it together with a release": 7}, done
    assert "title=G043::task kernel-settings does not exist" in together.stdout, together


def hook(directory: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Run the hook as pre-commit does: its entry, its arguments, then the names of those files that it takes."""
    taken = [name for name in names if re.search(HOOK["files"], name)]
    assert taken, "pre-commit would skip the hook"
    return ran([*shlex.split(HOOK["entry"]), "--fail-on", "warning", *taken], directory, {})


def test_the_hook_checks_each_package_of_the_files_once(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for name in ("image-cache", "rack-monitoring"):
        shutil.copytree(EXAMPLES / "plugins" / name, checkout / "plugins" / name)

    one = hook(checkout, "README.md", *(f"plugins/image-cache/{name}" for name in ("metadata.yaml", "volumes.yaml")))
    both = hook(checkout, "plugins/image-cache/deployment_scripts/cache.sh", "plugins/rack-monitoring/tasks.yaml")

    assert (one.returncode, one.stderr.count("image-cache")) == (0, 1), one
    assert both.returncode == 7, both
    assert "P063" in both.stdout
    assert "plugins/rack-monitoring/tasks.yaml" in both.stdout


@pytest.mark.slow
def test_the_hook_takes_a_package_that_is_the_repository(plugin: Path) -> None:
    done = hook(plugin, "metadata.yaml", "deployment_scripts/cache.sh")

    assert done.returncode == 0, done
    (plugin / "metadata.yaml").write_text("name: image-cache\n", encoding="utf-8")
    assert hook(plugin, "metadata.yaml").returncode == 7


def test_the_hook_refuses_a_file_of_no_package(tmp_path: Path) -> None:
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "tasks.yaml").write_text("- {name: something}\n", encoding="utf-8")

    assert hook(tmp_path, "roles/tasks.yaml").returncode == 7


def test_the_hook_takes_the_files_that_packages_consist_of() -> None:
    own = [path.relative_to(EXAMPLES / "plugins").as_posix() for path in (EXAMPLES / "plugins").rglob("*.*")]
    left = {name for name in own if not re.search(HOOK["files"], name)}

    assert len(own) > len(left)
    assert all("/repositories/" in name for name in left), left
    assert not re.search(HOOK["files"], "docs/notes.yaml")


@pytest.mark.slow
def test_pre_commit_runs_the_hook(plugin: Path, tmp_path: Path) -> None:
    """The real program installs this repository, and refuses a commit with a mistake."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    pip = [str(tmp_path / "venv" / "bin" / "pip"), "install", "-q", "pre-commit"]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"pre-commit cannot be installed: {installed.stderr[-200:]}")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q", "."], cwd=plugin, check=True)
    page = (ROOT / "docs" / "plugin-ci.md").read_text(encoding="utf-8")
    [config] = re.findall(r"^`\.pre-commit-config\.yaml`:\n\n```yaml\n(.*?)^```$", page, re.M | re.S)
    stated = yaml.safe_load(config)
    head = subprocess.run([*git, "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    stated["repos"][0].update(repo=str(ROOT), rev=head.stdout.strip())
    (plugin / ".pre-commit-config.yaml").write_text(yaml.safe_dump(stated), encoding="utf-8")
    subprocess.run([*git, "add", "."], cwd=plugin, check=True)
    command = [str(tmp_path / "venv" / "bin" / "pre-commit"), "run"]
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    kept = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), **kept, "PYTHONPATH": ""}

    good = ran(command, plugin, kept)
    tasks = plugin / "deployment_tasks.yaml"
    tasks.write_text(tasks.read_text(encoding="utf-8").replace("type: shell", "type: shel", 1), encoding="utf-8")
    subprocess.run([*git, "add", "."], cwd=plugin, check=True)
    bad = ran(command, plugin, kept)

    assert good.returncode == 0, good
    assert "Passed" in good.stdout
    assert bad.returncode == 1, bad
    assert "deployment_tasks.yaml" in bad.stdout
