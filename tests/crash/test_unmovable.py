"""Skills that the system does not move in one step, or not at all: layers of containers, mounts, folders without w."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, create_two_skills, expected_output
from commands.test_unprivileged import Ordinary
from kit import Repository
from kit.sandbox import IS_ROOT, SETPRIV

pytestmark = pytest.mark.slow

UNSHARE = shutil.which("unshare")
HERE = ".agent-skills"
KEPT = "warning: backed up your version of pdf as pdf-1; restore it with `skillpm backup restore pdf-1`\n"


def can_mount() -> bool:
    """Return whether this machine permits mounts in a private namespace."""
    if UNSHARE is None:
        return False
    words = [UNSHARE, "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="mounting needs the rights of an administrator")


class Mounted(CommandSandbox):
    """A scene whose commands see a mount, once one is set."""

    def see(self, mounts: str) -> None:
        self.command = (str(UNSHARE), "-m", "sh", "-ec", f'{mounts}; exec "$@"', "sh", *CommandSandbox.command)  # type: ignore[misc]


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return create_two_skills(tmp_path / "upstream")


def newer(scene: CommandSandbox, upstream: Repository) -> None:
    """Install two skills, shown to an agent as copies, and make them newer upstream."""
    scene.create_project('{"skills": {}, "agents": ["claude-code"]}\n')
    scene.git_config("[safe]\n\tdirectory = *\n")
    scene.run("install", upstream.file_url, "--all", env={"SKILLPM_LINK_MODE": "copy"}, check=True)
    upstream.write({f"skills/{name}/notes.md": "Second.\n" for name in ("docx", "pdf")}).commit()


@pytest.fixture
def image(tmp_path: Path, upstream: Repository) -> Mounted:
    """Return a project from a container image: it is on the lower layer."""
    scene = Mounted(tmp_path / "scene")
    newer(scene, upstream)
    for name in ("up", "work"):
        (tmp_path / name).mkdir()
    layers = f"lowerdir={scene.work},upperdir={tmp_path}/up,workdir={tmp_path}/work,redirect_dir=off"
    scene.see(f"mount -t overlay overlay -o {layers} {scene.work}; cd {scene.work}")
    return scene


@needs_mounts
def test_a_skill_from_a_container_image_is_updated(image: Mounted) -> None:
    result = image.run("update", env={"SKILLPM_LINK_MODE": "copy"}, check=True)

    assert result.stdout.splitlines()[-1] == f"updated 2; total: 2 skills in {image.work}/{HERE}"
    assert result.stderr == ""
    assert image.output("verify") == "! 2 of 2 skills match the lockfile\n"
    assert image.output("sync", env={"SKILLPM_LINK_MODE": "copy"}) == f"nothing to do: 2 skills in WORK/{HERE}\n"


@needs_mounts
def test_an_edit_in_a_container_image_is_backed_up_and_restored(image: Mounted) -> None:
    image.write(f"{HERE}/pdf/SKILL.md", "my own words")

    assert image.run("sync", "--force", check=True).stderr == KEPT
    image.run("backup", "restore", "pdf-1", check=True)

    assert image.output("diff", "pdf").endswith("+my own words\n\\ No newline at end of file\n")
    assert image.output("backup", "list") == "! no backups\n"


@needs_mounts
def test_a_skill_from_a_container_image_is_uninstalled(image: Mounted) -> None:
    image.run("uninstall", "docx", "pdf", env={"SKILLPM_LINK_MODE": "copy"}, check=True)

    assert image.output("list").startswith("! no skills in")


@needs_mounts
@pytest.mark.parametrize("words", ["update", "update --force", "uninstall docx pdf"])
def test_a_mount_point_in_a_skill_stops_the_change_before_the_first_move(
    tmp_path: Path, upstream: Repository, words: str
) -> None:
    scene = Mounted(tmp_path / "scene")
    newer(scene, upstream)
    (tmp_path / "mine").mkdir()
    shutil.copytree(scene.work / HERE / "pdf", tmp_path / "mine", dirs_exist_ok=True)
    scene.see(f"mount --bind {tmp_path}/mine {scene.work}/{HERE}/pdf")
    before = scene.full_snapshot

    assert scene.output(*words.split()) == expected_output(f"""\
