"""Layouts of skills in a folder: five layouts, links and cycles, and files that are not skills."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from agent_hosts.world import HostWorkspace
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import make_skill

from skillpm import Discovery, discover


def look(world: HostWorkspace, layout: str, **more: Any) -> Discovery:
    """Discover `~/skills` as a custom host with this layout."""
    extra = "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
    root = f'[[profiles.mine.roots]]\nscope = "user"\npaths = ["~/skills"]\nlayout = "{layout}"\n{extra}'
    world.write("home/.config/skillpm/config.toml", root)
    return discover("mine", settings=world.settings())


def seen(world: HostWorkspace, layout: str, **more: Any) -> list[str]:
    """Return the paths of the visible skills, relative to `~/skills`."""
    found = look(world, layout, **more)
    return [os.path.relpath(skill.path, world.home / "skills") for skill in found.skills]


def warned(world: HostWorkspace, found: Discovery) -> list[str]:
    return [world.shorten_paths(str(warning)).replace("~/skills/", "") for warning in found.warnings]


@pytest.fixture
def mixed(world: HostWorkspace) -> HostWorkspace:
    """Return a workspace whose folder has something for every layout."""
    for path in ("one", "group/two", "group/three/four", "one/inner", ".hidden", ".git/no", "node_modules/no"):
        world.write_skill(f"home/skills/{path}")
    for path in ("flat.md", "coding/review.md", "coding/test.MD", "coding/deep/no.md", "README.md", ".dot.md"):
        stem = os.path.basename(path).split(".")[0]
        world.write(f"home/skills/{path}", make_skill(stem)["SKILL.md"])
    world.write("home/skills/notes.md", "# Just notes\n")
    world.write("home/skills/coding/notes.md", "# Just notes\n")
    return world


@pytest.mark.parametrize(
    ("layout", "more", "expected"),
    [
        ("dir", {}, ["one/SKILL.md"]),
        ("dir", {"hidden": True}, [".hidden/SKILL.md", "one/SKILL.md"]),
        ("tree", {}, ["group/three/four/SKILL.md", "one/SKILL.md", "group/two/SKILL.md"]),
        ("tree", {"nested": True}, ["group/three/four/SKILL.md", "one/inner/SKILL.md", "one/SKILL.md",
                                    "group/two/SKILL.md"]),
        ("tree", {"depth": 1}, ["one/SKILL.md"]),
        ("flat", {}, ["flat.md"]),
        ("category", {}, ["coding/review.md", "coding/test.MD"]),
    ],
    ids=["dir", "dir-hidden", "tree", "tree-nested", "tree-one-deep", "flat", "category"],
)  # fmt: skip
def test_layout_finds_only_its_own_skills(
    mixed: HostWorkspace, layout: str, more: dict[str, Any], expected: list[str]
) -> None:
    """`.git` and `node_modules` are always skipped, and so are READMEs and files without frontmatter."""
    assert seen(mixed, layout, **more) == expected


def test_tree_is_searched_six_levels_deep_and_warns_below(world: HostWorkspace) -> None:
    """A deeper folder is reported once."""
    world.write_skill("home/skills/1/2/3/4/5/six")
    world.write_skill("home/skills/1/2/3/4/5/6/seven")
    world.write("home/skills/1/2/3/4/5/six/assets/a/b/c.txt", "deep, but inside a skill")
    for nested in (False, True):
        found = look(world, "tree", nested=nested)
        assert found.names == ("six",)
        assert warned(world, found) == ["1/2/3/4/5/6/seven: folders deeper than 6 levels are not searched"]


FOLDERS = st.lists(
    st.lists(st.sampled_from(["a", "b", ".c", ".git", "node_modules", "d"]), min_size=0, max_size=8), max_size=12
)


@settings(max_examples=60)
@given(folders=FOLDERS, hidden=st.booleans())
def test_tree_finds_what_a_glob_finds(folders: list[list[str]], hidden: bool) -> None:  # noqa: FBT001
    """`**/SKILL.md`, except what is too deep, hidden or skipped."""
    with tempfile.TemporaryDirectory() as top:
        world = HostWorkspace(Path(top))
        (world.home / "skills").mkdir()
        for number, parts in enumerate(folders):
            world.write_skill("/".join(["home/skills", *parts]), f"skill-{number}")
        expected = {
            path.parent.relative_to(world.home / "skills").parts for path in (world.home / "skills").rglob("SKILL.md")
        }
        expected = {
            parts
            for parts in expected
            if len(parts) <= 6 and not {".git", "node_modules"} & {*parts} and (hidden or ".c" not in parts)
        }
        found = seen(world, "tree", hidden=hidden, nested=True)
        assert {Path(path).parent.parts for path in found} == expected
        tops = {parts for parts in expected if not any(parts[:end] in expected for end in range(len(parts)))}
        assert {Path(path).parent.parts for path in seen(world, "tree", hidden=hidden)} == tops


REGISTRY = {
    "version": "1.0",
    "skills": [
        {
            "name": "review",
            "category": "coding",
            "description": "Reviews.",
            "triggers": [],
            "filePath": "coding/review.md",
        },
        {"name": "pdf", "category": "general", "description": "pdf.", "triggers": [], "filePath": "./pdf/SKILL.md"},
        {"name": "other", "description": "Other words.", "filePath": "stale/SKILL.md"},
        {"name": "review", "description": "The second of its name.", "filePath": "coding/again.md"},
        {"name": "up", "filePath": "../outside.md"},
        {"name": "absolute", "filePath": "/etc/passwd"},
        {"name": "backslash", "filePath": "coding\\review.md"},
        {"name": "by-link", "filePath": "link.md"},
        {"name": "gone", "filePath": "coding/gone.md"},
        {"name": "folder", "filePath": "coding"},
        {"name": 7, "filePath": "coding/review.md"},
        {"filePath": "coding/review.md"},
        "text",
    ],
}


def test_registry_entries_are_checked_against_files(world: HostWorkspace) -> None:
    """Missing, escaping and stale entries are reported; unlisted files are not seen."""
    world.write("home/skills/skills.json", json.dumps(REGISTRY))
    world.write("home/skills/coding/review.md", "# Review\n")
    world.write("home/skills/coding/again.md", "# Again\n")
    world.write("home/outside.md", "# A secret\n")
    world.create_link("home/skills/link.md", "../outside.md")
    world.write_skill("home/skills/pdf")
    world.write_skill("home/skills/stale")
    world.write_skill("home/skills/unlisted")
    found = look(world, "registry")
    assert [(skill.name, skill.description) for skill in found.skills] == [
        ("other", "Other words."),
        ("pdf", "pdf."),
        ("review", "Reviews."),
    ]
    assert [(hidden.name, world.shorten_paths(hidden.path), hidden.why) for hidden in found.shadowed] == [
        ("review", "~/skills/coding/again.md", "both are in the same skills folder, and the first by path wins")
    ]
    assert warned(world, found) == [
        "stale/SKILL.md: its name or description differs from the one in skills.json",
        "skills.json: skills.4: the filePath of `up` has an empty, `.` or `..` part, so it is refused: ../outside.md",
        "skills.json: skills.5: the filePath of `absolute` is absolute or empty, so it is refused: /etc/passwd",
        "skills.json: skills.6: the filePath of `backslash` has a backslash or a colon, so it is refused: "
        "coding\\review.md",
        "skills.json: skills.7: the filePath of `by-link` points outside the folder, so it is refused",
        "skills.json: skills.8: the file of `gone` is missing: coding/gone.md",
        "skills.json: skills.9: the file of `folder` is missing: coding",
        "skills.json: skills.10: an entry needs a `name` and a `filePath`",
        "skills.json: skills.11: an entry needs a `name` and a `filePath`",
        "skills.json: skills.12: an entry needs a `name` and a `filePath`",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "missing, so the folder has no skills"),
        ("{", "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        (b"\xff\xfe{", "invalid JSON"),
        ('{"skills": {"pdf": "^1"}}', "not a registry: `skills` is not a list"),
        ("[]", "not a registry: `skills` is not a list"),
        (b'{"skills": []}' + b" " * 16_000_000, "over 16000000 bytes, so it is not read"),
    ],
    ids=["missing", "broken", "too-deep", "undecodable", "a-manifest", "a-list", "too-large"],
)
def test_invalid_registry_is_reported(world: HostWorkspace, content: str | bytes | None, message: str) -> None:
    (world.home / "skills").mkdir()
    if content is not None:
        world.write("home/skills/skills.json", content)
    assert warned(world, look(world, "registry")) == [f"skills.json: {message}"]


WORDS = st.sampled_from(
    ["name", "filePath", "skills", "pdf", "pdf/SKILL.md", "../outside.md", "x\0y", "\ud800", "", "/"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
ENTRIES = VALUES | st.fixed_dictionaries({"name": VALUES, "filePath": VALUES})


@settings(max_examples=150)
@given(top=VALUES | st.fixed_dictionaries({"skills": st.lists(ENTRIES, max_size=5)}))
def test_no_registry_raises_or_escapes_its_folder(top: Any) -> None:
    """For arbitrary content."""
    with tempfile.TemporaryDirectory() as folder:
        world = HostWorkspace(Path(folder))
        world.write_skill("home/skills/pdf")
        world.write("home/outside.md", "a secret")
        world.write("home/skills/skills.json", json.dumps(top))
        assert {skill.path for skill in look(world, "registry").skills} <= {f"{world.home}/skills/pdf/SKILL.md"}


def test_links_are_followed_and_a_file_is_listed_once(world: HostWorkspace) -> None:
    """A skill has its real path if that is in the same folder."""
    world.write_skill("home/elsewhere/pdf")
    world.write_skill("home/skills/zeta")
    world.create_link("home/skills/alpha", "zeta")
    world.create_link("home/skills/pdf", "../elsewhere/pdf")
    world.create_link("home/skills/file/SKILL.md", "../../elsewhere/pdf/SKILL.md")
    assert seen(world, "tree") == ["file/SKILL.md", "zeta/SKILL.md"]
    found = look(world, "dir")
    assert [os.path.relpath(skill.path, world.home / "skills") for skill in found.skills] == [
        "file/SKILL.md",
        "alpha/SKILL.md",
    ]
    assert [(world.shorten_paths(same.path), world.shorten_paths(same.winner)) for same in found.again] == [
        ("~/skills/pdf/SKILL.md", "~/skills/file/SKILL.md"),
        ("~/skills/zeta/SKILL.md", "~/skills/alpha/SKILL.md"),
    ]


def test_link_cycles_end(world: HostWorkspace) -> None:
    """To itself, to each other, to a parent, and many at once, which would be 10^6 paths."""
    world.write_skill("home/skills/real")
    world.create_link("home/skills/self", "self")
    world.create_link("home/skills/left", "right")
    world.create_link("home/skills/right", "left")
    world.create_link("home/skills/top", ".")
    world.create_link("home/skills/real-parent/up", "../..")
    for number in range(10):
        for other in range(10):
            world.create_link(f"home/skills/maze/{number}/to{other}", f"../{other}")
    found = look(world, "tree", nested=True)
    assert found.names == ("real",)
    assert warned(world, found) == [
        "left: broken link",
        "right: broken link",
        "self: broken link",
    ]


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ("follow", ["file", "in", "out"]),
        ("folders", ["in", "out"]),
        ("inside", ["in"]),
        ("none", []),
    ],
)
def test_host_may_restrict_links(world: HostWorkspace, links: str, expected: list[str]) -> None:
    """All links, only links to folders, only links that stay inside, or none."""
    for name in ("in", "out", "file"):
        world.write_skill(f"home/{'skills/.store' if name == 'in' else 'elsewhere'}/{name}")
    world.create_link("home/skills/in", ".store/in")
    world.create_link("home/skills/out", "../elsewhere/out")
    world.create_link("home/skills/file/SKILL.md", "../../elsewhere/file/SKILL.md")
    for layout in ("dir", "tree"):
        assert list(look(world, layout, links=links).names) == expected


def test_lowercase_skill_file_is_read_with_a_warning(world: HostWorkspace) -> None:
    """SKILL.md is preferred if both exist."""
    world.write("home/skills/lower/skill.md", make_skill("lower")["SKILL.md"])
    world.write("home/skills/both/skill.md", make_skill("both", description="Lower.")["SKILL.md"])
    world.write_skill("home/skills/both", description="Upper.")
    for layout in ("dir", "tree"):
        found = look(world, layout)
        assert [(skill.name, skill.description) for skill in found.skills] == [
            ("both", "Upper."),
            ("lower", "Use when a test needs a skill."),
        ]
        assert warned(world, found) == ["lower/skill.md: the file should be named SKILL.md; some hosts do not find it"]


def test_unreadable_files_are_warnings_and_the_search_continues(world: HostWorkspace) -> None:
    """No such file stops the search or blocks it."""
    broken: dict[str, str | bytes] = {
        "a-none": "# no frontmatter\n",
        "b-open": "---\nname: x\n",
        "c-bytes": b"---\nname: \xff\n---\n",
        "d-nul": b"---\nname: \0\n---\n",
        "e-js": "---js\n{}\n---\n",
        "f-list": "---\n- a\n---\n",
        "g-large": b"---\nname: x\n---\n" + b"x" * 1_000_000,
        "h-yaml": "---\n{" + "[" * 50 + "\n---\n",
    }
    for name, content in broken.items():
        world.write(f"home/skills/{name}/SKILL.md", content)
    (world.home / "skills/i-pipe").mkdir()
    os.mkfifo(world.home / "skills/i-pipe/SKILL.md")
    world.create_link("home/skills/j-link/SKILL.md", "nowhere")
    world.create_link("home/skills/k-device/SKILL.md", "/dev/zero")
    world.write("home/skills/l-file", "no folder")
    world.write("home/skills/m-other/notes.md", "no skill")
    world.write_skill("home/skills/z-good")
    found = look(world, "dir")
    assert found.names == ("z-good",)
    assert warned(world, found) == [
        "a-none/SKILL.md: line 1: the file does not begin with a `---` line",
        "b-open/SKILL.md: line 1: the frontmatter has no closing `---` line",
        "c-bytes/SKILL.md: line 2: the file is not UTF-8",
        "d-nul/SKILL.md: line 2: the file contains a NUL character",
        "e-js/SKILL.md: line 1: frontmatter in `js` is not supported",
        "f-list/SKILL.md: line 2: the frontmatter must be a list of `key: value` lines",
        "g-large/SKILL.md: line 1: the file is over 1000000 bytes",
        "h-yaml/SKILL.md: line 2: invalid YAML frontmatter: nested deeper than 20",
        "i-pipe/SKILL.md: not a regular file",
        "j-link/SKILL.md: broken link",
        "k-device/SKILL.md: not a regular file",
    ]


def test_root_that_is_a_file_is_ignored(world: HostWorkspace) -> None:
    """Nothing raises, whatever is at the path."""
    world.write("home/skills", "a file")
    found = look(world, "tree")
    assert ([place.exists for place in found.roots], found.skills, found.warnings) == ([False], (), ())
