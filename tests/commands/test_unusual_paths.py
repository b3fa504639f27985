"""A skill was replaced by something else: every command reports it, none fails, nothing is lost."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths, snapshot

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> CommandSandbox:
    scene = CommandSandbox(tmp_path_factory.mktemp("installed") / "scene").create_project(
        '{"skills": {}, "agents": ["claude-code"]}\n'
    )
    scene.run("install", "code-review", "testing", check=True)
    return scene


def a_file(place: Path) -> None:
    place.write_text("mine")


def an_empty_folder(place: Path) -> None:
    place.mkdir()


def a_link_to_nowhere(place: Path) -> None:
    place.symlink_to("nowhere")


def a_link_to_itself(place: Path) -> None:
    place.symlink_to(place.name)


def a_link_to_a_folder(place: Path) -> None:
    folder = place.parents[1] / "mine"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(make_skill("code-review", "By hand.")["SKILL.md"])
    place.symlink_to("../mine")


def a_pipe_for_a_skill_file(place: Path) -> None:
    place.mkdir()
    os.mkfifo(place / "SKILL.md")


def an_endless_skill_file(place: Path) -> None:
    place.mkdir()
    (place / "SKILL.md").symlink_to("/dev/zero")


def a_folder_for_a_skill_file(place: Path) -> None:
    (place / "SKILL.md").mkdir(parents=True)


THINGS = [
    a_file,
    an_empty_folder,
    a_link_to_nowhere,
    a_link_to_itself,
    a_link_to_a_folder,
    a_pipe_for_a_skill_file,
    an_endless_skill_file,
    a_folder_for_a_skill_file,
]


@pytest.fixture
def odd(request: pytest.FixtureRequest, installed: CommandSandbox, tmp_path: Path) -> CommandSandbox:
    """Return a project in which something else replaced the installed `code-review`."""
    installed.copy(tmp_path / "scene")
    scene = CommandSandbox(tmp_path / "scene")
    place = scene.work / ".agent-skills/code-review"
    place.rename(scene.root / "taken-away")
    thing: Callable[[Path], None] = request.param
    thing(place)
    return scene


def each(*things: Callable[[Path], None]) -> pytest.MarkDecorator:
    """Run a test with each of these things in the skill's place."""
    return pytest.mark.parametrize("odd", things, ids=[thing.__name__ for thing in things], indirect=True)


def assert_that_it_is_an_edit(odd: CommandSandbox) -> None:
    """Only what is still a folder leaves `sync` the rest of its work; `sync --frozen` fails in any case."""
    place = odd.work / ".agent-skills/code-review"
    is_folder = place.is_dir() and not place.is_symlink()
    result = odd.run("sync")
    assert (result.code, "edited: code-review; it stays as it is" in result.stderr) == (int(not is_folder), is_folder)
    assert odd.run("sync", "--frozen").code == 1


@each(*THINGS)
def test_reading_commands_say_so_and_stay_quick(odd: CommandSandbox) -> None:
    before = odd.full_snapshot

    listed = odd.run("list")
    assert listed.code == 0
    assert "[modified]" in listed.stdout.splitlines()[0]
    assert odd.run("list", "--json").json["skills"][1]["state"] == "installed"
    assert odd.run("verify").code == 1
    assert odd.run("show", "code-review").code in {0, 1}
    leads_out = os.path.realpath(odd.work / ".agent-skills/code-review/SKILL.md") == "/dev/zero"
    assert odd.run("diff", "code-review").code == leads_out
    assert odd.run("registry", "check").code == 1
    assert odd.full_snapshot == before


@each(a_file, a_link_to_itself, a_link_to_a_folder, a_pipe_for_a_skill_file)
def test_it_blocks_its_own_skill_only(odd: CommandSandbox) -> None:
    before = snapshot(odd.work / ".agent-skills", ignore=[".skillpm", "skills.json"])

    assert_that_it_is_an_edit(odd)
    assert odd.run("uninstall", "code-review").code == 1
    assert odd.run("install", "testing").code == 0
    assert odd.run("sync", "--keep", "code-review").code == 0
    assert odd.run("registry", "build").code == 0
    assert odd.run("registry", "check").code == 0
    assert snapshot(odd.work / ".agent-skills", ignore=[".skillpm", "skills.json"]) == before


@each(a_link_to_nowhere)
def test_force_backs_up_a_link_to_nowhere_and_its_backup_stays(odd: CommandSandbox) -> None:
    assert odd.run("sync", "--force").code == 0
    before = odd.full_snapshot

    assert odd.run("backup", "restore", "code-review-1").code == 1
    assert odd.full_snapshot == before
    assert os.readlink(odd.work / ".agent-skills/.skillpm/backup/code-review-1") == "nowhere"


