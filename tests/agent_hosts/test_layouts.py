"""How the skills lie in a folder: five layouts, links and circles, and files that are no skills."""

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
    """Look at `~/skills` as a host of one's own would that has this layout."""
    extra = "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
    root = f'[[profiles.mine.roots]]\nscope = "user"\npaths = ["~/skills"]\nlayout = "{layout}"\n{extra}'
    world.write("home/.config/skillpm/config.toml", root)
    return discover("mine", settings=world.settings())


def seen(world: HostWorkspace, layout: str, **more: Any) -> list[str]:
    """Give the paths of what is seen, from `~/skills`."""
    found = look(world, layout, **more)
    return [os.path.relpath(skill.path, world.home / "skills") for skill in found.skills]


def warned(world: HostWorkspace, found: Discovery) -> list[str]:
    return [world.shorten_paths(str(warning)).replace("~/skills/", "") for warning in found.warnings]


@pytest.fixture
def mixed(world: HostWorkspace) -> HostWorkspace:
    """Give a folder with something for every layout."""
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
def test_a_layout_finds_its_own_and_nothing_else(
    mixed: HostWorkspace, layout: str, more: dict[str, Any], expected: list[str]
) -> None:
    """`.git` and `node_modules` never, READMEs and files without frontmatter neither."""
    assert seen(mixed, layout, **more) == expected


def test_a_tree_is_searched_six_levels_deep_and_says_where_it_stops(world: HostWorkspace) -> None:
    """The bound of the design; a folder below it is told once."""
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
def test_a_tree_finds_what_a_glob_finds(folders: list[list[str]], hidden: bool) -> None:  # noqa: FBT001
    """`**/SKILL.md`, less what is too deep, hidden or never entered."""
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


def test_a_registry_is_read_and_never_trusted(world: HostWorkspace) -> None:
    """Checked against the files: missing, escaping, stale; what is there and not listed is not seen."""
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
        ("review", "~/skills/coding/again.md", "both are in one folder of skills, and the first by path counts")
    ]
    assert warned(world, found) == [
        "stale/SKILL.md: the file says another name or description than skills.json does",
        "skills.json: skills.4: the filePath of `up` has an empty, `.` or `..` part, so it is refused: ../outside.md",
        "skills.json: skills.5: the filePath of `absolute` is absolute or empty, so it is refused: /etc/passwd",
        "skills.json: skills.6: the filePath of `backslash` has a backslash or a colon, so it is refused: "
        "coding\\review.md",
        "skills.json: skills.7: the filePath of `by-link` leads out of the folder, so it is refused",
        "skills.json: skills.8: the file of `gone` is not there: coding/gone.md",
        "skills.json: skills.9: the file of `folder` is not there: coding",
        "skills.json: skills.10: an entry needs a `name` and a `filePath`",
        "skills.json: skills.11: an entry needs a `name` and a `filePath`",
        "skills.json: skills.12: an entry needs a `name` and a `filePath`",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is none, so nothing is listed"),
        ("{", "this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        (b"\xff\xfe{", "this is not JSON"),
        ('{"skills": {"pdf": "^1"}}', "this is no registry: `skills` is no list"),
        ("[]", "this is no registry: `skills` is no list"),
        (b'{"skills": []}' + b" " * 16_000_000, "it is over 16000000 bytes, so it is not read"),
    ],
    ids=["missing", "broken", "too-deep", "undecodable", "a-manifest", "a-list", "too-large"],
)
def test_a_registry_that_is_none_is_told(world: HostWorkspace, content: str | bytes | None, message: str) -> None:
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
def test_no_registry_raises_or_leads_out(top: Any) -> None:
    """Whatever it says."""
    with tempfile.TemporaryDirectory() as folder:
        world = HostWorkspace(Path(folder))
        world.write_skill("home/skills/pdf")
        world.write("home/outside.md", "a secret")
        world.write("home/skills/skills.json", json.dumps(top))
        assert {skill.path for skill in look(world, "registry").skills} <= {f"{world.home}/skills/pdf/SKILL.md"}


def test_links_are_followed_and_a_real_file_is_counted_once(world: HostWorkspace) -> None:
    """A skill is known by the path it really lies at, where that is in the same folder."""
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


def test_circles_of_links_end(world: HostWorkspace) -> None:
    """To oneself, to each other, upwards, and many at once, which would be 10^6 ways."""
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
        "left: the link leads nowhere",
        "right: the link leads nowhere",
        "self: the link leads nowhere",
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
def test_a_host_may_follow_fewer_links(world: HostWorkspace, links: str, expected: list[str]) -> None:
    """All of them, only those to folders, only those that stay inside, or none."""
    for name in ("in", "out", "file"):
        world.write_skill(f"home/{'skills/.store' if name == 'in' else 'elsewhere'}/{name}")
    world.create_link("home/skills/in", ".store/in")
    world.create_link("home/skills/out", "../elsewhere/out")
    world.create_link("home/skills/file/SKILL.md", "../../elsewhere/file/SKILL.md")
    for layout in ("dir", "tree"):
        assert list(look(world, layout, links=links).names) == expected


def test_a_file_in_lower_case_is_read_with_a_warning(world: HostWorkspace) -> None:
    """And SKILL.md is preferred where both are there."""
    world.write("home/skills/lower/skill.md", make_skill("lower")["SKILL.md"])
    world.write("home/skills/both/skill.md", make_skill("both", description="Lower.")["SKILL.md"])
    world.write_skill("home/skills/both", description="Upper.")
    for layout in ("dir", "tree"):
        found = look(world, layout)
        assert [(skill.name, skill.description) for skill in found.skills] == [
            ("both", "Upper."),
            ("lower", "Use when a test needs a skill."),
        ]
        assert warned(world, found) == ["lower/skill.md: the file should be called SKILL.md; some hosts do not see it"]


def test_what_cannot_be_read_is_a_warning_and_the_search_goes_on(world: HostWorkspace) -> None:
    """No file of this kind stops anything, and none is waited for."""
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
        "b-open/SKILL.md: line 1: the frontmatter is not closed by a `---` line",
        "c-bytes/SKILL.md: line 2: the file is not UTF-8",
        "d-nul/SKILL.md: line 2: the file has a NUL character",
        "e-js/SKILL.md: line 1: frontmatter in `js` is not read",
        "f-list/SKILL.md: line 2: the frontmatter is no list of `key: value` lines",
        "g-large/SKILL.md: line 1: the file is over 1000000 bytes",
        "h-yaml/SKILL.md: line 2: the frontmatter is no YAML: nested deeper than 20",
        "i-pipe/SKILL.md: it is no regular file",
        "j-link/SKILL.md: the link leads nowhere",
        "k-device/SKILL.md: it is no regular file",
    ]


def test_a_root_that_is_a_file_is_no_root(world: HostWorkspace) -> None:
    """Nothing raises, whatever lies there."""
    world.write("home/skills", "a file")
    found = look(world, "tree")
    assert ([place.exists for place in found.roots], found.skills, found.warnings) == ([False], (), ())
