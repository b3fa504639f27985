"""Skills of npm packages: what is found in node_modules, what is locked, what is refused."""

import json
import shutil
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import git, make_skill, prefix_paths
from kit.packages import install_npm_package

FILES = prefix_paths("skills/button", make_skill("button") | {"references/a.md": "A\n"})
NEWER = prefix_paths("skills/button", make_skill("button", body="Do it better.\n"))


@pytest.fixture
def package(project: Project) -> Path:
    """The folder of @acme/ui 1.2.0 in the project's node_modules."""
    return install_npm_package(project.work, "@acme/ui", "1.2.0", FILES)


@pytest.mark.usefixtures("package")
def test_a_skill_is_locked_by_package_version_and_digest(project: Project) -> None:
    result = project.run("install", "npm:@acme/ui", check=True)

    assert result.stdout == f" + button 1.2.0\nadded 1; total: 1 skill in {project.work}/.agent-skills\n"
    assert json.loads(project.read("skills.json"))["skills"] == {"button": {"npm": "@acme/ui"}}
    locked = json.loads(project.read("skills.lock"))["skills"]["button"]
    assert locked.pop("digest").startswith("sha256:")
    assert locked == {"version": "1.2.0", "source": {"npm": "@acme/ui", "version": "1.2.0", "path": "skills/button"}}
    assert project.installed_files("button") == {
        "SKILL.md": ("100644", make_skill("button")["SKILL.md"]),
        "references/a.md": ("100644", b"A\n"),
    }


def test_the_places_of_all_conventions_are_searched(project: Project) -> None:
    def skill(folder: str) -> dict[str, bytes]:
        return prefix_paths(folder, make_skill(folder.rpartition("/")[2], f"From {folder}."))

    install_npm_package(project.work, "a", "1.0.0", skill("skills/one") | skill("dist/skills/two"))
    install_npm_package(project.work, "b", "1.0.0", skill(".agents/skills/three") | {"skills/README.md": "none\n"})
    listed = {"agentskills": {"skills": [{"name": "four", "path": "./lib/four"}, {"path": "../a"}, 5]}}
    install_npm_package(project.work, "c", "1.0.0", skill("lib/four"), package_json=listed)
    by_name = {"agentskills": {"five": "./lib/five/SKILL.md", "six": "lib/six", "seven": "/etc"}}
    install_npm_package(project.work, "@s/d", "1.0.0", skill("lib/five"), package_json=by_name)
    install_npm_package(project.work, "eight", "1.0.0", make_skill("eight", "Itself.") | {"skills/x/SKILL.md": "x"})
    install_npm_package(project.work, "eight/node_modules/nine", "1.0.0", skill("skills/nine"))
    install_npm_package(project.work, "none", "1.0.0", {"index.js": ""}, package_json={"agentskills": None})

    result = project.run("install", "npm:", "--list", check=True)

    assert result.stdout == (
        "npm:eight@eight  Itself.\n"
        "npm:@s/d@five    From lib/five.\n"
        "npm:c@four       From lib/four.\n"
        "npm:a@one        From skills/one.\n"
        "npm:b@three      From .agents/skills/three.\n"
        "npm:a@two        From dist/skills/two.\n"
    )
    project.run("install", "npm:", "--all", check=True)
    assert set(project.installed_files("eight")) == {"SKILL.md", "package.json", "skills/x/SKILL.md"}


def test_the_folders_above_are_searched_up_to_the_repository(project: Project) -> None:
    install_npm_package(project.work.parent, "outside", "1.0.0", FILES)
    install_npm_package(project.work, "@acme/ui", "1.0.0", FILES)
    project.write("apps/web/skills.json", '{"skills": {}}\n')
    git("init", "-q", str(project.work))

    project.run("install", "npm:@acme/ui", cwd="apps/web", check=True)
    assert json.loads(project.read("apps/web/skills.lock"))["skills"]["button"]["version"] == "1.0.0"
    install_npm_package(project.work / "apps/web", "@acme/ui", "2.0.0", FILES)
    assert project.run("sync", cwd="apps/web", check=True).stdout.startswith(" ~ button 1.0.0 → 2.0.0\n")
    assert project.run("install", "npm:outside", cwd="apps/web").stderr == (
        f"error: the package outside is not installed in node_modules\n  where: {project.work}/apps/web/node_modules\n"
        "  hint: install it: `npm install outside`\n"
    )


