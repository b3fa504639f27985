"""Local faults are healed or named: every kind of file of the cache, each damaged, missing, unreadable or another's.

A run is healed if the command does its work, and named if its error names the cache and what repairs it. No run blames
a server, the network, an author or the lockfile (`cache_world.BLAME`).
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from fetchers.cache_world import FAULTS, GIT_KINDS, KINDS, CacheWorld
from kit import OciRegistry
from kit.sandbox import CANNOT_DROP_RIGHTS, IS_ROOT

COMMANDS = ("install", "sync", "update", "outdated", "offline")
QUICK = (("pack", "40 bytes", "install"), ("pack", "flipped", "install"), ("store entry", "0 bytes", "sync"))
NEEDS_ROOT = pytest.mark.skipif(not IS_ROOT or CANNOT_DROP_RIGHTS, reason="only root can give files to another user")


OpenWorld = Callable[[str], CacheWorld]


@pytest.fixture(scope="module")
def open_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenWorld]:
    """Return a function that makes a world, in which git is contacted over a connection of ours or by `git fetch`."""
    folder = tmp_path_factory.mktemp("faults")
    with OciRegistry() as server:

        @cache
        def open_world(transport: str) -> CacheWorld:
            return CacheWorld(folder / transport, server, is_local=transport == "git fetch")

        yield open_world


@pytest.mark.parametrize(("kind", "fault", "command"), QUICK)
def test_a_damaged_file_is_fetched_again(open_world: OpenWorld, kind: str, fault: str, command: str) -> None:
    run = open_world("git fetch").try_fault(kind, fault, command)
    assert run is not None
    assert run.outcome == "healed", run


@NEEDS_ROOT
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transport", ["git fetch", "connection"])
def test_every_fault_is_healed_or_named(open_world: OpenWorld, kind: str, transport: str) -> None:
    if transport == "git fetch" and kind not in GIT_KINDS:
        pytest.skip("this file has nothing to do with how git fetches")
    tried = [open_world(transport).try_fault(kind, fault, command) for fault in FAULTS for command in COMMANDS]
    runs = [run for run in tried if run is not None]

    assert [run for run in runs if run.outcome not in {"healed", "named"}] == []
    counts = Counter(run.outcome for run in runs)
    print(f"\n{transport}, {kind}: {len(runs)} runs, {dict(counts)}", file=sys.stderr)  # noqa: T201  (shown with -s)
