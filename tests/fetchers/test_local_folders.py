"""Skills from local folders: what is included, what is left out, what is refused."""

import os
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import git, make_skill, prefix_paths
from kit.sandbox import CANNOT_DROP_RIGHTS, without_rights


@pytest.fixture
def folder(project: Project) -> Path:
    """The folder `mine` in the project, which is a skill."""
    project.write_files(prefix_paths("mine", make_skill("mine")))
    return project.work / "mine"


def names(project: Project) -> set[str]:
    return set(project.installed_files("mine"))


def test_files_and_executable_bits_are_copied(project: Project, folder: Path) -> None:
    files = {"run.sh": b"#!/bin/sh\r\n", "deep/er/x": bytes(range(256)), "a b [c].md": b"", "é.txt": b"x", "-rf": b"x"}
    project.write_files(prefix_paths("mine", files))
    (folder / "run.sh").chmod(0o4777)
    (folder / "deep/er/x").chmod(0o600)

    project.run("install", "./mine", check=True)

    assert project.installed_files("mine") == {
        "SKILL.md": ("100644", make_skill("mine")["SKILL.md"]),
        **{path: ("100755" if path == "run.sh" else "100644", content) for path, content in files.items()},
    }


def test_an_edit_is_seen_by_the_next_sync(project: Project, folder: Path) -> None:
    project.run("install", "./mine", check=True)
    (folder / "new.md").write_text("new\n")
    (folder / "SKILL.md").chmod(0o755)

    project.run("sync", check=True)

    assert project.installed_files("mine")["new.md"] == ("100644", b"new\n")
    assert project.installed_files("mine")["SKILL.md"][0] == "100755"


@pytest.mark.usefixtures("folder")
def test_files_no_skill_needs_are_left_out(project: Project) -> None:
    left_out = ["__pycache__/x.pyc", "lib/__pycache__/y.pyc", ".DS_Store", "docs/.DS_Store", ".git/config"]
    for path in [*left_out, ".agent-skills/other/SKILL.md"]:
        project.write(f"mine/{path}", "x")
    project.write("mine/.hidden", "kept")

    project.run("install", "./mine", check=True)

    assert names(project) == {"SKILL.md", ".hidden"}


RULES = {
    ".gitignore": "*.log\n/build/\nsecret/\n!secret/public.md\nnode_modules/\n# note\n\n\\#odd\ntrailing \n",
    "mine/.gitignore": "!kept.log\ntmp\n/only-top\n",
    "mine/docs/.gitignore": "*\n!*.md\n!.gitignore\n",
}
IGNORED = [
    "a.log", "deep/b.log", "secret/.env", "node_modules/x/index.js", "lib/node_modules/y.js", "tmp/x", "docs/x.png",
    "only-top", "deep/tmp", "#odd", "trailing",
]  # fmt: skip
KEPT = ["kept.log", "deep/kept.log", "build/x", "docs/x.md", "deep/only-top", "a.txt", "deep/.gitignore.md"]


@pytest.mark.usefixtures("folder")
def test_ignored_files_are_left_out(project: Project) -> None:
    git("init", "-q", str(project.work))
    project.write_files(RULES)
    for path in [*IGNORED, *KEPT]:
        project.write(f"mine/{path}", "x")

    project.run("install", "./mine", check=True)

    assert names(project) == {"SKILL.md", ".gitignore", "docs/.gitignore", *KEPT}
    untracked = git("ls-files", "--others", "--exclude-standard", "mine", cwd=project.work).splitlines()
    assert names(project) == {path.strip('"').removeprefix("mine/") for path in untracked}


@pytest.mark.usefixtures("folder")
def test_a_skill_in_an_ignored_folder_is_complete(project: Project) -> None:
    git("init", "-q", str(project.work))
    project.write(".gitignore", "/mine/\n*.log\n")
    project.write("mine/.gitignore", "*.tmp\n")
    for path in ("a.log", "b.tmp", "c.md"):
        project.write(f"mine/{path}", "x")

    project.run("install", "./mine", check=True)

    assert names(project) == {"SKILL.md", ".gitignore", "a.log", "c.md"}


