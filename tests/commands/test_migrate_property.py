"""For any folder content, migrating loses no byte of any body and is idempotent."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import snapshot

from skillpm.adopt.conversion import migrate
from skillpm.formats.legacy_registry import LegacyEntry, read_legacy_registry
from skillpm.formats.plain_markdown import BOM
from skillpm.formats.registry import read_registry
from skillpm.operations.registry import check_registry
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope
from skillpm.settings import Settings

pytestmark = pytest.mark.slow

STEMS = ["review", "Review", "api design", "über", "日本", "README", "con", "x.y", "-", "development", "a" * 70]
FOLDERS = ["", "development/", "review/", "Ünder score/", "development/deeper/"]
HEADS = [
    b"",
    b"---\nname: review\ndescription: Reviews.\n---\n",
    b"---\r\ndescription: 'x\r\n  y'\r\ntriggers: [a, b]\r\n---\r\n",
    b'+++\nname = "t"\n+++\n',
    b"---\nname: [\n",
    b"---\n---\n",
    b"---\n- a\n---\n",
]
bodies = st.one_of(
    st.binary(max_size=40),
    st.text(st.sampled_from("# \n\r\t-=*`>|ab\u2028\ufeff\U0001f600\"':[]()"), max_size=60).map(str.encode),
    st.text(st.characters(codec="utf-8"), max_size=40).map(str.encode),
)
contents = st.builds(
    lambda mark, head, body: mark + head + body, st.sampled_from([b"", BOM]), st.sampled_from(HEADS), bodies
)
paths = st.builds(
    "{}{}{}".format, st.sampled_from(FOLDERS), st.sampled_from(STEMS), st.sampled_from([".md", ".md", ".MD", ".txt"])
)
words = st.text(st.characters(codec="utf-8"), max_size=12)
odd = st.none() | st.integers() | words | st.lists(words, max_size=2)
entries = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([*STEMS, "other-name"]) | odd,
        "filePath": paths | st.sampled_from(["../x.md", "/etc/passwd", "review/SKILL.md"]) | odd,
        "description": odd,
        "category": odd,
        "triggers": st.lists(words | odd, max_size=3) | odd,
        "version": st.sampled_from(["1.4.0", "v2"]) | odd,
        "requires": st.lists(st.sampled_from(["git", "gh"]) | odd, max_size=3) | odd,
        "userOnly": st.booleans() | odd,
    },
)
registries = st.none() | st.lists(entries, max_size=4)


def written(folder: Path, files: Mapping[str, bytes], registry: object) -> dict[str, bytes]:
    """Write the files and an old registry; return what was written."""
    there = {}
    for path, data in sorted(files.items()):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        there[path] = data
    if registry is not None:
        (folder / "skills.json").write_text(json.dumps({"version": "1", "skills": registry}), encoding="utf-8")
    return there


def everything(folder: Path) -> dict[str, object]:
    return dict(snapshot(folder, ignore=[".skillpm/lock", ".skillpm/lock.pid"]))


@settings(max_examples=150)
@given(st.dictionaries(paths, contents, max_size=8), registries)
def test_no_byte_of_any_body_is_lost_and_twice_is_once(files: dict[str, bytes], registry: object) -> None:
    with tempfile.TemporaryDirectory() as root:
        home = Path(root) / "home"
        folder = home / ".agent-skills"
        folder.mkdir(parents=True)
        before = written(folder, files, registry)
        surroundings = Settings(
            home=str(home),
            working_directory=root,
            skills_home=str(folder),
            config_dir=f"{root}/config",
            cache_dir=f"{root}/cache",
            fsync=False,
        )
        scope = user_scope(surroundings)

        planned = migrate(Project(scope, Session(settings=surroundings)), dry_run=True)
        assert {path: (folder / path).read_bytes() for path in before} == before
        done = migrate(Project(scope, Session(settings=surroundings)))

        assert (done.moves, done.ignored, done.legacy_metadata) == (
            planned.moves,
            planned.ignored,
            planned.legacy_metadata,
        )
        moved = {move.source.path: folder / move.target_path for move in done.moves}
        for path, data in before.items():
            if path not in moved:
                assert (folder / path).read_bytes() == data
                continue
            assert not (folder / path).exists()
            assert moved[path].read_bytes().endswith(data.removeprefix(BOM))
        for move in done.moves:
            kept = before[move.source.path]
            assert move.has_generated_frontmatter or moved[move.source.path].read_bytes() == kept
        assert {path for path in before if path.lower().endswith(".md") and path.count("/") < 2} <= {
            *moved,
            *(left.path for left in done.ignored),
        }

        after = everything(folder)
        again = migrate(Project(scope, Session(settings=surroundings)))
        assert (again.moves, again.is_changed) == ((), False)
        assert everything(folder) == after
        if done.moves and registry is not None:
            old = read_legacy_registry(json.dumps({"skills": registry}), "skills.json")
            shown = read_registry((folder / "skills.json").read_text(encoding="utf-8"), "skills.json")[0]
            for move in done.moves:
                report, entry = old.entries.get(move.source.path, LegacyEntry()), shown[move.name]
                assert bool(entry.get("version")) or not report.version
                assert {*report.requires.bins} <= {*entry.get("requires", ())}
                assert entry.get("userOnly", False) or not report.user_only
        if done.is_changed:
            assert check_registry(Project(scope, Session(settings=surroundings))).is_ok
