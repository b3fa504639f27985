"""Skills of Python packages: what is found in a virtual environment, what is locked, what is refused."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import Files, make_skill, prefix_paths
from kit.packages import SITE_PACKAGES, install_distribution

FOLDER = "fastapi/.agents/skills/fastapi"
FILES: Files = {
    **prefix_paths(FOLDER, make_skill("fastapi") | {"references/a.md": "A\n"}),
    "fastapi/__init__.py": "1 / 0\n",
}
NEWER: Files = {**FILES, **prefix_paths(FOLDER, make_skill("fastapi", body="Do it better.\n"))}


@pytest.fixture
def site(project: Project) -> Path:
    """The site-packages of the project, with fastapi 0.165.0."""
    return install_distribution(project.work, "fastapi", "0.165.0", FILES)


@pytest.mark.usefixtures("site")
def test_a_skill_is_locked_by_package_version_and_digest(project: Project) -> None:
    result = project.run("install", "env:fastapi", check=True)

    assert result.stdout == f" + fastapi 0.165.0\nadded 1; total: 1 skill in {project.work}/.agent-skills\n"
    assert json.loads(project.read("skills.json"))["skills"] == {"fastapi": {"env": "fastapi"}}
    locked = json.loads(project.read("skills.lock"))["skills"]["fastapi"]
    assert locked.pop("digest").startswith("sha256:")
    assert locked == {"version": "0.165.0", "source": {"env": "fastapi", "version": "0.165.0", "path": FOLDER}}
    assert project.installed_files("fastapi") == {
        "SKILL.md": ("100644", make_skill("fastapi")["SKILL.md"]),
        "references/a.md": ("100644", b"A\n"),
    }


@pytest.mark.usefixtures("site")
def test_nothing_of_the_package_runs(project: Project) -> None:
    project.write(f"{SITE_PACKAGES}/evil.pth", "import os; os.mkdir('/nonexistent/x')\n")
    project.write(f"{SITE_PACKAGES}/sitecustomize.py", "1 / 0\n")
    before = project.snapshot(".venv")

    project.run("install", "env:fastapi", check=True)

    assert project.snapshot(".venv") == before


def test_all_packages_are_listed_with_the_skills_that_can_be_read(project: Project, site: Path) -> None:
    two = prefix_paths("st/.agents/skills/apps", make_skill("apps", "Apps.")) | prefix_paths(
        "st/.agents/skills/themes", make_skill("themes", "Themes.")
    )
    install_distribution(project.work, "Streamlit_Next", "1.0", two)
    install_distribution(project.work, "click", "8.0", {"click/__init__.py": ""})
    install_distribution(project.work, "edited", "1.0", prefix_paths("e/.agents/skills/e", make_skill("e")))
    (site / "e/.agents/skills/e/SKILL.md").write_text("---\nname: e\ndescription: Edited.\n---\n")

    result = project.run("install", "env:", "--list", check=True)

    assert result.stdout == (
        "env:streamlit-next@apps    Apps.\n"
        "env:fastapi@fastapi        Use when a test needs a skill.\n"
        "env:streamlit-next@themes  Themes.\n"
    )
    assert result.stderr == (
        "warning: left out env:edited: skill e: 'SKILL.md' of edited 1.0 does not match RECORD\n"
        "3 skills; install one with `skillpm install SPEC`\n"
    )
    rows = project.run("install", "env:fastapi", "--list", "--json", check=True).json["skills"]
    assert rows == [
        {"name": "fastapi", "path": "", "description": "Use when a test needs a skill.", "package": "env:fastapi"}
    ]


@pytest.mark.usefixtures("site")
def test_one_of_several_skills_is_chosen(project: Project) -> None:
    two = prefix_paths("st/.agents/skills/apps", make_skill("apps")) | prefix_paths(
        "st/.agents/skills/themes", make_skill("themes")
    )
    install_distribution(project.work, "streamlit", "1.67.0", two)

    result = project.run("install", "env:streamlit")
    assert (result.code, result.stderr) == (
        1,
        "error: `env:streamlit` contains 2 skills: apps, themes\n"
        "  hint: select one with `env:streamlit@apps`, or install all with `--all`\n",
    )
    project.run("install", "env:streamlit@themes", check=True)
    project.run("install", "env:streamlit", "--skill", "apps", "--as", "st-apps", check=True)
    assert json.loads(project.read("skills.json"))["skills"] == {
        "st-apps": {"env": "streamlit", "skill": "apps"},
        "themes": {"env": "streamlit"},
    }
    project.run("install", "env:", "--all", check=True)
    assert sorted(json.loads(project.read("skills.json"))["skills"]) == ["apps", "fastapi", "st-apps", "themes"]


@pytest.mark.usefixtures("site")
def test_the_only_skill_of_a_package_may_have_another_name(project: Project) -> None:
    project.write("skills.json", '{"skills": {"web": {"env": "FastAPI"}}}\n')

    project.run("sync", check=True)

    assert project.installed_files("web")["references/a.md"] == ("100644", b"A\n")


@pytest.mark.usefixtures("site")
def test_an_upgraded_package_is_locked_again(project: Project) -> None:
    project.run("install", "env:fastapi", check=True)
    install_distribution(project.work, "fastapi", "0.166.0", NEWER)

    outdated = project.run("outdated", "--json").json["skills"]
    assert [(row["name"], row["current"], row["latest"]) for row in outdated] == [("fastapi", "0.165.0", "0.166.0")]
    result = project.run("sync", check=True)

    assert result.stdout.splitlines()[0] == " ~ fastapi 0.165.0 → 0.166.0"
    assert json.loads(project.read("skills.lock"))["skills"]["fastapi"]["source"]["version"] == "0.166.0"
    assert project.run("verify", check=True).stderr == "1 of 1 skill matches the lockfile\n"


@pytest.mark.usefixtures("site")
def test_update_takes_what_is_installed_now(project: Project) -> None:
    project.run("install", "env:fastapi", check=True)
    install_distribution(project.work, "fastapi", "0.166.0", NEWER)

    result = project.run("update", "fastapi", check=True)

    assert result.stdout.splitlines()[0] == " ~ fastapi 0.165.0 → 0.166.0"


@pytest.mark.parametrize("files", [FILES, NEWER], ids=["same content", "other content"])
@pytest.mark.parametrize("flag", ["--frozen", "--locked"])
@pytest.mark.usefixtures("site")
def test_a_frozen_lockfile_refuses_another_version(project: Project, flag: str, files: Files) -> None:
    project.run("install", "env:fastapi", check=True)
    install_distribution(project.work, "fastapi", "0.166.0", files)
    before = project.snapshot(ignore=[".venv"])

    result = project.run("sync", flag)

    assert (result.code, result.stderr) == (
        1,
        "error: the lockfile is not up to date: `fastapi` is locked to fastapi 0.165.0, but 0.166.0 is installed\n"
        f"  where: {project.work}/skills.lock\n  hint: run `skillpm lock` and commit skills.lock\n",
    )
    assert project.snapshot(ignore=[".venv"]) == before


@pytest.mark.usefixtures("site")
def test_another_machine_installs_the_same_bytes(project: Project, tmp_path: Path) -> None:
    project.run("install", "env:fastapi", check=True)
    other = project.clone(tmp_path / "other")

    result = other.run("sync", "--frozen")
    assert (result.code, result.stderr) == (
        1,
        "error: `fastapi`: there is no virtual environment: no .venv, and VIRTUAL_ENV is not set\n"
        f"  where: {other.work}/.venv\n  hint: create it with `uv sync`, or `python -m venv .venv`\n",
    )
    install_distribution(other.work, "fastapi", "0.165.0", FILES)
    other.run("sync", "--frozen", check=True)
    assert other.installed_files("fastapi") == project.installed_files("fastapi")


@pytest.mark.usefixtures("site")
def test_an_active_environment_counts_without_one_of_the_project(project: Project, tmp_path: Path) -> None:
    active = {"VIRTUAL_ENV": str(tmp_path / "active/.venv")}
    install_distribution(tmp_path / "active", "fastapi", "0.1.0", FILES)

    assert project.run("install", "env:fastapi", env=active, check=True).stdout.startswith(" + fastapi 0.165.0\n")
    shutil.rmtree(project.work / ".venv")
    assert project.run("sync", env=active, check=True).stdout.startswith(" ~ fastapi 0.165.0 → 0.1.0\n")


@pytest.mark.usefixtures("site")
def test_members_of_a_workspace_share_the_environment_of_its_root(project: Project) -> None:
    project.write("skills.json", '{"skills": {}, "members": ["packages/*"]}\n')
    project.write("packages/a/skills.json", '{"skills": {}}\n')
    install_distribution(project.work / "packages/a", "fastapi", "0.1.0", FILES)

    project.run("install", "env:fastapi", cwd="packages/a", check=True)

    assert json.loads(project.read("skills.lock"))["skills"]["fastapi"]["version"] == "0.165.0"
    assert project.exists("packages/a/.agent-skills/fastapi/SKILL.md")


@pytest.mark.usefixtures("site")
def test_a_skill_whose_package_is_gone_stays_as_it_is_locked(project: Project) -> None:
    project.run("install", "env:fastapi", check=True)
    shutil.rmtree(project.work / ".venv")

    result = project.run("sync", check=True)
    assert result.stderr == (
        "warning: fastapi: there is no virtual environment: no .venv, and VIRTUAL_ENV is not set; it stays as it is "
        "locked\n"
    )
    project.delete_installed()
    assert project.run("sync").stderr == (
        "warning: fastapi: there is no virtual environment: no .venv, and VIRTUAL_ENV is not set; it stays as it is "
        "locked\n"
        "error: `fastapi`: there is no virtual environment: no .venv, and VIRTUAL_ENV is not set\n"
        f"  where: {project.work}/.venv\n  hint: create it with `uv sync`, or `python -m venv .venv`\n"
    )


def test_a_package_that_is_not_installed_or_has_no_skills_is_reported(project: Project, site: Path) -> None:
    install_distribution(project.work, "click", "8.0", {"click/__init__.py": ""})
    editable = install_distribution(project.work, "mine", "0.1", {})
    (editable / "mine-0.1.dist-info/direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')

    def error(spec: str) -> str:
        result = project.run("install", spec)
        assert result.code == 1
        return result.stderr

    assert error("env:django") == (
        f"error: the package django is not installed in .venv\n  where: {site}\n"
        "  hint: install it: `uv add django`, or `.venv/bin/pip install django`\n"
    )
    assert error("env:fastap") == (
        f"error: the package fastap is not installed in .venv\n  where: {site}\n"
        "  hint: did you mean `fastapi`? if not, install it: `uv add fastap`, or `.venv/bin/pip install fastap`\n"
    )
    assert error("env:click") == (
        "error: click 8.0 has no skills\n  hint: a package has its skills in `.agents/skills/NAME/SKILL.md`\n"
    )
    assert error("env:mine") == (
        "error: mine 0.1 has no skills\n"
        "  hint: it is an editable install: install its skills from their folder, `skillpm install ./FOLDER --link`\n"
    )
    assert error("env:fastapi@nope") == "error: fastapi 0.165.0 has no skill named `nope`\n  hint: it has: fastapi\n"


# Packages of an attacker

PRIVATE = "the user's own notes\n"


def refusal(project: Project, spec: str = "env:evil") -> str:
    """Return why a package is refused: the error of a command that printed and changed nothing of the user's."""
    result = project.run("install", spec)
    assert result.code == 1
    assert not project.exists("skills.lock")
    assert PRIVATE not in result.stdout + result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("../../../../../home/.agents/skills/x/SKILL.md", "has an empty, `.` or `..` part"),
        ("evil/../.agents/skills/x/SKILL.md", "has an empty, `.` or `..` part"),
        ("/etc/.agents/skills/x/SKILL.md", "is absolute or empty"),
        ("evil/.agents/skills/x/..\\..\\y.md", "has a backslash or a colon"),
    ],
)
def test_a_recorded_path_outside_of_site_packages_is_refused(project: Project, path: str, problem: str) -> None:
    files = prefix_paths("evil/.agents/skills/good", make_skill("good"))
    site = install_distribution(project.work, "evil", "1.0", files, record=f"{path},sha256=x,5")

    assert refusal(project) == (
        f"error: evil-1.0: the path '{path}' in RECORD {problem}\n"
        f"  where: {site}/evil-1.0.dist-info/RECORD\n  hint: report it to its author; nothing was installed\n"
    )