@pytest.mark.usefixtures("folder")
def test_only_its_own_rules_apply_outside_git(project: Project) -> None:
    project.write(".gitignore", "*\n")
    project.write("mine/.gitignore", "*.tmp\n")
    project.write("mine/x.tmp", "x")

    project.run("install", "./mine", check=True)

    assert names(project) == {"SKILL.md", ".gitignore"}


@pytest.mark.usefixtures("folder")
def test_the_skill_file_itself_is_never_left_out(project: Project) -> None:
    git("init", "-q", str(project.work))
    project.write(".gitignore", "*.md\n")
    project.write("mine/notes.md", "x")

    project.run("install", "./mine", check=True)

    assert names(project) == {"SKILL.md"}


@pytest.mark.usefixtures("folder")
def test_odd_rules_are_harmless(project: Project) -> None:
    project.write("mine/.gitignore", b"!\n/\n**\n[\n\\\n***/x\n\xff\xfe\n" + b"(" * 5000)
    project.write("mine/a", "x")

    result = project.run("install", "./mine")

    assert result.code in {0, 1}
    assert "internal error" not in result.stderr


@pytest.mark.parametrize("what", ["pipe", "device", "folder", "endless"])
def test_a_gitignore_that_is_not_a_file(project: Project, folder: Path, what: str) -> None:
    rules = folder / ".gitignore"
    match what:
        case "pipe":
            os.mkfifo(rules)
        case "device":
            rules.symlink_to("/dev/zero")
        case "folder":
            rules.mkdir()
        case _:
            with rules.open("wb") as file:
                file.truncate(10**12)

    result, cost = project.run_measured("install", "./mine")

    assert result.code == (0 if what == "folder" else 1), result
    assert (cost.cpu_seconds < 5, cost.peak_megabytes < 100) == (True, True)


def test_a_nested_repository_has_rules_of_its_own(project: Project, folder: Path) -> None:
    git("init", "-q", str(project.work))
    project.write(".gitignore", "*.md\n")
    git("init", "-q", str(folder))

    project.run("install", "./mine", check=True)

    assert names(project) == {"SKILL.md"}


def test_links_inside_become_copies(project: Project, folder: Path) -> None:
    project.write("mine/docs/guide.md", "Guide.\n")
    (folder / "README.md").symlink_to("docs/guide.md")
    (folder / "manual").symlink_to("docs")

    project.run("install", "./mine", check=True)

    files = project.installed_files("mine")
    assert files["README.md"] == files["manual/guide.md"] == ("100644", b"Guide.\n")


@pytest.mark.parametrize("target", ["/etc/passwd", "../skills.json", "/dev/zero", "nothing", "."])
def test_links_that_leave_the_skill_are_refused(project: Project, folder: Path, target: str) -> None:
    (folder / "link").symlink_to(target)
    before = project.snapshot()

    result = project.run("install", "./mine")

    assert result.code == 1
    assert result.stderr.startswith("error: skill ")
    assert f"link 'link' -> '{target}'" in result.stderr
    assert project.snapshot() == before


def test_a_folder_that_is_itself_a_link_is_followed(project: Project, folder: Path) -> None:
    """The user named the link; but links inside it may still not leave it."""
    (project.work / "alias").symlink_to(folder)

    project.run("install", "./alias", check=True)

    assert names(project) == {"SKILL.md"}


def test_a_pipe_and_a_socket_never_hang(project: Project, folder: Path) -> None:
    os.mkfifo(folder / "pipe")

    result = project.run("install", "./mine")

    assert (result.code, result.stderr.splitlines()[0]) == (1, "error: skill mine: 'pipe' is not a regular file")


def test_a_skill_file_that_is_a_pipe_never_hangs(project: Project, folder: Path) -> None:
    (folder / "SKILL.md").unlink()
    os.mkfifo(folder / "SKILL.md")

    result = project.run("install", "./mine")

    assert (result.code, result.stderr.splitlines()[0]) == (1, "error: skill mine: 'SKILL.md' is not a regular file")