@each(a_file, an_empty_folder, a_link_to_itself, a_link_to_a_folder)
def test_force_backs_it_up_and_restore_returns_it_unchanged(odd: CommandSandbox) -> None:
    place = odd.work / ".agent-skills"
    lay = {path: entry for path, entry in snapshot(place).items() if path.startswith("code-review")}
    before = {path: entry for path, entry in lay.items() if entry.kind != "other"}

    assert odd.run("sync", "--force").code == 0
    assert odd.run("verify").code == 0
    assert odd.run("backup", "restore", "code-review-1").code == 0

    after = snapshot(place)
    assert {path: entry for path, entry in after.items() if path.startswith("code-review")} == before
    assert odd.run("list").code == 0
    assert odd.run("registry", "check").code == 0
    assert_that_it_is_an_edit(odd)


def test_files_with_undecodable_names_are_ordinary_edits(scene: CommandSandbox) -> None:
    scene.create_project().run("install", "testing", check=True)
    place = scene.work / ".agent-skills/testing"
    names = [b"\xff.md", b"two\nlines.md", b"e\xcc\x81.md", b"\xc3\xa9.md"]
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(place), name))).write_text("mine")
    os.symlink(b"\xfe", os.fsencode(place / "link"))

    assert scene.run("sync", check=True).stderr.startswith("edited: testing; it stays as it is")
    assert scene.output("sync", "--frozen") == expected_output("""\
! error: blocked by local changes; nothing was changed
!   testing: edited since it was installed (é.md extra, link extra, two\\nlines.md extra, é.md extra and 1 more)
!   hint: use `skillpm diff testing` to see the changes, `--merge` to carry them over, `skillpm sync --frozen --keep \
testing` to keep it as it is, or `--force` to back it up and continue; to keep it always, write \
"edits": {"testing": "keep"} into skills.json
[1]
""")
    assert "extra: \\udcff.md" in scene.run("verify").stdout
    assert scene.run("verify", "--json").json["skills"][0]["state"] == "modified"
    assert "+++ b/two\\nlines.md" in scene.run("diff", "testing").stdout
    assert [scene.run(word).code for word in ("list", "doctor", "discover")] == [0, 1, 0]
    assert scene.run("sync", "--force").code == 0
    assert {*names} <= {*os.listdir(os.fsencode(scene.work / ".agent-skills/.skillpm/backup/testing-1"))}
    assert scene.run("backup", "restore", "testing").code == 0
    assert {*names, b"link"} <= {*os.listdir(os.fsencode(place))}


def test_an_edit_may_be_nested_extremely_deep(scene: CommandSandbox) -> None:
    scene.create_project().run("install", "testing", check=True)
    place = scene.work / ".agent-skills/testing"
    deep = os.open(place, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=deep)
        above, deep = deep, os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(above)
    os.close(os.open("mine", os.O_CREAT | os.O_WRONLY, dir_fd=deep))
    os.close(deep)

    assert scene.run("sync", check=True).stderr.startswith("edited: testing; it stays as it is")
    assert scene.run("sync", "--frozen").code == 1
    assert scene.run("sync", "--force").code == 0
    assert scene.run("backup", "restore", "testing").code == 0
    assert os.path.exists(f"{place}/{'d/' * 1200}mine")
    assert scene.run("backup", "list").stderr == "no backups\n"
    assert scene.run("uninstall", "testing", "--force").code == 0
    subprocess.run(["rm", "-r", str(scene.work / ".agent-skills")], check=True)  # pytest's own clearing up is recursive


def test_the_working_directory_may_be_missing(scene: CommandSandbox) -> None:
    shell = 'mkdir gone; cd gone; rmdir ../gone; exec "$@"'
    for command in ("discover", "list"):
        words = ["sh", "-c", shell, "sh", *scene.command, command]
        done = subprocess.run(
            words, cwd=scene.work, env=scene.environment(), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (
            2,
            "error: the working directory no longer exists\n  hint: change to another one: cd\n",
        )


def test_skills_that_cannot_be_read_hide_no_other(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/good", make_skill("good", "A good one.")))
    project.write(".agent-skills/no-frontmatter/SKILL.md", "words")
    project.write(".agent-skills/not-text/SKILL.md", b"---\nname: x\n---\n\xff")
    project.write(".agent-skills/too-large/SKILL.md", b"-" * 1_000_001)
    project.write(".agent-skills/no-skill/README.md", "words")
    project.write(".agent-skills/notes.txt", "words")

    assert project.output("registry", "build") == expected_output("""\
WORK/.agent-skills/skills.json written: 1 skill
! warning: no-frontmatter/SKILL.md is not in the registry: line 1: the file does not begin with a `---` line
! warning: not-text/SKILL.md is not in the registry: line 4: the file is not UTF-8
! warning: too-large/SKILL.md is not in the registry: line 1: the file is over 1000000 bytes
""")
    assert project.run("list").stdout == "good   [unmanaged] A good one.\n"
    assert project.output("show", "no-frontmatter") == expected_output("""\
! error: `no-frontmatter` cannot be loaded: line 1: the file does not begin with a `---` line
!   where: WORK/.agent-skills/no-frontmatter/SKILL.md
!   hint: fix the file by hand, or restore it from version control
[1]
""")
    assert project.run("registry", "check").code == 0
