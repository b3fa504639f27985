"""Findings are remembered by the digest of a skill, and a cache entry that is not ours never counts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import make_skill
from kit.skills import to_bytes

from skillpm.audit.model import AuditFinding
from skillpm.cachedir import VERDICTS
from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.scope.project import Session
from skillpm.scope.verdicts import read_or_audit
from skillpm.settings import read_settings

FILES = make_skill("pdf", body="Read it.\U000e0058\n")
TREE = FileTree(files=tuple(SourceEntry(path=path, data=to_bytes(data)).as_file(path) for path, data in FILES.items()))
EXPECTED = (
    AuditFinding(
        rule="hidden-text", severity="high", path="SKILL.md", line=5, message="invisible tag letters spell `X`"
    ),
)


@pytest.fixture
def context(tmp_path: Path) -> Session:
    return Session(settings=read_settings({"HOME": str(tmp_path), "SKILLPM_CACHE_DIR": str(tmp_path / "cache")}))


def audit(context: Session) -> tuple[AuditFinding, ...]:
    """Return what another command finds, which has nothing but the cache of the last one."""
    return read_or_audit(Session(settings=context.settings), TREE, TREE.digest)


def entry_of(context: Session) -> Path:
    (entry,) = (Path(context.settings.cache_dir) / VERDICTS).iterdir()
    return entry


def test_the_same_bytes_are_audited_once(context: Session) -> None:
    assert audit(context) == EXPECTED
    entry = entry_of(context)
    record = json.loads(entry.read_bytes())
    record["findings"][0]["message"] = "from the cache"
    with entry.open("r+b") as file:  # the same file, so the binding holds
        file.write(json.dumps(record).encode())
        file.truncate()

    assert [finding.message for finding in audit(context)] == ["from the cache"]


def copy_in(entry: Path) -> None:
    forged = json.loads(entry.read_bytes()) | {"findings": []}
    copy = entry.with_name("copy")
    copy.write_text(json.dumps(forged))
    os.replace(copy, entry)


def edit(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def write(entry: Path) -> None:
        data = change(entry.read_bytes())
        with entry.open("r+b") as file:
            file.write(data)
            file.truncate()

    return write


def link_away(entry: Path) -> None:
    target = entry.with_name("target")
    os.rename(entry, target)
    entry.symlink_to(target)


def replace_by_folder(entry: Path) -> None:
    entry.unlink()
    entry.mkdir()


FORGERIES: dict[str, Callable[[Path], None]] = {
    "restored from elsewhere": copy_in,
    "cut off": edit(lambda data: data[:-3]),
    "empty": edit(lambda _: b""),
    "deep": edit(lambda _: b"[" * 100_000),
    "no map": edit(lambda _: b"[]"),
    "unknown rule": edit(lambda data: data.replace(b'"rule": "hidden-text"', b'"rule": "hidden"')),
    "unknown severity": edit(lambda data: data.replace(b'"severity": "high"', b'"severity": "none"')),
    "line is text": edit(lambda data: data.replace(b'"line": 5', b'"line": "5"')),
    "a link": link_away,
    "a folder": replace_by_folder,
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=[*FORGERIES])
def test_an_entry_that_is_not_ours_does_not_count(context: Session, forge: Callable[[Path], None]) -> None:
    audit(context)
    entry = entry_of(context)
    forge(entry)

    assert audit(context) == EXPECTED


def test_a_cache_that_cannot_be_written_costs_only_time(context: Session) -> None:
    Path(context.settings.cache_dir).parent.write_text("a file")

    assert audit(context) == EXPECTED


def test_a_process_that_finds_its_verdicts_imports_no_rule(context: Session) -> None:
    code = (
        "import json, sys\n"
        "from audit.test_verdicts import EXPECTED, TREE\n"
        "from skillpm.scope.verdicts import read_or_audit\n"
        "from skillpm.scope.project import Session\n"
        "from skillpm.settings import read_settings\n"
        "assert read_or_audit(Session(settings=read_settings(json.loads(sys.argv[1]))), TREE, TREE.digest) =="
        " EXPECTED\n"
        "print(*sorted(name for name in sys.modules if name.startswith('skillpm.audit')))\n"
    )
    names = json.dumps({"HOME": str(context.settings.home), "SKILLPM_CACHE_DIR": context.settings.cache_dir})

    def imported() -> set[str]:
        tests = Path(__file__).parents[1]
        command = [sys.executable, "-c", code, names]
        return {*subprocess.run(command, cwd=tests, capture_output=True, text=True, check=True).stdout.split()}

    light = {"skillpm.audit", "skillpm.audit.model", "skillpm.audit.rule_set"}
    assert imported() > light
    assert imported() == light
