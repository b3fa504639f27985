"""`--json`: one object on stdout with its keys in order, nothing on stderr; errors are objects as well."""

import hashlib
import json
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, create_two_skills, nested_keys
from kit import Repository, make_skill, prefix_paths

CHANGED = ["changed", "scope", "directory", {"actions": ["action", "name", "from", "to", "reason"]}, "warnings"]
LISTED = ["name", "version", "description", "category", "path", "source", "digest", "state", "tokens", "links"]


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return create_two_skills(tmp_path_factory.mktemp("upstream"))


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory, upstream: Repository) -> CommandSandbox:
    project = CommandSandbox(tmp_path_factory.mktemp("ready") / "scene").create_project()
    project.run("install", f"{upstream.file_url}@pdf", check=True)
    project.run("link", "claude-code", check=True)
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "By hand.", category="house")))
    project.run("sync", check=True)
    return project


@pytest.fixture
def full(ready: CommandSandbox, upstream: Repository, tmp_path: Path) -> CommandSandbox:
    """Return a project with a linked skill from git and a local one."""
    ready.copy(tmp_path / "scene")
    scene = CommandSandbox(tmp_path / "scene")
    scene.placeholders = {upstream.file_url: "URL", **scene.placeholders}
    scene.run("sync", check=True)  # a copy of a cache says nothing of what was checked
    return scene


@pytest.mark.parametrize(
    "arguments",
    [
        ["install", "testing"],
        ["uninstall", "pdf"],
        ["sync"],
        ["update"],
        ["link", "codex"],
        ["unlink", "claude-code"],
        ["install"],
    ],
    ids=" ".join,
)
def test_changing_commands_print_the_same_object(full: CommandSandbox, arguments: list[str]) -> None:
    dry = full.json_output(*arguments, "--dry-run")
    done = full.json_output(*arguments)

    links = [{"links": ["made", "removed"]}] if "links" in done else []
    assert [key if key != "links" else {key: [*done[key]]} for key in nested_keys(done)] == [*CHANGED, *links]
    assert [key for key in nested_keys(dry) if key != "links"] == [*CHANGED, "dryRun"]
    assert dry.get("links") == done.get("links")
    assert dry["dryRun"] is True
    assert dry["changed"] is False
    assert (done["scope"], done["directory"]) == ("project", "WORK/.agent-skills")
    assert dry["actions"] == done["actions"]


def test_the_actions_of_an_install(full: CommandSandbox, upstream: Repository) -> None:
    commit = upstream.resolve("v1.0.0")[:7]

    assert full.json_output("install", "testing") == {
        "changed": True,
        "scope": "project",
        "directory": "WORK/.agent-skills",
        "actions": [
            {"action": "keep", "name": "mine", "from": "", "to": "", "reason": ""},
            {"action": "keep", "name": "pdf", "from": commit, "to": commit, "reason": ""},
            {"action": "add", "name": "testing", "from": "", "to": "1.0.0", "reason": ""},
        ],
        "warnings": [],
        "links": {"made": [".claude/skills/testing"], "removed": []},
    }


def test_warnings_are_part_of_the_object(full: CommandSandbox) -> None:
    full.write("skills.json", full.read("skills.json").replace('"agents"', '"extra": 1, "agents"'))

    assert full.json_output("sync")["warnings"] == ["WORK/skills.json: unknown key `extra`; it is kept"]


def test_lock(full: CommandSandbox) -> None:
    nothing = {"changed": False, "upToDate": True, "skills": [], "reasons": [], "warnings": []}
    assert list(full.json_output("lock").items()) == [*nothing.items()]
    full.write("skills.json", full.read("skills.json").replace('"pdf":', '"testing": {"bundled": true}, "pdf":'))

    check = full.run("lock", "--check", "--json")
    outdated = nothing | {"upToDate": False, "reasons": ["`testing` is not locked"]}
    assert (check.code, check.json) == (1, outdated | {"proved": [], "unproved": []})
    rows = [{"name": "testing", "from": "", "to": "1.0.0"}]
    assert full.json_output("lock", "--dry-run") == outdated | {"skills": rows}
    assert full.json_output("lock") == outdated | {"changed": True, "skills": rows}


def test_list(full: CommandSandbox, upstream: Repository) -> None:
    commit, digest = upstream.resolve("v1.0.0"), full.read_json("skills.lock")["skills"]["pdf"]["digest"]

    listing = full.json_output("list")

    assert nested_keys(listing) == ["scope", "directory", {"skills": LISTED}]
    assert listing["skills"] == [
        {
            "name": "mine",
            "version": "",
            "description": "By hand.",
            "category": "house",
            "path": "WORK/.agent-skills/mine",
            "source": "",
            "digest": "",
            "state": "unmanaged",
            "tokens": 3,
            "links": [".claude/skills/mine"],
        },
        {
            "name": "pdf",
            "version": commit[:7],
            "description": "Reads PDF files.",
            "category": "general",
            "path": "WORK/.agent-skills/pdf",
            "source": f"git+URL@{commit}#subdirectory=skills/pdf",
            "digest": digest,
            "state": "installed",
            "tokens": 3,
            "links": [".claude/skills/pdf"],
        },
    ]


