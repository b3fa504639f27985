"""A link of a checkout on a local path must not have files of the user copied, served or shown to an agent.

`{"path": "s/private"}` looks like a folder of the repository. If `s/private`, or `s`, is a committed link to a folder
of the user, its files would come to `.agent-skills`, where `git add` takes them. A path that names the user's folder
is another matter: people see it when they review the manifest.
"""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from fetchers.packing import tgz
from kit import git, make_skill, prefix_paths

PRIVATE = make_skill("private", "Mine.") | {"token.txt": "The secret.\n"}
SPECS: dict[str, dict[str, object]] = {"copy": {"path": "./s/private"}, "link": {"path": "./s/private", "link": True}}
# Each component of `s/private` as a link: what links, and to where, relative to the project.
LINKS = {
    "last component": ("s/private", "HOME/private"),
    "first component": ("s", "HOME"),
    "relative": ("s/private", "../../home/private"),
    "link to a link": ("s/private", "../hop"),
}
HINT = "hint: a checkout could show your own files to others; if you want what is there, name it: HOME/private\n"


@pytest.fixture
def checkout(scene: CommandSandbox) -> CommandSandbox:
    """Return a repository, and a skill of its user outside of it."""
    (scene.home / "private").mkdir(parents=True)
    for path, content in PRIVATE.items():
        (scene.home / "private" / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    git("init", "-q", cwd=scene.work)
    scene.placeholders = {str(scene.home): "HOME", **scene.placeholders}
    return scene


def make_link(scene: CommandSandbox, place: str, target: str) -> None:
    path = scene.work / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target.replace("HOME", str(scene.home)))
    if target == "../hop":
        (scene.work / "hop").symlink_to(scene.home / "private")


def secrets(scene: CommandSandbox) -> list[str]:
    """Return the files in the project, by their real names, that have the secret."""
    folders = [folder for folder in (".agent-skills", ".claude") if scene.exists(folder)]
    paths = [path for folder in folders for path in (scene.work / folder).rglob("*")]
    found = [path for path in paths if path.is_file() and "The secret" in path.read_text(errors="replace")]
    return [str(path.relative_to(scene.work)) for path in found]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("link", LINKS)
def test_a_path_that_a_committed_link_leads_out_is_refused(checkout: CommandSandbox, link: str, spec: str) -> None:
    make_link(checkout, *LINKS[link])
    checkout.write("skills.json", json.dumps({"skills": {"private": SPECS[spec]}, "agents": ["claude-code"]}))
    before = checkout.full_snapshot

    for command in (["sync"], ["lock"], ["update"], ["install"]):
        output = checkout.output(*command)
        assert output.splitlines()[0] == "! error: skill private: ./s/private leads out of the project", output
        assert output.endswith(f"!   {HINT}[1]\n"), output

    assert checkout.full_snapshot == before


@pytest.mark.parametrize("spec", SPECS)
def test_a_lockfile_of_before_is_refused_too(checkout: CommandSandbox, spec: str) -> None:
    """Also where the link comes after the lockfile, which `--frozen` uses as it is."""
    manifest = json.dumps({"skills": {"private": SPECS[spec]}, "agents": ["claude-code"]})
    checkout.write("skills.json", manifest)
    checkout.write_files(prefix_paths("s/private", PRIVATE))
    checkout.run("lock", check=True)
    for path in ("s/private/SKILL.md", "s/private/token.txt"):
        (checkout.work / path).unlink()
    (checkout.work / "s/private").rmdir()
    make_link(checkout, "s/private", "HOME/private")

    result = checkout.run("sync", "--frozen")

    assert result.code == 1
    assert secrets(checkout) == []


def test_a_live_link_is_not_shown_once_its_path_leads_out(checkout: CommandSandbox) -> None:
    checkout.write("skills.json", json.dumps({"skills": {"private": SPECS["link"]}, "agents": ["claude-code"]}))
    checkout.write_files(prefix_paths("s/private", make_skill("private", "Harmless.")))
    checkout.run("sync", check=True)
    (checkout.work / "s/private/SKILL.md").unlink()
    (checkout.work / "s/private").rmdir()
    make_link(checkout, "s/private", "HOME/private")

    for words in (["load", "private"], ["prompt"], ["list"], ["show", "private"]):
        assert "Mine." not in checkout.run(*words).stdout
    checkout.run("sync")
    assert secrets(checkout) == []


