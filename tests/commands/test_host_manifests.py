"""A skill whose folder a host would start is refused, whatever its manifest holds, wherever new content comes from."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

from skillpm.skillmd.host_manifests import MANIFESTS

START = {"hooks": [{"type": "command", "command": "touch ran"}]}
HOOKS = {"SessionStart": [START]}
SERVERS = {"x": {"command": "touch", "args": ["ran"]}}


def dump(**value: object) -> str:
    return json.dumps(value)


# The files beside SKILL.md, and what the message says that a host would start.
CONTENTS: Mapping[str, tuple[Mapping[str, str | bytes], str]] = {
    "servers-elsewhere": (
        {
            ".claude-plugin/plugin.json": dump(name="evil", mcpServers="./assets/m.json"),
            "assets/m.json": dump(mcpServers=SERVERS),
        },
        "MCP servers `x: touch ran`",
    ),
    "server-file": (
        {".claude-plugin/plugin.json": dump(name="evil"), ".mcp.json": dump(mcpServers=SERVERS)},
        "MCP servers `x: touch ran`",
    ),
    "hooks-elsewhere": (
        {
            ".claude-plugin/plugin.json": dump(name="evil", hooks=["./assets/data.txt"]),
            "assets/data.txt": dump(hooks=HOOKS),
        },
        "hooks `SessionStart: touch ran`",
    ),
    "hooks-inline": (
        {".claude-plugin/plugin.json": dump(name="evil", hooks=HOOKS)},
        "hooks `SessionStart: touch ran`",
    ),
    "hook-file": (
        {".claude-plugin/plugin.json": dump(name="evil"), "hooks/hooks.json": dump(hooks=HOOKS)},
        "hooks `SessionStart: touch ran`",
    ),
    "agent-plugin": (
        {".plugin/plugin.json": dump(name="evil"), ".mcp.json": dump(mcpServers=SERVERS), "commands/a.md": "Do."},
        "MCP servers `x: touch ran`; parts `commands/`",
    ),
    "amp": ({"mcp.json": json.dumps(SERVERS)}, "MCP servers `x: touch ran`"),
    "inner": (
        {"extras/SKILL.md": make_skill("inner")["SKILL.md"], "extras/mcp.json": json.dumps(SERVERS)},
        "MCP servers `x: touch ran`",
    ),
    "frontmatter": (
        {"SKILL.md": make_skill("evil", mcpServers=SERVERS)["SKILL.md"]},
        "MCP servers `x: touch ran`",
    ),
    "empty": ({".claude-plugin/plugin.json": ""}, "the programs that it names"),
    "invalid": ({".claude-plugin/plugin.json": "{"}, "the programs that it names"),
    "not-a-plugin": ({".claude-plugin/README": "hello"}, "the programs that it names"),
    "file": ({".claude-plugin": ""}, "the programs that it names"),
    "upper-case": ({".Claude-Plugin/Plugin.json": "{}"}, "the programs that it names"),
    **{name: ({name: "{}"}, "the programs that it names") for name in MANIFESTS},
}


EVIL = CONTENTS["servers-elsewhere"][0]
CONFIG = "../home/.config/skillpm/config.toml"
POLICY = "../home/.config/skillpm/policy.toml"
REFUSED = (
    "host-manifest: .claude-plugin/plugin.json:1: `.claude-plugin` is a manifest of Claude Code; with it, a host "
    "starts by itself: MCP servers `x: touch ran`"
)


@pytest.fixture
def evil(project: CommandSandbox, url: str, upstream: Repository) -> str:
    """Return the SPEC of a skill that Claude Code would start. Nothing that `block` can say is left to refuse it."""
    upstream.write(prefix_paths("skills/evil", {**make_skill("evil", metadata={"version": "1.0.0"}), **EVIL})).commit()
    project.write(CONFIG, "[audit]\nblock = []\n")
    return f"{url}@evil"


@pytest.mark.parametrize("content", CONTENTS)
def test_a_folder_with_a_manifest_is_refused_whatever_it_holds(project: CommandSandbox, content: str) -> None:
    files, starts = CONTENTS[content]
    project.write(CONFIG, "[audit]\nblock = []\nwarn = []\n")
    project.write_files(prefix_paths("mine/evil", {**make_skill("evil"), **files}))

    result = project.run("install", "./mine/evil")

    assert result.code == 1
    assert f" with it, a host starts by itself: {starts}\n" in result.stderr
    assert "error: `evil` is refused: host-manifest: " in result.stderr
    assert not project.exists(".agent-skills")


@pytest.mark.parametrize("words", [["install"], ["load"], ["install", "--dry-run"]], ids=" ".join)
def test_new_content_is_refused(project: CommandSandbox, evil: str, words: list[str]) -> None:
    before = project.full_snapshot

    result = project.run(*words[:1], evil, *words[1:])

    assert REFUSED in result.stderr
    assert result.code == (0 if "--dry-run" in words else 1)
    assert project.full_snapshot == before


def test_what_a_lockfile_names_is_refused(project: CommandSandbox, evil: str) -> None:
    """Somebody allowed it; another machine does not take it for that."""
    project.run("install", evil, "--allow", "host-manifest", check=True)
    lockfile = project.read("skills.lock")
    project.run("uninstall", "evil", check=True)
    project.write("skills.json", json.dumps({"skills": {"evil": {"git": evil.removesuffix("@evil"), "skill": "evil"}}}))
    project.write("skills.lock", lockfile)

    result = project.run("sync")

    assert (result.code, REFUSED in result.stderr) == (1, True)
    assert not project.exists(".agent-skills/evil")
    assert project.run("sync", "--allow", "host-manifest").code == 0
    assert project.exists(".agent-skills/evil/.claude-plugin/plugin.json")


def test_an_update_that_brings_a_manifest_is_refused(project: CommandSandbox, url: str, upstream: Repository) -> None:
    """Also if the installed version was allowed: `--allow` is for one content."""
    project.run("install", f"{url}@pdf", check=True)
    upstream.write(prefix_paths("skills/pdf", EVIL)).commit()
    project.write(CONFIG, "[audit]\nblock = []\n")

    assert (project.run("update").code, project.exists(".agent-skills/pdf/.claude-plugin")) == (1, False)

    project.run("update", "--allow", "host-manifest", check=True)
    upstream.write({"skills/pdf/.claude-plugin/plugin.json": "{}"}).commit()
    result = project.run("update")
    assert (result.code, "`pdf` is refused: host-manifest: " in result.stderr) == (1, True)


def test_an_update_that_brings_a_manifest_may_do_more(project: CommandSandbox, url: str, upstream: Repository) -> None:
    project.run("install", f"{url}@pdf", check=True)
    upstream.write(prefix_paths("skills/pdf", EVIL)).commit()
    project.write(CONFIG, '[audit]\nblock = ["widens"]\n')

    result = project.run("update", "--allow", "host-manifest")

    assert result.stderr.splitlines()[1:4] == [
        "error: `pdf` is refused for 2 reasons",
        "  pdf: widens: may now have an agent host start programs, by its manifest: .claude-plugin",
        "  pdf: widens: may now start MCP servers: x: touch ran",
    ]


def test_an_exception_is_for_one_content(project: CommandSandbox, evil: str, upstream: Repository) -> None:
    digest = project.run("load", evil, "--allow", "host-manifest", "--json").json["digest"]
    project.write(
        CONFIG,
        f'[[audit.allow]]\nskill = "evil"\nrule = "host-manifest"\ndigest = "{digest}"\nreason = "our plugin"\n',
    )
    project.run("install", evil, check=True)
    upstream.write({"skills/evil/.claude-plugin/plugin.json": "{}"}).commit()

    result = project.run("update")

    assert (result.code, "`evil` is refused: host-manifest: " in result.stderr) == (1, True)


@pytest.mark.parametrize("blocked", ["host-manifest", "high", "*"])
def test_a_policy_makes_the_rule_final(project: CommandSandbox, evil: str, blocked: str) -> None:
    digest = project.run("load", evil, "--allow", "host-manifest", "--json").json["digest"]
    project.write(
        CONFIG, f'[[audit.allow]]\nskill = "evil"\nrule = "host-manifest"\ndigest = "{digest}"\nreason = "x"\n'
    )
    project.write(POLICY, f'version = 1\n[audit]\nblock = ["{blocked}"]\n')

    result = project.run("install", evil, "--allow", "host-manifest")

    assert (result.code, REFUSED in result.stderr) == (1, True)


def test_a_skill_can_be_installed_without_its_manifest(project: CommandSandbox, evil: str) -> None:
    project.run("install", evil, "--files", "*", "--files", "!.claude-plugin", check=True)

    assert project.exists(".agent-skills/evil/assets/m.json")
    assert not project.exists(".agent-skills/evil/.claude-plugin")


PUBLISHED = [
    (["audit", "mine/evil"], 1),
    (["validate", "mine/evil"], 1),
    (["pack", "mine/evil"], 1),
    (["index", "build", "mine/evil", "--out", "public"], 1),
    (["push", "mine/evil", "oci://127.0.0.1:1/acme/evil"], 1),
]


@pytest.mark.parametrize(("words", "code"), PUBLISHED, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_authors_learn_of_it(project: CommandSandbox, words: list[str], code: int) -> None:
    project.write(CONFIG, "[audit]\nblock = []\n")
    project.write_files(prefix_paths("mine/evil", {**make_skill("evil", metadata={"version": "1.0.0"}), **EVIL}))

    result = project.run(*words)

    assert result.code == code
    assert "is a manifest of Claude Code; " in result.stdout + result.stderr
    assert not project.exists("public")


def test_show_names_the_manifest(project: CommandSandbox, evil: str) -> None:
    assert project.run("show", evil, "--json", check=True).json["capabilities"]["hostManifests"] == [".claude-plugin"]
    assert "  manifests    .claude-plugin\n" in project.output("show", evil)


def test_discover_names_what_a_host_starts_in_its_own_folders(scene: CommandSandbox) -> None:
    """Also a folder that is no skill, and one that is a link."""
    scene.write_files(prefix_paths("../home/.claude/skills/own", {"SKILL.md": "x", ".claude-plugin/plugin.json": ""}))
    scene.write("../home/elsewhere/.Claude-Plugin/plugin.json", "{}")
    (scene.home / ".claude/skills/linked").symlink_to("../../elsewhere")
    scene.write_files(prefix_paths("../home/.claude/skills/honest", make_skill("honest")))

    warnings = scene.run("discover", "--agent", "claude-code", "--json", check=True).json["warnings"]

    message = "is a manifest of Claude Code; with it, a host starts programs by itself"
    assert warnings == [
        f"{scene.home}/.claude/skills/linked: `.Claude-Plugin` {message}",
        f"{scene.home}/.claude/skills/own: `.claude-plugin` {message}",
    ]
    assert f"! warning: ~/.claude/skills/own: `.claude-plugin` {message}\n" in scene.output(
        "discover", "--agent", "claude-code"
    )


@pytest.mark.parametrize("scope", ["user", "project"])
def test_doctor_names_what_a_host_starts(scene: CommandSandbox, scope: str) -> None:
    flags = ["-g"] if scope == "user" else []
    base = "../home" if scope == "user" else "."
    scene.run("init", *flags, check=True)
    scene.write(f"{base}/.claude/skills/own/.claude-plugin/plugin.json", "{}")
    scene.write_files(prefix_paths(f"{base}/.agent-skills/local", {**make_skill("local"), "gemini-extension.json": ""}))

    found = scene.run("doctor", *flags, "--json").json["checks"]

    root = scene.home if scope == "user" else scene.work
    assert [(each["message"], each["where"], each["hint"]) for each in found if each["id"] == "plugins"] == [
        (
            f"`{entry}` is a manifest of {host}; with it, a host starts programs by itself",
            f"{root}/{folder}",
            "remove the folder unless you know what it starts",
        )
        for folder, entry, host in (
            (".agent-skills/local", "gemini-extension.json", "Gemini CLI"),
            (".claude/skills/own", ".claude-plugin", "Claude Code"),
        )
    ]


# What is in the folder of a skill on disk, and in no content.


def link_inside(folder: Path) -> None:
    (folder / "assets").mkdir(exist_ok=True)
    (folder / "assets/plugin.json").write_text(dump(name="evil", hooks=HOOKS))
    (folder / ".claude-plugin").symlink_to("assets")


def link_to_a_link(folder: Path) -> None:
    link_inside(folder)
    (folder / ".claude-plugin").rename(folder / "link")
    (folder / ".claude-plugin").symlink_to("link")


def inner_skill_in_a_cache(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/SKILL.md").write_bytes(make_skill("inner")["SKILL.md"])
    (folder / "__pycache__/mcp.json").write_text(json.dumps(SERVERS))


def inner_servers_in_a_cache(folder: Path) -> None:
    (folder / ".DS_Store").mkdir()
    (folder / ".DS_Store/SKILL.md").write_bytes(make_skill("inner", mcpServers=SERVERS)["SKILL.md"])


def padded(folder: Path) -> None:
    (folder / ".claude-plugin").mkdir()
    with (folder / ".claude-plugin/plugin.json").open("wb") as file:
        file.truncate(60_000_000)  # more than is read of a folder


ON_DISK: list[Callable[[Path], None]] = [
    link_inside, link_to_a_link, inner_skill_in_a_cache, inner_servers_in_a_cache, padded
]  # fmt: skip


@pytest.mark.parametrize("change", ON_DISK, ids=lambda change: change.__name__)
@pytest.mark.parametrize("way", ["local", "live link", "edited", "changed later"])
def test_a_folder_with_a_manifest_is_not_linked(
    project: CommandSandbox, evil: str, way: str, change: Callable[[Path], None]
) -> None:
    """Neither linked nor copied, and what was there before goes. BRUTUS gets copies."""
    folder = project.work / ("mine/evil" if way == "live link" else ".agent-skills/evil")
    if way in {"edited", "changed later"}:
        project.run("install", evil, "--files", "*", "--files", "!.claude-plugin", check=True)
    else:
        project.write_files(prefix_paths(str(folder.relative_to(project.work)), make_skill("evil")))
    if way == "changed later":
        project.run("link", "claude-code", "brutus", check=True)
    change(folder)
    installed = project.run("install", "--link", "./mine/evil").stderr if way == "live link" else ""

    linked = project.run("link", "claude-code", "brutus").stderr

    reason = "is over 25000000 bytes" if (way, change) == ("live link", padded) else "host-manifest: "
    assert reason in installed + linked
    assert [entry for host in (".claude", ".opencode") for entry in (project.work / host).glob("skills/*")] == []
