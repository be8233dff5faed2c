"""Nodes reached by the SSH configuration of the user, an agent or jump hosts, through a detached runner."""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Iterator

import pytest
from integration.ssh_fleet import Fleet, task
from sshd import HOST, can_isolate


@pytest.fixture
def agent(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The socket of an agent that has no key yet."""
    socket = f"{fleet.site.root}/agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it says where it listens as soon as it does
    monkeypatch.setenv("SSH_AUTH_SOCK", socket)
    yield socket
    process.terminate()
    process.wait()
    process.stdout.close()


def host(name: str, port: int, *lines: str) -> str:
    """A host of an SSH configuration."""
    words = [f"HostName {HOST}", f"Port {port}", f"User {getpass.getuser()}", *lines]
    return "\n  ".join([f"Host {name}", *words]) + "\n"


@pytest.mark.slow
def test_configuration_agent_and_jump_hosts(fleet: Fleet, agent: str) -> None:
    root = fleet.site.root
    by_config, by_proxy, by_agent, by_jump, jump = (fleet.site.daemon(isolated=can_isolate()) for _ in range(5))
    key = f"IdentityFile {root}/key"
    none = f"IdentityFile {root}/other_key"
    (fleet.home / ".ssh" / "config").write_text(
        host("named", by_config.port, key)
        + host("behind", by_proxy.port, key, "ProxyJump jump")
        + host("jump", jump.port, key)
        + host("agent", by_agent.port)
        + f"Host *\n  {none}\n"
    )
    fleet.node(ip="named")
    fleet.node(ip="behind")
    fleet.node(ip="agent")
    fleet.node(ssh={"user": getpass.getuser(), "port": by_jump.port, "key": f"{root}/key", "jump": "jump"})
    fleet.graph(
        task("where", cmd="echo $SSH_CONNECTION | cut -d' ' -f4"),
        task("put", "upload_file", path=f"{root}/put", data="x", requires=["where"]),
    )
    refused = fleet.execute()
    assert (refused.code, "3 (node-3): it does not let the user in" in refused.err) == (3, True), refused
    subprocess.run(["ssh-add", "-q", f"{root}/key"], check=True, env={"SSH_AUTH_SOCK": agent, "PATH": "/usr/bin:/bin"})
    done = fleet.execute("--node", "1,2,3,4")
    assert done.code == 0, done
    ports = [one.port for one in (by_config, by_proxy, by_agent, by_jump)]
    assert [fleet.logs(1, f"where/{number}") for number in (1, 2, 3, 4)] == [f"{port}\n" for port in ports]
    assert jump.log.count("Accepted publickey") >= 4


def test_a_key_in_a_home_is_found(fleet: Fleet) -> None:
    """A node of which nothing is said but its address and port: the user's own name and default key."""
    (fleet.home / ".ssh" / "id_ed25519").symlink_to(fleet.site.root / "key")
    daemon = fleet.site.daemon(isolated=can_isolate())
    fleet.node(ssh={"port": daemon.port})
    (fleet.site.root / "tree").mkdir()
    (fleet.site.root / "tree" / "leaf").write_text("green")
    fleet.graph(
        task("where", cmd="echo $SSH_CONNECTION | cut -d' ' -f4"),
        task("sync", "sync", src=f"{fleet.site.root}/tree/", dst=f"{fleet.site.root}/made", requires=["where"]),
    )
    assert fleet.execute().code == 0
    assert fleet.logs(1, "where/1") == f"{daemon.port}\n"
    assert (fleet.site.root / "made" / "leaf").read_text() == "green"