def test_the_links_of_pnpm_are_followed_inside_node_modules(project: Project, package: Path) -> None:
    store = project.work / "node_modules/.pnpm/@acme+ui@1.2.0/node_modules/@acme/ui"
    store.parent.mkdir(parents=True)
    shutil.move(package, store)
    package.symlink_to("../.pnpm/@acme+ui@1.2.0/node_modules/@acme/ui")

    project.run("install", "npm:@acme/ui", check=True)

    assert set(project.installed_files("button")) == {"SKILL.md", "references/a.md"}


@pytest.mark.usefixtures("package")
def test_an_upgraded_package_is_locked_again_or_refused(project: Project) -> None:
    project.run("install", "npm:@acme/ui", check=True)
    install_npm_package(project.work, "@acme/ui", "1.3.0", NEWER)

    result = project.run("sync", "--frozen")

    assert (result.code, result.stderr) == (
        1,
        "error: the lockfile is not up to date: `button` is locked to @acme/ui 1.2.0, but 1.3.0 is installed\n"
        f"  where: {project.work}/skills.lock\n  hint: run `skillpm lock` and commit skills.lock\n",
    )
    assert project.run("sync", check=True).stdout.startswith(" ~ button 1.2.0 → 1.3.0\n")
    install_npm_package(project.work, "@acme/ui", "1.3.0", FILES)
    assert project.run("sync", "--frozen").stderr == (
        "error: the lockfile is not up to date: the content of `button` has changed\n"
        f"  where: {project.work}/skills.lock\n  hint: run `skillpm lock` and commit skills.lock\n"
    )


def test_a_package_without_skills_is_reported(project: Project, package: Path) -> None:
    install_npm_package(project.work, "left-pad", "1.3.0", {"index.js": ""})

    assert package.exists()
    assert project.run("install", "npm:left-pad").stderr == (
        "error: left-pad 1.3.0 has no skills\n"
        "  hint: a package has its skills in `skills/NAME/SKILL.md`, or lists them in package.json: `agentskills`\n"
    )


# Packages of an attacker


def refusal(project: Project, spec: str) -> str:
    result = project.run("install", spec)
    assert result.code == 1
    assert not project.exists("skills.lock")
    return result.stderr


def test_a_package_that_is_a_link_to_outside_is_refused(project: Project) -> None:
    outside = project.home / "outside"
    shutil.move(install_npm_package(project.work, "evil", "1.0.0", FILES), outside)
    (project.work / "node_modules/evil").symlink_to(outside)

    assert refusal(project, "npm:evil") == (
        f"error: the package evil is a link that points outside node_modules, to {outside}\n"
        f"  where: {project.work}/node_modules/evil\n"
        "  hint: install its skills from there: `skillpm install ./FOLDER`\n"
    )
    assert project.run("install", "npm:", "--list").stderr == (
        "error: no installed package has skills\n"
        "  hint: a package has its skills in `skills/NAME/SKILL.md`, or lists them in package.json: `agentskills`\n"
    )


@pytest.mark.parametrize("part", ["skills", "skills/button"])
def test_a_folder_that_is_a_link_to_outside_is_refused(project: Project, package: Path, part: str) -> None:
    outside = project.home / "outside"
    shutil.move(package / part, outside)
    (package / part).symlink_to(outside)

    assert refusal(project, "npm:@acme/ui") == (
        f"error: {part} is a link that points outside the package\n  where: {package}/{part}\n"
        "  hint: report it to its author; nothing was installed\n"
    )
    assert refusal(project, "npm:").startswith(
        f"warning: left out npm:@acme/ui: {part} is a link that points outside the package\nerror: "
    )


def test_a_file_that_is_a_link_to_outside_is_refused(project: Project, package: Path) -> None:
    (package / "skills/button/notes.md").symlink_to("../../../../../home/notes.md")

    assert refusal(project, "npm:@acme/ui") == (
        "error: skill button: link 'notes.md' -> '../../../../../home/notes.md' points outside the skill\n"
        "  hint: report it to its author; nothing was installed\n"
    )


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"version": 5, "agentskills": {"skills": {"a": 1}}}', "[" * 100_000, '{"version": "\\u202e"}'],
)
def test_an_odd_package_json_is_no_crash(project: Project, package: Path, text: str) -> None:
    (package / "package.json").write_text(text)

    result = project.run("install", "npm:@acme/ui")

    assert (result.code, "Traceback" in result.stderr, "internal" in result.stderr) in {
        (0, False, False),
        (1, False, False),
    }
