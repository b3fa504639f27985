"""A workspace: one lockfile for a root and its members, each with its own manifest and skills directory (ADR 33)."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox, manifest_text
from kit import GitServer, Repository, git, make_skill, prefix_paths

OTHERS = (".", "packages/a", "packages/b")


def required(url: str, *names: str, **more: Any) -> str:
    """Return a manifest that requires these skills of a repository."""
    return manifest_text(**{name: {"git": url, "path": f"skills/{name}", **more} for name in names})


def root_manifest(url: str, *names: str, members: tuple[str, ...] = ("packages/*",), **more: Any) -> str:
    """Return a manifest with members."""
    return json.dumps({**json.loads(required(url, *names)), "members": members, **more})


@pytest.fixture
def workspace(scene: CommandSandbox, served: str, upstream: Repository) -> CommandSandbox:
    """Return a repository with a root, which requires `docx`, and two members, which require `pdf` and both."""
    scene.placeholders = {git("rev-parse", "HEAD", cwd=upstream.path)[:7]: "COMMIT", **scene.placeholders}
    scene.write(".git/HEAD", "ref: refs/heads/main\n")
    scene.write("skills.json", root_manifest(served, "docx"))
    scene.write("packages/a/skills.json", required(served, "pdf"))
    scene.write("packages/b/skills.json", required(served, "pdf", "docx"))
    scene.write("packages/no-project/readme.txt", "nothing")
    return scene


def installed(scene: CommandSandbox, *folders: str) -> list[list[str]]:
    """Return the names of the installed skills of projects."""
    listings = [scene.json_output("list", cwd=folder)["skills"] for folder in folders]
    return [[skill["name"] for skill in skills if skill["state"] == "installed"] for skills in listings]


# At the root


def test_an_own_lockfile_of_a_member_is_named_until_it_is_deleted(workspace: CommandSandbox) -> None:
    workspace.write("packages/a/skills.lock", '{"version": 1, "requirements": {}, "skills": {}}')
    own, shared = "WORK/packages/a/skills.lock", "WORK/skills.lock"
    warning = f"! warning: {own} is not used: {shared} locks the skills of all members; delete it"

    for _ in range(2):
        assert workspace.output("sync").splitlines().count(warning) == 1
    (workspace.work / "packages/a/skills.lock").unlink()
    assert "not used" not in workspace.output("sync")


def test_sync_in_the_root_serves_all_members_with_the_requests_of_one_project(
    workspace: CommandSandbox, server: GitServer, served: str
) -> None:
    output = workspace.output("sync")

    of_all = [request.path for request in server.requests]
    assert [line for line in output.splitlines() if "next:" not in line] == [
        " + docx COMMIT",
        "added 1; total: 1 skill in WORK/.agent-skills",
        " + pdf COMMIT",
        "added 1; total: 1 skill in WORK/packages/a/.agent-skills",
        " + docx COMMIT",
        " + pdf COMMIT",
        "added 2; total: 2 skills in WORK/packages/b/.agent-skills",
    ]
    assert installed(workspace, *OTHERS) == [["docx"], ["pdf"], ["docx", "pdf"]]
    lockfile = workspace.read_json("skills.lock")
    assert [*lockfile] == ["version", "requirements", "members", "skills"]
    assert lockfile["members"]["packages/a"] == {"requirements": {"pdf": {"git": "URL", "path": "skills/pdf"}}}
    assert not workspace.exists("packages/a/skills.lock")

    workspace.write("alone/skills.json", required(served, "docx", "pdf"))
    server.clear_requests()
    workspace.run("sync", "--project", "alone", env={"SKILLPM_CACHE_DIR": str(workspace.home / "cache2")}, check=True)
    assert of_all == [request.path for request in server.requests]


def test_sync_with_nothing_to_do_removes_what_a_killed_command_left_of_the_lockfile(workspace: CommandSandbox) -> None:
    workspace.run("sync", check=True)
    before = workspace.full_snapshot
    workspace.write("skills.lock.4194305.tmp", "half")  # no process has this number

    assert workspace.output("sync").startswith("nothing to do")
    assert workspace.full_snapshot == before


def test_sync_with_nothing_to_do_says_so_and_asks_nobody(workspace: CommandSandbox, server: GitServer) -> None:
    workspace.run("sync", check=True)
    before = workspace.full_snapshot
    server.clear_requests()

    for arguments in ((), ("--frozen",), ("--locked",), ("--offline",)):
        assert workspace.output("sync", *arguments) == (
            "nothing to do: 1 skill in WORK/.agent-skills\nnothing to do in 2 members\n"
        )
    assert (workspace.full_snapshot, server.requests) == (before, [])
    assert workspace.json_output("sync")["members"]["packages/a"] == {
        "changed": False,
        "scope": "project",
        "directory": "WORK/packages/a/.agent-skills",
        "actions": [{"action": "keep", "name": "pdf", "from": "COMMIT", "to": "COMMIT", "reason": ""}],
        "warnings": [],
    }


def test_a_root_without_skills_gets_no_skills_directory(workspace: CommandSandbox) -> None:
    workspace.write("skills.json", '{"skills": {}, "members": ["packages/a"]}')

    assert workspace.output("sync").splitlines()[0] == "lockfile brought up to date: 0 skills in WORK/.agent-skills"
    assert sorted(path.name for path in workspace.work.iterdir()) == [".git", "packages", "skills.json", "skills.lock"]
    assert workspace.run("list").stderr.splitlines()[-1] == "1 member with own skills: packages/a"
    assert workspace.json_output("list")["members"] == ["packages/a"]


def test_update_in_the_root_updates_the_skills_of_all(workspace: CommandSandbox, upstream: Repository) -> None:
    workspace.run("sync", check=True)
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads more.")))
    upstream.commit("second")

    assert "pdf" in {row["name"] for row in workspace.json_output("outdated")["skills"]}
    assert workspace.run("update", "pdf", check=True).stdout.count("~ pdf") == 2
    assert "Reads more." in workspace.read("packages/a/.agent-skills/pdf/SKILL.md")
    assert workspace.run("verify", cwd="packages/b").code == 0


def test_the_root_knows_what_each_manifest_requires(workspace: CommandSandbox) -> None:
    workspace.run("sync", check=True)

    assert workspace.output("tree") == "docx COMMIT\npdf COMMIT\n"
    assert workspace.output("tree", "--why", "docx") == "skills.json and packages/b/skills.json → docx\n"
    assert workspace.output("tree", "--why", "pdf", cwd="packages/a") == "packages/a/skills.json → pdf\n"


# In a member


def test_sync_in_a_member_serves_it_alone_with_the_lockfile_of_the_root(workspace: CommandSandbox) -> None:
    workspace.run("sync", cwd="packages/a", check=True)

    assert [*workspace.read_json("skills.lock")["skills"]] == ["docx", "pdf"]
    assert installed(workspace, "packages/a") == [["pdf"]]
    for path in ("packages/b/.agent-skills", ".agent-skills", "packages/a/skills.lock"):
        assert not workspace.exists(path)
    for arguments in (("--frozen",), ("--locked",)):
        assert workspace.output("sync", *arguments, cwd="packages/a") == (
            "nothing to do: 1 skill in WORK/packages/a/.agent-skills\n"
        )


def test_install_and_uninstall_in_a_member_edit_its_manifest_and_the_lockfile_of_the_root(
    workspace: CommandSandbox, served: str
) -> None:
    workspace.run("sync", check=True)

    workspace.run("install", f"{served}@docx", "--project", "packages/a", check=True)
    workspace.run("uninstall", "pdf", cwd="packages/a", check=True)

    assert [*workspace.read_json("packages/a/skills.json")["skills"]] == ["docx"]
    assert [*workspace.read_json("skills.lock")["members"]["packages/a"]["requirements"]] == ["docx"]
    assert workspace.run("sync", "--locked", env={"CI": "1"}).code == 0
    assert workspace.output("uninstall", "pdf", cwd="packages/a") == (
        "! error: `pdf` is not installed in project scope\n!   hint: installed: docx\n[1]\n"
    )
    assert installed(workspace, *OTHERS) == [["docx"], ["docx"], ["docx", "pdf"]]


def test_update_in_a_member_names_the_others_for_which_the_lockfile_changed(
    workspace: CommandSandbox, upstream: Repository
) -> None:
    workspace.run("sync", check=True)
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads more.")))
    upstream.commit("second")

    assert workspace.output("update", cwd="packages/a").splitlines()[1:] == [
        "updated 1; total: 1 skill in WORK/packages/a/.agent-skills",
        "! skills.lock has also changed for packages/b; run `skillpm -C WORK sync` to install the changes there",
    ]
    assert [line for line in workspace.output("sync").splitlines() if "~" not in line] == [
        "nothing to do: 1 skill in WORK/.agent-skills",
        "updated 1; total: 2 skills in WORK/packages/b/.agent-skills",
        "nothing to do in 1 other member",
    ]
    assert "pdf" not in {row["name"] for row in workspace.json_output("outdated", cwd="packages/b")["skills"]}


def test_a_relative_path_of_a_member_starts_at_its_manifest(workspace: CommandSandbox) -> None:
    workspace.write_files(prefix_paths("packages/a/skills/own", make_skill("own")))
    workspace.run("install", "./skills/own", "../a/skills/own/../own", cwd="packages/a", check=True)

    assert workspace.read_json("packages/a/skills.json")["skills"]["own"] == {"path": "./skills/own"}
    locked = workspace.read_json("skills.lock")
    assert locked["members"]["packages/a"]["requirements"]["own"] == {"path": "packages/a/skills/own"}
    assert locked["skills"]["own"]["source"] == {"path": "packages/a/skills/own"}
    workspace.write_files(prefix_paths("packages/a/skills/own", make_skill("own", "Changed.")))
    assert workspace.run("sync", "--locked").code == 1
    workspace.run("sync", check=True)
    assert "Changed." in workspace.read("packages/a/.agent-skills/own/SKILL.md")
    workspace.run("install", "./skills/own", "--link", "--force", cwd="packages/a", check=True)
    assert (workspace.work / "packages/a/.agent-skills/own").resolve() == workspace.work / "packages/a/skills/own"
    assert workspace.run("verify", cwd="packages/a").code == 0


def test_includes_of_the_root_belong_to_the_root(workspace: CommandSandbox, served: str, upstream: Repository) -> None:
    workspace.write("skills.json", root_manifest(served, include=[{"git": served}]))
    assert workspace.output("sync", cwd="packages/a") == (
        "! error: the skills of URL are not locked\n!   where: WORK/skills.json\n"
        "!   hint: run `skillpm -C WORK lock` first\n[1]\n"
    )
    workspace.run("sync", check=True)
    assert installed(workspace, *OTHERS) == [["docx", "pdf"], ["pdf"], ["docx", "pdf"]]
    workspace.run("uninstall", "docx", cwd="packages/b", check=True)
    upstream.write(prefix_paths("skills/new", make_skill("new")))
    upstream.commit("second")
    workspace.run("update", cwd="packages/a", check=True)
    assert workspace.run("sync", "--locked", check=True).stdout.splitlines()[-1] == "nothing to do in 2 members"
    workspace.run("update", check=True)
    assert installed(workspace, *OTHERS) == [["docx", "new", "pdf"], ["pdf"], ["pdf"]]


def test_use_in_a_member_resolves_a_path_from_its_folder(workspace: CommandSandbox) -> None:
    workspace.write_files(prefix_paths("packages/a/skills/own", make_skill("own", body="Own words.\n")))

    assert "Own words." in workspace.run("load", "./skills/own", cwd="packages/a", check=True).stdout


def test_lock_in_a_member_is_lock_in_the_root(workspace: CommandSandbox) -> None:
    assert workspace.output("lock", cwd="packages/a") == (" + docx COMMIT\n + pdf COMMIT\nWORK/skills.lock written\n")
    assert workspace.run("lock", "--check", cwd="packages/b").code == 0
    assert not workspace.exists("packages/a/.agent-skills")


# One version of each skill


def test_a_conflict_names_both_manifests(workspace: CommandSandbox, upstream: Repository, served: str) -> None:
    for version in ("1.1.0", "2.0.0"):
        upstream.write(prefix_paths("skills/pdf", make_skill("pdf", version)))
        upstream.commit(version)
        upstream.tag(f"v{version}")
    workspace.write("packages/a/skills.json", required(served, "pdf", version="^1"))
    workspace.write("packages/b/skills.json", required(served, "pdf", version=">=1.1"))
    workspace.run("sync", check=True)
    assert workspace.read_json("skills.lock")["skills"]["pdf"]["version"] == "1.1.0"

    workspace.write("packages/b/skills.json", required(served, "pdf", version="^2"))
    before = workspace.read("skills.lock")
    for arguments, folder in ((("sync",), "."), (("sync",), "packages/b"), (("lock",), ".")):
        assert workspace.output(*arguments, cwd=folder) == (
            "! error: packages/a/skills.json requires `pdf` ^1 from URL (skills/pdf) and packages/b/skills.json "
            "requires `pdf` ^2 from URL (skills/pdf); no version of `pdf` satisfies both; available: 2.0.0, 1.1.0 and "
            "1.0.0\n"
            "!   where: packages/a/skills.json: skills.pdf\n"
            "!   hint: require another version in one of these manifests, or override what the skills require: "
            '"overrides": {"pdf": "…"} in skills.json\n[1]\n'
        )
    assert workspace.read("skills.lock") == before


def test_every_manifest_must_allow_what_is_locked(
    workspace: CommandSandbox, server: GitServer, upstream: Repository
) -> None:
    workspace.run("sync", check=True)
    other = server.serve("other/skills", upstream)
    workspace.write("packages/a/skills.json", required(other, "pdf"))

    assert "specifies another source" in workspace.output("sync", "--frozen")
    assert "the requirement of packages/a on `pdf` has changed since it was locked" in workspace.output(
        "sync", env={"CI": "1"}
    )


def test_lock_merges_the_members_of_both_sides(workspace: CommandSandbox, served: str) -> None:
    workspace.write("packages/c/skills.json", required(served, "docx"))
    workspace.run("lock", check=True)
    whole = workspace.read("skills.lock")
    (workspace.work / "packages/b/skills.json").rename(workspace.work / "b.json")
    workspace.run("lock", check=True)
    ours = workspace.read("skills.lock")
    (workspace.work / "b.json").rename(workspace.work / "packages/b/skills.json")
    (workspace.work / "packages/c/skills.json").rename(workspace.work / "c.json")
    workspace.run("lock", check=True)
    theirs = workspace.read("skills.lock")
    (workspace.work / "c.json").rename(workspace.work / "packages/c/skills.json")
    workspace.write("skills.lock", f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")

    workspace.run("lock", check=True)

    assert workspace.read("skills.lock") == whole


# Which folders are members


def test_members_that_come_and_go(workspace: CommandSandbox, served: str) -> None:
    workspace.run("sync", check=True)
    workspace.write("packages/c/skills.json", required(served, "docx"))
    (workspace.work / "packages/b").rename(workspace.work / "away")

    assert workspace.output("sync", "--locked").splitlines()[0] == (
        "! error: the lockfile is not up to date: packages/c is not locked as a member; "
        "packages/b is locked but no longer a member"
    )
    workspace.run("sync", check=True)
    assert [*workspace.read_json("skills.lock")["members"]] == ["packages/a", "packages/c"]
    assert installed(workspace, "packages/c") == [["docx"]]


def test_a_project_that_no_pattern_matches_is_on_its_own(workspace: CommandSandbox, served: str) -> None:
    workspace.write("tools/x/skills.json", required(served, "pdf"))
    workspace.write("packages/own/skills.json", required(served, "pdf"))
    workspace.write("packages/own/.git/HEAD", "ref: refs/heads/main\n")
    (workspace.work / "packages/link").symlink_to("../tools/x")
    for folder in ("tools/x", "packages/own", "packages/link"):
        workspace.run("sync", "--project", folder, check=True)
    workspace.run("sync", check=True)

    assert workspace.exists("tools/x/skills.lock")
    assert workspace.exists("packages/own/skills.lock")
    assert [*workspace.read_json("skills.lock")["members"]] == ["packages/a", "packages/b"]


def test_a_pattern_without_a_member_is_reported_at_the_root(workspace: CommandSandbox, served: str) -> None:
    workspace.write("skills.json", root_manifest(served, members=("packages/a", "libs/*")))

    warning = "! warning: WORK/skills.json: members: no folder with a skills.json matches `libs/*`"
    assert warning in workspace.output("sync").splitlines()
    assert warning not in workspace.output("sync", cwd="packages/a").splitlines()


def test_outside_of_git_a_folder_belongs_to_a_root_of_the_same_owner(workspace: CommandSandbox) -> None:
    (workspace.work / ".git/HEAD").unlink()
    (workspace.work / ".git").rmdir()
    workspace.run("sync", cwd="packages/a", check=True)

    assert workspace.exists("skills.lock")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("../x", "has an empty, `.` or `..` part"),
        ("packages/../../x", "has an empty, `.` or `..` part"),
        ("/etc", "is absolute or empty"),
        ("C:\\x", "has a backslash or a colon"),
        (".", "has an empty, `.` or `..` part"),
        ("packages/.cache", "has a hidden folder"),
        ("packages/**", "has `**`"),
    ],
)
def test_a_pattern_stays_below_the_root(workspace: CommandSandbox, pattern: str, problem: str) -> None:
    workspace.write("skills.json", json.dumps({"members": [pattern], "skills": {}}))

    assert workspace.output("sync") == (
        f"! error: the pattern `{pattern}` {problem}\n"
        "!   where: WORK/skills.json:1:14: members.0\n"
        '!   hint: members are folders below this one, as in "packages/*" or "tools/linter"; a `*` matches one level\n'
        "[1]\n"
    )


@pytest.mark.parametrize("name", ["evil", "a/.agent-skills"])
def test_nothing_is_written_through_a_link_out_of_the_root(
    workspace: CommandSandbox, name: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "skills.json").write_text('{"skills": {}}')
    (workspace.work / "packages" / name).symlink_to(outside)
    before = workspace.full_snapshot

    assert f"WORK/packages/{name} is a link that points outside the project" in workspace.output("sync")
    assert workspace.full_snapshot == before
    assert [path.name for path in outside.iterdir()] == ["skills.json"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("members", ["x"]),
        ("overrides", {"pdf": "1"}),
        ("exclude-newer", "7 days"),
        ("indexes", []),
        ("include", [{"git": "https://x.example/y"}]),
    ],
)
def test_what_the_root_decides_is_not_decided_in_a_member(workspace: CommandSandbox, key: str, value: Any) -> None:
    value = value or [{"name": "acme", "url": "https://acme.example/"}]
    workspace.write("packages/b/skills.json", json.dumps({"skills": {}, key: value}))
    error = (
        f"! error: only the root manifest of a workspace can have `{key}`, and this is the manifest of a member\n"
        f"!   where: WORK/packages/b/skills.json:1:16: {key}\n"
        "!   hint: move it to WORK/skills.json, or take this folder out of `members` there\n[1]\n"
    )

    assert workspace.output("sync") == error
    assert workspace.output("sync", cwd="packages/b") == error


def test_user_scope_has_no_members(scene: CommandSandbox) -> None:
    scene.write("../home/.config/skillpm/skills.json", '{"skills": {}, "members": ["x"]}')

    assert scene.output("sync", "-g").splitlines()[0] == "! error: user scope has no members"


# All or nothing, for each directory


def test_a_blocked_skill_of_a_member_stops_everything(workspace: CommandSandbox, upstream: Repository) -> None:
    workspace.run("sync", check=True)
    workspace.write("packages/b/.agent-skills/pdf/SKILL.md", "my own words")
    upstream.write(prefix_paths("skills/docx", make_skill("docx", "New.")))
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "New.")))
    upstream.commit("second")
    workspace.run("lock", "--upgrade", check=True)
    before = [workspace.read(f"{folder}/.agent-skills/.skillpm/receipt.json") for folder in OTHERS]

    result = workspace.run("sync")

    assert (result.code, result.stdout) == (1, "")
    assert "skillpm diff --project packages/b pdf" in result.stderr
    assert [workspace.read(f"{folder}/.agent-skills/.skillpm/receipt.json") for folder in OTHERS] == before


def test_a_member_that_fails_is_named_and_completed_by_the_next_sync(
    workspace: CommandSandbox, served: str, upstream: Repository
) -> None:
    workspace.write("packages/c/skills.json", required(served, "pdf"))
    workspace.run("sync", check=True)
    workspace.write("packages/b/.agent-skills/pdf/SKILL.md", "my own words")
    workspace.write("packages/b/.agent-skills/.skillpm/backup", "a file, where backups should be")
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "New.")))
    upstream.commit("second")

    failed = workspace.output("update", "pdf", "--force")

    assert failed == (
        "! error: packages/b: cannot install: File exists\n"
        "!   where: WORK/packages/b/.agent-skills/.skillpm/backup\n"
        "!   hint: done: packages/a; not done: packages/b, packages/c; `skillpm sync` completes them\n[1]\n"
    )
    pdf = "packages/{}/.agent-skills/pdf/SKILL.md"
    assert ["New." in workspace.read(pdf.format(folder)) for folder in "abc"] == [True, False, False]
    (workspace.work / "packages/b/.agent-skills/.skillpm/backup").unlink()
    workspace.run("sync", "--force", check=True)
    assert ["New." in workspace.read(pdf.format(folder)) for folder in "abc"] == [True] * 3
    assert workspace.output("sync", "--locked").splitlines()[0] == "nothing to do: 1 skill in WORK/.agent-skills"