@pytest.mark.parametrize("part", ["evil", "evil/.agents", "evil/.agents/skills", "evil/.agents/skills/x"])
def test_a_folder_that_is_a_link_to_outside_is_refused(project: Project, part: str) -> None:
    files = prefix_paths("evil/.agents/skills/x", make_skill("x"))
    site = install_distribution(project.work, "evil", "1.0", files)
    outside = project.home / "outside"
    shutil.move(site / part, outside)
    (site / part).symlink_to(outside)

    assert refusal(project) == (
        "error: skill x: its folder in evil 1.0 is a link that points outside\n"
        "  hint: report it to its author; nothing was installed\n"
    )


@pytest.mark.parametrize("part", ["evil-1.0.dist-info", "evil-1.0.dist-info/RECORD"])
def test_a_record_that_is_a_link_is_not_read(project: Project, part: str) -> None:
    site = install_distribution(project.work, "evil", "1.0", prefix_paths("evil/.agents/skills/x", make_skill("x")))
    outside = project.home / "outside"
    shutil.move(site / part, outside)
    (site / part).symlink_to(outside)

    assert refusal(project) == (
        f"error: evil-1.0.dist-info has no RECORD, which lists its files\n  where: {site}/evil-1.0.dist-info/RECORD\n"
        "  hint: install the package with uv or pip\n"
    )
    assert refusal(project, "env:").startswith("error: no installed package has skills\n")