def test_the_states_in_a_list(full: CommandSandbox) -> None:
    full.run("install", "testing", "code-review", "api-design", check=True)
    full.write(".agent-skills/testing/SKILL.md", make_skill("testing")["SKILL.md"])
    (full.work / ".agent-skills/code-review").rename(full.root / "gone")
    manifest = full.read("skills.json")
    full.write("skills.json", manifest.replace('"agents"', '"disabled": {"api-design": true}, "agents"'))

    states = {entry["name"]: entry["state"] for entry in full.json_output("list")["skills"]}

    assert states == {
        "api-design": "disabled",
        "code-review": "missing",
        "mine": "unmanaged",
        "pdf": "installed",
        "testing": "modified",
    }


def test_show(full: CommandSandbox) -> None:
    full.write(".agent-skills/pdf/notes.md", "Mine.\n")

    shown = full.json_output("show", "pdf")

    assert nested_keys(shown) == [
        *LISTED, "frontmatter", "requires",
        "needs", "available", "missing", "dependencies",
        {"files": ["path", "size", "digest", "executable", "state"]}, "warnings",
    ]  # fmt: skip
    assert shown["frontmatter"] == {"name": "pdf", "description": "Reads PDF files."}
    assert (shown["requires"], shown["available"], shown["dependencies"], shown["warnings"]) == ([], True, {}, [])
    assert [(file["path"], file["size"], file["executable"], file["state"]) for file in shown["files"]] == [
        ("SKILL.md", 60, False, "ok"),
        ("notes.md", 6, False, "extra"),
        ("scripts/read.sh", 20, True, "ok"),
    ]


def test_the_warnings_of_show_have_a_code_and_a_line(full: CommandSandbox) -> None:
    full.write(".agent-skills/odd/SKILL.md", "---\ndescription: Nameless.\n---\n")

    assert full.json_output("show", "odd")["warnings"] == [
        {"code": "missing-name", "message": "missing name; the folder's name is used", "line": 1}
    ]


def test_diff(full: CommandSandbox, upstream: Repository) -> None:
    first = upstream.resolve("v1.0.0")[:7]
    full.write(".agent-skills/pdf/notes.md", "Mine.\n")
    added = "--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+Mine."

    assert list(full.json_output("diff", "pdf").items()) == [
        ("name", "pdf"),
        ("from", first),
        ("to", "on disk"),
        ("files", [{"path": "notes.md", "change": "added", "diff": added}]),
    ]
    upstream.write({"skills/pdf/logo.png": b"\xff"}).commit()
    assert full.json_output("diff", "pdf", "--update") == {
        "name": "pdf",
        "from": first,
        "to": upstream.resolve("main")[:7],
        "files": [{"path": "logo.png", "change": "added", "diff": ""}],
        "capabilities": [],
    }


def test_verify(full: CommandSandbox) -> None:
    locked = full.read_json("skills.lock")["skills"]["pdf"]
    record = {
        "version": locked.get("version", ""),
        "digest": locked["digest"],
        "source": locked["source"],
        "commit": locked["source"].get("commit", ""),
        "signer": "",
        "reviewers": [],
    }
    checksum = hashlib.sha256((full.work / "skills.lock").read_bytes()).hexdigest()
    place = {
        "scope": "project",
        "directory": "WORK/.agent-skills",
        "lockfile": {"path": "WORK/skills.lock", "sha256": checksum},
        "policies": [],
    }
    assert full.json_output("verify") == {
        "ok": True,
        "skills": [{"name": "pdf", "state": "ok", "files": [], **record}],
        **place,
    }
    full.write(".agent-skills/pdf/notes.md", "Mine.\n")

    result = full.run("verify", "--json")

    assert (result.code, result.stderr) == (1, "")
    assert list(result.json) == ["ok", "skills", *place]
    (skill,) = result.json["skills"]
    assert (result.json["ok"], skill["state"]) == (False, "modified")
    assert skill["files"] == [{"path": "notes.md", "state": "extra"}]
    assert list(skill) == ["name", "state", "files", *record]


