"""A published block reaches every reader: programs with `open_service`, their forked children, and MCP servers.

Each reader runs in a process of its own that prints `served`, and `refused` once it is refused.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from commands.scene import CommandSandbox
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from kit import GitServer, Response
from policy.test_published_policies import NEW, OLD, Publisher

READ = """\
import faulthandler, os, sys, time
from skillpm import SkillBlocked, open_service

def read(service):
    faulthandler.dump_traceback_later(50, exit=True)  # also if a call never returns
    print("served", service.load("testing").name, os.getpid(), flush=True)
    while True:
        try:
            service.load("testing")
        except SkillBlocked as error:
            print("refused", error.message, flush=True)
            return
        time.sleep(0.005)

"""
READERS = {
    "a program": "read(open_service())",
    # As gunicorn with `preload_app`: the child gets the service of its parent, which goes on and refreshes nothing.
    "a forked child": """\
service = open_service()
service.load("testing")
if os.fork():
    os._exit(0)
read(service)
""",
    # The first refresh, which imports the HTTP client, is running.
    "a child of a fork during the first refresh": """\
service = open_service()
if os.fork():
    os._exit(0)
read(service)
""",
    # As the thread of the parent does for a moment: in the child, nobody would ever release it.
    "a child of a fork while the lock is held": """\
from skillpm.operations.policy.refresher import REFRESHER
service = open_service()
REFRESHER._lock.acquire()
if os.fork():
    os._exit(0)
read(service)
""",
    "a child of a child": """\
service = open_service()
for _ in range(2):
    service.load("testing")
    if os.fork():
        os._exit(0)
read(service)
""",
    "a check of the content that takes longer than a refresh": """\
service = open_service()
check = service._inspect
service._inspect = lambda card: time.sleep(1.5) or check(card)
read(service)
""",
    "a service that was opened before another one ended": """\
first, second = open_service(), open_service()
first.load("testing")
del first
read(second)
""",
}


@pytest.fixture
def publisher(tmp_path: Path, server: GitServer) -> Publisher:
    return Publisher(server, tmp_path / "scene/home")


@pytest.fixture
def shop(scene: CommandSandbox, publisher: Publisher) -> CommandSandbox:
    """Return a project with a skill, where a policy is fetched each second."""
    project = scene.create_project()
    policy = publisher.file.read_text().replace("15 minutes", "1 second")
    publisher.file.unlink()
    project.run("install", "testing", check=True)
    publisher.publish(OLD, "")
    publisher.file.write_text(policy)
    project.run("policy", "refresh", check=True)
    return project


@contextmanager
def running(shop: CommandSandbox, program: str, **environ: str) -> Iterator[IO[str]]:
    """Run a Python program, and return what it prints."""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=shop.work,
        env=shop.environment(environ),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout


@pytest.mark.parametrize("reader", READERS)
def test_a_published_block_reaches_a_program(shop: CommandSandbox, publisher: Publisher, reader: str) -> None:
    with running(shop, READ + READERS[reader]) as output:
        assert output.readline().startswith("served testing ")
        publisher.publish(NEW)
        published = time.monotonic()
        assert output.readline() == "refused `testing` is blocked by policy: steals tokens\n"
    assert time.monotonic() - published < 60


# A fork during an import leaves the lock of the module to a thread that the child does not have.
IMPORTS = """\
import sys, threading, time
imported = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is not threading.main_thread():
            imported.append(name)
sys.meta_path.insert(0, Finder())
from skillpm import open_service
from skillpm.operations.policy.refresher import REFRESHER
service = open_service()
while not REFRESHER._errors:
    time.sleep(0.01)
print(imported, *REFRESHER._errors.values(), flush=True)
"""
POLICIES = {
    "the same": (OLD, ""),
    "a new one": (NEW, ""),
    "an older one": ("2026-11-01T10:00:00Z", ""),
    "an expired one": (NEW, "expires = 2026-11-22T10:00:00Z\n"),
    "of the future": ("2999-11-20T10:00:00Z", ""),
    "an unknown key": (NEW, "block = 1\n"),
    "another type": (NEW, "blocked = 1\n"),
    "a wrong place": (NEW, '[sources]\nallow = ["https://["]\n'),
    "not TOML": (NEW, "= 1"),
}
FAULTS = ("503-wait-1", "429-wait-date", "503-wait-hour", "reset-in-body", "web-page", "no-http", "404", "truncated")


@pytest.mark.parametrize("answer", [*POLICIES, *FAULTS, "unsigned", "redirect"])
def test_the_thread_imports_nothing(shop: CommandSandbox, publisher: Publisher, server: GitServer, answer: str) -> None:
    if answer in POLICIES:
        publisher.publish(*POLICIES[answer])
    elif answer in FAULTS:
        server.add_fault("GET /p.toml ", answer)
    elif answer == "unsigned":
        publisher.publish(NEW, key=Ed25519PrivateKey.generate())
    else:
        server.publish("/p.toml", Response(302, {"Location": "https://127.0.0.1:1/elsewhere"}, b""))
    age_copy(shop, 86_400)

    with running(shop, IMPORTS) as output:
        assert output.readline().startswith("[] ")


COUNT = "import threading; service.load('testing'); print(threading.active_count(), flush=True)"


@pytest.mark.parametrize("kind", ["offline", "no published policy", "published"])
def test_only_a_program_that_needs_it_has_a_thread(shop: CommandSandbox, kind: str) -> None:
    if kind == "no published policy":
        (shop.home / ".config/skillpm/policy.toml").write_text("version = 1\n")
    environ = {"SKILLPM_OFFLINE": "1"} if kind == "offline" else {}

    with running(shop, f"from skillpm import open_service\nservice = open_service()\n{COUNT}", **environ) as output:
        assert output.readline() == ("2\n" if kind == "published" else "1\n")


def test_a_call_does_not_wait_for_a_server_that_is_silent(
    shop: CommandSandbox, publisher: Publisher, server: GitServer
) -> None:
    server.add_fault("GET /p.toml", "dribble-body")
    age_copy(shop, 86_400)
    program = "import time; from skillpm import open_service; t = time.monotonic()\nservice = open_service()\n"

    with running(shop, f"{program}service.load('testing'); print(time.monotonic() - t < 120, flush=True)") as output:
        assert output.readline() == "True\n"


def age_copy(shop: CommandSandbox, seconds: int) -> None:
    """Make the copy of the policy older."""
    (copy,) = (shop.home / ".config/skillpm/policies").iterdir()
    copy.write_text(json.dumps({**json.loads(copy.read_text()), "fetched": int(time.time()) - seconds}))


READING = {
    "load": ("load", "testing"),
    "prompt": ("prompt",),
    "match": ("search", "--triggers", "write a test"),
    "search": ("search", "--installed", "testing"),
    "verify": ("verify",),
    "policy check": ("policy", "check"),
}


@pytest.mark.parametrize("command", READING)
def test_a_command_that_reads_says_how_old_the_copy_is(
    shop: CommandSandbox, publisher: Publisher, server: GitServer, command: str
) -> None:
    publisher.file.write_text(publisher.file.read_text().replace("1 second", "15 minutes"))
    warning = (
        f"warning: the policy {publisher.url} was fetched 3 days ago, and is to be fetched every 15 minutes; "
        "`skillpm policy refresh` fetches it\n"
    )
    requests = len(server.requests)
    assert "warning" not in shop.run(*READING[command], check=True).stderr

    age_copy(shop, 3 * 86_400)

    assert shop.run(*READING[command], check=True).stderr.count(warning) == 1
    assert len(server.requests) == requests
