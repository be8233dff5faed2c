"""`graph execute --noop`: what tasks would do on this machine and on real nodes, and that they do not do it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from integration.ssh_fleet import Fleet, task


def noted_files(root: Path) -> dict[str, bytes]:
    """All files below a directory, with what they hold."""
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", ["local", "ssh"])
def test_a_noop_run_tells_and_changes_nothing(fleet: Fleet, kind: str) -> None:
    if kind == "ssh":
        fleet.add("one", "two")
    else:
        fleet.node("one", "two", executor="local")
    work = fleet.site.root / "work"
    work.mkdir()
    (work / "motd").write_text("one\ntwo\n")
    fleet.graph(
        task("upload", "upload_file", path=f"{work}/motd", data="one\nthree\npassword: s3cr3t-word\n"),
        task("new", "copy_files", files=[{"src": f"{work}/motd", "dst": f"{work}/deep/copy"}]),
        task("good", cmd=f"touch {work}/ran"),
        task("bad", cmd=f"touch {work}/ran; if true; then", requires=["good"]),
        task("after", cmd="true", requires=["bad"]),
        task("away", "sync", src=f"{work}/", dst=f"{work}/away"),
    )
    before = noted_files(work)
    done = fleet.execute("--noop")
    assert noted_files(work) == before
    assert not (fleet.site.root / "remote").exists()
    rows = fleet.rows(1, "--include-summary")
    statuses = {name.partition("/")[0]: row["status"] for name, row in rows.items()}
    assert statuses == {
        "upload": "skipped", "new": "skipped", "good": "ready", "bad": "skipped", "after": "ready", "away": "skipped",
    }  # fmt: skip
    assert done.code == 0, done
    change = rows["upload/1"]["summary"]["diff"][f"{work}/motd"]
    assert "@@ -1,2 +1,3 @@\n one\n-two\n+three\n+password: ***\n" in change
    assert "s3cr3t-word" not in str(rows) + done.err
    assert rows["new/1"]["summary"]["diff"][f"{work}/deep/copy"].startswith("--- /dev/null\n")
    assert f"touch {work}/ran" in rows["good/1"]["summary"]["script"]
    assert "syntax error" in rows["bad/1"]["message"]
    assert rows["upload/1"]["message"] == f"would change: {work}/motd"
    assert fleet.logs(1, "good/1") == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "ssh"])
def test_puppet_says_what_it_would_do(fleet: Fleet, kind: str) -> None:
    if not shutil.which("puppet"):
        pytest.skip("puppet is not installed (Debian: puppet)")
    if kind == "ssh":
        fleet.add()
    else:
        fleet.node(executor="local")
    root = fleet.site.root
    (root / "site.pp").write_text(f"file {{ '{root}/made': content => 'by puppet' }}\n")
    fleet.graph(task("puppet", "puppet", puppet_manifest=f"{root}/site.pp"))
    assert fleet.execute("--noop").code == 0
    row = fleet.rows(1, "--include-summary")["puppet/1"]
    assert row["status"] == "ready"
    assert f"File[{root}/made]/ensure" in row["summary"]["report"]
    assert "(noop)" in row["summary"]["report"]
    assert not (root / "made").exists()