def test_a_file_that_is_a_link_is_refused(project: Project) -> None:
    files = prefix_paths("evil/.agents/skills/x", make_skill("x") | {"notes.md": PRIVATE})
    site = install_distribution(project.work, "evil", "1.0", files)
    (project.home / "notes.md").write_text(PRIVATE)
    (site / "evil/.agents/skills/x/notes.md").unlink()
    (site / "evil/.agents/skills/x/notes.md").symlink_to(project.home / "notes.md")

    assert refusal(project) == (
        "error: skill x: 'notes.md' of evil 1.0 is a link\n"
        "  hint: reinstall evil, with its files copied rather than linked; nothing was installed\n"
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("echo changed > a.md", "'a.md' of evil 1.0 does not match RECORD"),
        ("rm a.md", "'a.md' of evil 1.0 is missing"),
        ("rm -r ../x", "'SKILL.md' of evil 1.0 is missing"),
        ("rm a.md && mkfifo a.md", "'a.md' is not a regular file"),
    ],
)
def test_a_file_that_is_not_the_recorded_one_is_refused(project: Project, change: str, problem: str) -> None:
    files = prefix_paths("evil/.agents/skills/x", make_skill("x") | {"a.md": "A\n"})
    site = install_distribution(project.work, "evil", "1.0", files)
    subprocess.run(["sh", "-c", change], cwd=site / "evil/.agents/skills/x", check=True)

    assert refusal(project).startswith(f"error: skill x: {problem}")