def test_registry(full: CommandSandbox) -> None:
    full.write(".agent-skills/broken/SKILL.md", "words")
    problem = {"path": "broken/SKILL.md", "message": "line 1: the file does not begin with a `---` line"}

    assert list(full.json_output("registry", "check").items()) == [
        ("ok", True), ("missing", []), ("stale", []), ("extra", []), ("problems", [problem]),
    ]  # fmt: skip
    assert full.json_output("registry", "build") == {"changed": False, "skills": 2, "problems": [problem]}
    full.write_files(prefix_paths(".agent-skills/new", make_skill("new")))
    assert full.run("registry", "check", "--json").json["missing"] == ["new"]
    assert list(full.json_output("registry", "build").items()) == [
        ("changed", True),
        ("skills", 3),
        ("problems", [problem]),
    ]


def test_agents(full: CommandSandbox) -> None:
    (full.home / ".glm").mkdir()

    agents = full.json_output("agents")

    assert nested_keys(agents) == [{"agents": ["id", "projectDir", "userDir", "present", "linked", "shares"]}]
    ids = [agent["id"] for agent in agents["agents"]]
    assert ids == sorted(ids)
    by_id = {agent["id"]: agent for agent in agents["agents"]}
    assert by_id["claude-code"] == {
        "id": "claude-code",
        "projectDir": ".claude/skills",
        "userDir": "~/.claude/skills",
        "present": True,
        "linked": True,
        "shares": [],
    }
    assert (by_id["glm"]["present"], by_id["glm"]["linked"]) == (True, False)
    assert by_id["omega"]["projectDir"] is None


def test_backups(full: CommandSandbox) -> None:
    assert full.json_output("backup", "list") == {"backups": []}
    full.write(".agent-skills/pdf/notes.md", "Mine.\n")
    full.run("sync", "--force", check=True)

    listed = full.json_output("backup", "list")
    since = listed["backups"][0]["since"]
    assert listed == {
        "backups": [
            {"id": "pdf-1", "name": "pdf", "path": "WORK/.agent-skills/.skillpm/backup/pdf-1", "origin": ""}
            | {"version": "", "since": since}
        ]
    }
    restored = full.json_output("backup", "restore", "pdf-1")
    assert nested_keys(restored) == CHANGED
    assert [(action["action"], action["name"], action["to"]) for action in restored["actions"]] == [
        ("keep", "mine", ""),
        ("update", "pdf", "pdf-1"),
    ]


def test_init(scene: CommandSandbox) -> None:
    assert scene.json_output("init") == {"created": ["WORK/skills.json"]}


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["install", "zzzzz"], "not-found", 1),
        (["install", "URL"], "choose", 1),
        (["install", "URL@docx", "--as", "pdf"], "conflict", 1),
        (["install", "No SPEC"], "usage", 2),
        (["install", "--no-such-option"], "usage", 2),
        (["show"], "usage", 2),
        (["show", "zzz"], "not-found", 1),
        (["nonsense"], "usage", 2),
        (["sync", "--locked", "--frozen"], "usage", 2),
        (["backup", "restore", "zzz"], "not-found", 1),
        (["link", "zzz"], "usage", 2),
        (["list", "--project", "zzz"], "not-found", 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_failure_is_an_object_with_a_stable_code(
    full: CommandSandbox, arguments: list[str], code: str, exit_code: int
) -> None:
    words = [word.replace("URL", next(iter(full.placeholders))) for word in arguments]

    failed = full.run(*words, "--json")
    plain = full.run(*words)

    assert (failed.code, failed.stderr) == (exit_code, "")
    assert list(failed.json) == ["error"]
    assert list(failed.json["error"]) == ["code", "message", "where", "hint", "skills"]
    assert failed.json["error"]["code"] == code
    error = failed.json["error"]
    where = f"  where: {error['where']}\n" if error["where"] else ""
    expected = f"error: {error['message']}\n{where}  hint: {error['hint']}\n"
    assert (plain.code, plain.stdout, plain.stderr) == (exit_code, "", expected)


def test_edits_lockfiles_and_digests_have_their_own_codes(full: CommandSandbox) -> None:
    full.write(".agent-skills/pdf/notes.md", "Mine.\n")
    assert full.run("sync", "--frozen", "--json").json["error"]["code"] == "modified"
    (full.work / ".agent-skills/pdf/notes.md").unlink()

    lockfile = full.read("skills.lock")
    digest = json.loads(lockfile)["skills"]["pdf"]["digest"]
    full.write("skills.lock", lockfile.replace(digest, "sha256:" + "0" * 64))
    assert full.run("sync", "--json").json["error"]["code"] == "digest-mismatch"
    full.write("skills.lock", lockfile.replace('"version": 1', '"version": 2'))
    assert full.run("sync", "--json").json["error"]["code"] == "newer-format"
    full.write("skills.lock", "{")
    assert full.run("sync", "--json").json["error"]["code"] == "document"
    (full.work / "skills.lock").unlink()
    assert full.run("sync", "--locked", "--json").json["error"]["code"] == "lockfile-outdated"