def test_an_archive_behind_a_committed_link_is_refused(checkout: CommandSandbox) -> None:
    (checkout.home / "private.tar.gz").write_bytes(tgz(PRIVATE))
    make_link(checkout, "s/private.tar.gz", "HOME/private.tar.gz")
    checkout.write("skills.json", json.dumps({"skills": {"private": {"url": "./s/private.tar.gz"}}}))

    assert checkout.output("sync") == expected_output("""\
! error: skill private: ./s/private.tar.gz leads out of the project
!   where: WORK/s/private.tar.gz -> HOME/private.tar.gz
!   hint: a checkout could show your own files to others; if you want what is there, name it: HOME/private.tar.gz
[1]
""")


@pytest.mark.parametrize("words", [[], ["--link"]], ids=["copy", "link"])
@pytest.mark.parametrize("spec", ["./s/private", "WORK/s/private", "./s/../s/private"])
def test_a_spec_is_refused_as_the_manifest_is(checkout: CommandSandbox, spec: str, words: list[str]) -> None:
    make_link(checkout, "s/private", "HOME/private")
    checkout.write("skills.json", '{"skills": {}}')

    output = checkout.output("install", spec.replace("WORK", str(checkout.work)), *words)

    assert "leads out of the project\n" in output
    assert output.endswith(f"!   {HINT}[1]\n")
    named = checkout.run("install", str(checkout.home / "private"), *words)
    assert named.code == 0, named.stderr


@pytest.mark.parametrize("words", [[], ["--link"]], ids=["copy", "link"])
def test_a_link_inside_the_repository_may_be_followed(checkout: CommandSandbox, words: list[str]) -> None:
    checkout.write_files(prefix_paths("shared/inner", make_skill("inner")))
    make_link(checkout, "s", "shared")
    checkout.write("skills.json", '{"skills": {}}')

    checkout.run("install", "./s/inner", *words, check=True)

    assert checkout.exists(".agent-skills/inner/SKILL.md")
    assert checkout.run("verify").code == 0


@pytest.mark.parametrize("has_git", [True, False])
@pytest.mark.parametrize("spec", SPECS)
def test_a_member_of_a_workspace(checkout: CommandSandbox, spec: str, *, has_git: bool) -> None:
    """Links to other folders of the workspace are fine; those out of it are not, wherever a command is run."""
    if not has_git:
        (checkout.work / ".git").rename(checkout.work.parent / "git-of-another")
    checkout.write("skills.json", '{"skills": {}, "members": ["packages/*"]}')
    inner = SPECS[spec] | {"path": "../../shared/inner"}
    beside = SPECS[spec] | {"path": "../../shared/private"}
    checkout.write("packages/api/skills.json", json.dumps({"skills": {"private": SPECS[spec], "inner": inner}}))
    checkout.write_files(prefix_paths("shared/real", make_skill("inner")))
    make_link(checkout, "shared/inner", "real")
    make_link(checkout, "packages/api/s/private", "HOME/private")

    for folder in (".", "packages/api"):
        output = checkout.output("sync", cwd=folder)
        assert output.splitlines()[0] == "! error: skill private: packages/api/s/private leads out of the project"
    make_link(checkout, "shared/private", "HOME/private")
    checkout.write("packages/api/skills.json", json.dumps({"skills": {"private": beside, "inner": inner}}))
    for folder in (".", "packages/api"):
        output = checkout.output("sync", cwd=folder)
        assert output.splitlines()[0] == "! error: skill private: shared/private leads out of the project"
    checkout.write("packages/api/skills.json", json.dumps({"skills": {"private": SPECS[spec], "inner": inner}}))
    (checkout.work / "packages/api/s/private").unlink()
    checkout.write_files(prefix_paths("packages/api/s/private", make_skill("private")))
    checkout.run("sync", cwd="packages/api", check=True)


@pytest.mark.parametrize("words", [[], ["--link"]], ids=["copy", "link"])
def test_links_of_the_user_are_their_own(checkout: CommandSandbox, words: list[str]) -> None:
    """In user scope, and outside of the project."""
    outside = checkout.work.parent / "outside"
    checkout.write_files(prefix_paths("../elsewhere/private", PRIVATE))
    outside.mkdir()
    (outside / "private").symlink_to("../elsewhere/private")
    (checkout.home / ".config/skillpm").mkdir(parents=True)
    (checkout.home / ".config/skillpm/mine").symlink_to(outside)
    checkout.write("skills.json", '{"skills": {}}')

    checkout.run("install", "../outside/private", *words, check=True)
    checkout.run("install", "-g", str(checkout.home / ".config/skillpm/mine/private"), *words, check=True)

    assert checkout.run("load", "private", check=True).stdout
    assert checkout.run("sync", "-g", check=True).stderr == ""