def test_files_that_are_not_recorded_are_left_out(project: Project) -> None:
    site = install_distribution(
        project.work, "x", "1.0", prefix_paths("x/.agents/skills/x", make_skill("x") | {"run.py": "1\n"})
    )
    (site / "x/.agents/skills/x/added.md").write_text("added\n")
    (site / "x/.agents/skills/x/__pycache__").mkdir()
    (site / "x/.agents/skills/x/__pycache__/run.pyc").write_bytes(b"\0")

    project.run("install", "env:x", check=True)

    assert set(project.installed_files("x")) == {"SKILL.md", "run.py"}


def test_a_second_package_of_the_name_is_refused(project: Project, site: Path) -> None:
    evil = prefix_paths("evil/.agents/skills/fastapi", make_skill("fastapi"))
    install_distribution(project.work, "FastAPI", "9.0", evil)

    assert refusal(project, "env:fastapi") == (
        "error: .venv has several versions of fastapi: FastAPI-9.0.dist-info, fastapi-0.165.0.dist-info\n"
        f"  where: {site}\n  hint: uninstall fastapi, and install it again\n"
    )


def test_a_skill_may_not_require_an_installed_package(project: Project, site: Path) -> None:
    project.write_files(
        prefix_paths("mine", make_skill("mine") | {"skills.json": '{"skills": {"x": {"env": "fastapi"}}}'})
    )

    assert site.exists()
    assert refusal(project, "./mine") == (
        "error: `mine` requires `x` from env:fastapi, a source that only your skills.json may name\n"
        "  where: `mine`: dependencies.x\n"
        '  hint: if you trust it, override it: "overrides": {"x": …} in skills.json\n'
    )


@pytest.mark.usefixtures("site")
def test_a_lockfile_cannot_name_another_package(project: Project) -> None:
    project.run("install", "env:fastapi", check=True)
    install_distribution(
        project.work, "evil", "1.0", prefix_paths("evil/.agents/skills/fastapi", make_skill("fastapi"))
    )
    text = project.read("skills.lock").replace(
        '"env": "fastapi",\n        "version"', '"env": "evil",\n        "version"'
    )
    project.write("skills.lock", text)

    assert project.run("sync", "--frozen").stderr == (
        "error: `fastapi` is locked to env:evil@fastapi, but the manifest specifies another source\n"
        f"  where: {project.work}/skills.lock: skills.fastapi.source\n"
        "  hint: if the manifest was changed, run `skillpm lock`; otherwise, check who changed the lockfile\n"
    )