! error: pdf cannot be moved: it is in use, or a mount point; nothing was changed
!   where: WORK/{HERE}/pdf
!   hint: unmount it or restore the permission to move it, or pass `--keep` to leave it as it is
[1]
""")
    assert scene.full_snapshot == before
    assert scene.run("update", "--keep", "pdf", check=True).stdout.splitlines()[0].startswith(" ~ docx")


@pytest.mark.skipif(IS_ROOT and SETPRIV is None, reason="root may move anything, and setpriv is missing")
@pytest.mark.parametrize("words", ["update", "uninstall docx pdf"])
def test_a_skill_that_was_made_read_only_is_replaced_like_any_other(
    tmp_path: Path, upstream: Repository, words: str
) -> None:
    scene = Ordinary(tmp_path / "scene")
    newer(scene, upstream)
    for place in (f"{HERE}/pdf", ".claude/skills/pdf"):
        subprocess.run(["chmod", "-R", "a-w", scene.work / place], check=True)

    scene.run(*words.split(), env={"SKILLPM_LINK_MODE": "copy"}, check=True)

    assert scene.run("verify").code == 0
    assert scene.exists(f"{HERE}/pdf/notes.md") == (words == "update") == scene.exists(".claude/skills/pdf/notes.md")
    assert not scene.exists(f"{HERE}/.skillpm/trash")


@pytest.mark.skipif(IS_ROOT and SETPRIV is None, reason="root may move anything, and setpriv is missing")
def test_an_edit_that_was_made_read_only_is_kept_as_it_was(tmp_path: Path, upstream: Repository) -> None:
    scene = Ordinary(tmp_path / "scene")
    newer(scene, upstream)
    scene.write(f"{HERE}/pdf/SKILL.md", "my own words")
    (scene.work / HERE / "pdf").chmod(0o555)
    edited = scene.snapshot(f"{HERE}/pdf")

    scene.run("sync", "--force", env={"SKILLPM_LINK_MODE": "copy"}, check=True)

    assert scene.snapshot(f"{HERE}/.skillpm/backup/pdf-1") == edited
    assert os.stat(scene.work / HERE / ".skillpm/backup/pdf-1").st_mode & 0o777 == 0o555


@pytest.mark.skipif(not IS_ROOT, reason="giving files away needs the rights of an administrator")
@pytest.mark.parametrize("where", [HERE, ".claude/skills"])
def test_root_owned_files_from_a_container_block_nothing(tmp_path: Path, upstream: Repository, where: str) -> None:
    scene = Ordinary(tmp_path / "scene")
    newer(scene, upstream)
    scene.write(f"{where}/pdf/__pycache__/read.pyc", "compiled")
    os.chown(scene.work / where / "pdf/__pycache__", 12345, 12345)
    copies = {"SKILLPM_LINK_MODE": "copy"}

    output = scene.format_result(scene.run("update", env=copies))

    left = f"{HERE}/.skillpm/left"
    assert output.endswith(f"""\
! warning: cannot delete files that a skill left behind: permission denied; delete them as their owner: WORK/{left}/1
""")
    assert scene.output("sync", env=copies) == "nothing to do: 2 skills in WORK/.agent-skills\n"
    assert scene.run("uninstall", "docx", env=copies).code == 0
    assert (
        scene.run("doctor").stdout.splitlines()[:3]
        == expected_output(f"""\
note: files of replaced skills that skillpm may not delete
    where: {scene.work}/{left}
    hint: delete them as their owner
""").splitlines()
    )
    os.chown(next((scene.work / left).rglob("__pycache__")), 0, 0)
    assert scene.run("uninstall", "pdf", env=copies).code == 0
    assert not scene.exists(left)