class OrdinaryProject(Project):
    """A project whose commands run with the rights of an ordinary user."""

    command = without_rights(Project.command)


@pytest.mark.usefixtures("folder")
@pytest.mark.skipif(CANNOT_DROP_RIGHTS, reason="root reads everything, and setpriv is missing")
def test_a_file_that_cannot_be_read_is_named(project: Project) -> None:
    project = OrdinaryProject(project.root)
    project.write("mine/secret", "x").chmod(0)

    result = project.run("install", "./mine")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        f"error: cannot read: Permission denied\n  skills: mine\n  where: {project.work}/mine/secret\n",
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("env", "files", "expected"),
    [
        ({"SKILLPM_MAX_FILE": "100"}, {"big": "x" * 101}, "'big' is over 100 bytes"),
        ({"SKILLPM_MAX_SKILL": "300"}, {"a": "x" * 150, "b": "x" * 150}, "all files together are over 300 bytes"),
        ({"SKILLPM_MAX_FILES": "2"}, {"a": "", "b": ""}, "more than 2 files"),
        ({}, {"d/" * 40 + "x": ""}, "deeper than 32 folders"),
        ({}, {"CON": ""}, "'CON' has a name that Windows reserves"),
        ({}, {"a": "", "A": ""}, "are the same on some systems"),
    ],
)
def test_limits_and_names_are_checked(
    project: Project, env: dict[str, str], files: dict[str, str], expected: str
) -> None:
    project.write_files(prefix_paths("mine", files))
    before = project.snapshot()

    result = project.run("install", "./mine", env=env)

    assert result.code == 1
    assert result.stderr.startswith("error: skill mine: ")
    assert expected in result.stderr
    assert project.snapshot() == before


def test_a_large_ignored_file_costs_nothing(project: Project, folder: Path) -> None:
    git("init", "-q", str(project.work))
    project.write(".gitignore", "*.bin\n")
    with (folder / "x.bin").open("wb") as file:
        file.truncate(10**12)

    project.run("install", "./mine", check=True)

    assert names(project) == {"SKILL.md"}


def test_a_file_that_reports_a_small_size_is_not_read_forever(project: Project, folder: Path) -> None:
    """Files in /proc report 0 bytes and contain more."""
    with (folder / "big.bin").open("wb") as file:
        file.truncate(10**12)

    result, cost = project.run_measured("install", "./mine")

    assert result.code == 1
    assert "'big.bin' is over 25000000 bytes" in result.stderr
    assert cost.peak_megabytes < 100


@pytest.mark.parametrize("spec", [".", "./", ".."])
def test_a_project_cannot_be_a_skill_of_itself(project: Project, spec: str) -> None:
    """Its lockfile would be part of the skill, and the skill's digest part of the lockfile."""
    project.write_files(make_skill("mine"))
    (project.work / "deeper").mkdir()
    before = project.snapshot()

    result = project.run("install", spec, "--project", str(project.work), cwd="deeper" if spec == ".." else ".")

    assert result.code == 1
    assert "contains the project that would install it" in result.stderr
    assert project.snapshot() == before


def test_a_project_may_be_linked_into_itself(project: Project) -> None:
    project.write_files(make_skill("mine"))

    project.run("install", ".", "--link", check=True)

    assert "nothing to do" in project.run("sync", check=True).stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [["./nothing"], ["./mine/SKILL.md"], ["./empty"]])
def test_a_folder_that_is_not_a_skill_is_an_error(project: Project, words: list[str]) -> None:
    (project.work / "empty").mkdir()

    result = project.run("install", *words)

    assert result.code == 1
    assert words[0].removeprefix("./").split("/")[0] in result.stderr


@pytest.mark.usefixtures("folder")
def test_the_error_for_a_folder_of_skills_lists_them(project: Project) -> None:
    project.write_files(prefix_paths("all/a", make_skill("a")) | prefix_paths("all/b", make_skill("b")))

    result = project.run("install", "./all")

    assert result.code == 1
    assert "all/a" in result.stderr
    assert "all/b" in result.stderr
