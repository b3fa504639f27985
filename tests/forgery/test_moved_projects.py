"""A project that was copied, restored or cloned: `sync` needs no network, loses no edit and reports nothing new."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from crash.flip_worlds import KILLED
from kit import GitServer, Repository, git, make_skill, prefix_paths
from kit.sandbox import CANNOT_DROP_RIGHTS, IS_ROOT, SETPRIV

STRACE = shutil.which("strace")
CAN_MOUNT = IS_ROOT and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
HERE = ".agent-skills"
INTERRUPTED_WARNING = (
    "! warning: ignored the journal of a change that did not start in this directory: it was copied, or came with a "
    "checkout; the journal is kept as WORK/.agent-skills/.skillpm/rejected/journal-1.json\n"
)
EDIT = "---\nname: docx\ndescription: Mine.\n---\nmy words\n"
CALM = "nothing to do: 4 skills in WORK/.agent-skills\n"


def with_cp_a(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def with_cp_r(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)


def with_tar(source: Path, target: Path) -> None:
    target.mkdir()
    archive = subprocess.run(["tar", "-c", "-C", str(source), "."], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(target)], input=archive, check=True)


def with_python(source: Path, target: Path) -> None:
    """As `rsync -a`: mtimes to the nanosecond, other inodes."""
    shutil.copytree(source, target, symlinks=True)


def with_git_clone(source: Path, target: Path) -> None:
    """A repository that tracks the skills directory with everything in it."""
    git("init", "-q", "--template=", str(source))
    git("add", "-A", "-f", cwd=source)
    git("commit", "-q", "-m", "Everything", cwd=source)
    git("clone", "-q", str(source), str(target))
    for folder in (source, target):
        shutil.rmtree(folder / ".git")


WAYS: list[Callable[[Path, Path], None]] = [with_cp_a, with_cp_r, with_tar, with_python, with_git_clone]


@pytest.fixture
def project(tmp_path: Path, upstream: Repository, server: GitServer) -> CommandSandbox:
    for word in ("first", "second"):
        for name in ("pdf", "docx"):
            files = make_skill(name, body=f"{word}\n") | {"run.sh": f"echo {word}\n"}
            upstream.write(prefix_paths(f"skills/{name}", files), executable=[f"skills/{name}/run.sh"])
        upstream.commit(word)
    upstream.reset("main~1")
    scene = CommandSandbox(tmp_path / "scene").create_project('{"skills": {}, "agents": ["claude-code"]}\n')
    scene.write_files(prefix_paths("mine/style", make_skill("style")))
    scene.run("install", server.serve("acme", upstream), "--all", check=True)
    scene.run("install", "./mine/style", "testing", check=True)
    scene.run("sync", check=True)
    server.clear_requests()
    return scene


def move(project: CommandSandbox, way: Callable[[Path, Path], None]) -> CommandSandbox:
    """Return the project on another machine: another path, home and cache."""
    moved = CommandSandbox(project.root.parent / "elsewhere")
    shutil.rmtree(moved.work)
    way(project.work, moved.work)
    return moved


def stamps(scene: CommandSandbox) -> dict[str, tuple[int, int, int]]:
    """Return inode, mtime and ctime of everything, which every write changes."""
    paths = (Path(folder, name) for folder, folders, files in os.walk(scene.root) for name in (*folders, *files))
    return {str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns, path.lstat().st_ctime_ns) for path in paths}


def check_settled(scene: CommandSandbox, output: str) -> None:
    """The next `sync` prints the same and writes nothing."""
    before = stamps(scene)
    assert scene.output("sync") == output
    assert stamps(scene) == before


@pytest.mark.parametrize("way", WAYS)
def test_a_moved_project_has_nothing_to_do(
    project: CommandSandbox, server: GitServer, way: Callable[[Path, Path], None]
) -> None:
    moved = move(project, way)
    before = moved.snapshot(ignore=[f"{HERE}/.skillpm/scan.json"])

    assert moved.output("sync", "--frozen") == CALM
    assert moved.output("verify") == "! 4 of 4 skills match the lockfile\n"

    assert moved.snapshot(ignore=[f"{HERE}/.skillpm/scan.json"]) == before
    check_settled(moved, CALM)
    assert server.requests == []


@pytest.mark.parametrize("way", WAYS)
def test_an_edit_is_kept_and_reported_as_before(
    project: CommandSandbox, server: GitServer, way: Callable[[Path, Path], None]
) -> None:
    project.write(f"{HERE}/docx/SKILL.md", EDIT)
    project.run("sync", check=True)  # the registry has the edit
    expected = [project.output(*words) for words in (["sync"], ["list"], ["verify"])]
    moved = move(project, way)

    assert [moved.output(*words) for words in (["sync"], ["list"], ["verify"])] == expected

    assert "modified" in expected[1]
    assert moved.read(f"{HERE}/docx/SKILL.md") == EDIT
    moved.run("sync", check=True)  # what it accepts of files that were just written is not remembered
    check_settled(moved, expected[0])
    assert server.requests == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_project_moved_during_a_change_goes_on_from_its_lockfile(
    project: CommandSandbox,
    upstream: Repository,
    server: GitServer,
    way: Callable[[Path, Path], None],
    *,
    is_edited: bool,
) -> None:
    upstream.write({"skills/pdf/more.md": "more\n"}).commit()
    command = [*project.command[:1], "-c", KILLED, "update"]
    killed = subprocess.run(command, cwd=project.work, env=project.environment(), capture_output=True, check=False)
    assert (killed.returncode, project.exists(f"{HERE}/.skillpm/journal.json")) == (9, True), killed.stderr
    if is_edited:
        project.write(f"{HERE}/docx/SKILL.md", EDIT)
    moved = move(project, way)
    server.clear_requests()

    output = moved.output("sync")

    assert output.count(INTERRUPTED_WARNING) == 1
    assert moved.snapshot(f"{HERE}/pdf") == project.snapshot(f"{HERE}/pdf")
    rest = output.replace(INTERRUPTED_WARNING, "")
    assert "edited: docx; it stays as it is" in rest if is_edited else rest == CALM
    assert (moved.read(f"{HERE}/docx/SKILL.md") == EDIT) is is_edited
    moved.run("sync", check=True)  # as above
    check_settled(moved, rest.replace("registry brought up to date", "nothing to do"))
    assert server.requests == []


def test_a_clone_that_leaves_out_the_internal_folder_adopts_what_is_locked(
    project: CommandSandbox, server: GitServer
) -> None:
    """As `git add` does by default: `.skillpm` has a `.gitignore`."""
    project.write(f"{HERE}/docx/SKILL.md", EDIT)
    moved = move(project, with_cp_a)
    shutil.rmtree(moved.work / HERE / ".skillpm")

    output = moved.output("sync")

    assert moved.read(f"{HERE}/docx/SKILL.md") == EDIT
    assert output == expected_output("""\
! error: blocked by a skill; nothing was changed
!   docx: a folder that skillpm did not create
!   hint: use `skillpm diff docx` to see the changes, `skillpm sync --keep docx` to keep it as it is, or `--force` to \
back it up and continue
[1]
""")
    assert server.requests == []


@pytest.mark.skipif(not IS_ROOT or CANNOT_DROP_RIGHTS, reason="only root can give a project to another user")
def test_a_project_of_another_user(project: CommandSandbox, server: GitServer) -> None:
    moved = move(project, with_cp_a)
    for path in (moved.root, *moved.root.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    for folder in (moved.root, *moved.root.parents):
        folder.chmod(folder.stat().st_mode | 0o055)

    # Python and skillpm may be in a folder that only root reads, so this user may read, but not write, everything.
    reads = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
    words = [str(SETPRIV), "--reuid=65534", "--regid=65534", "--clear-groups", *reads, *moved.command, "sync"]
    done = subprocess.run(words, cwd=moved.work, env=moved.environment(), capture_output=True, text=True, check=False)

    assert (done.returncode, moved.add_placeholders(done.stdout), done.stderr) == (0, CALM, "")
    assert server.requests == []


@pytest.mark.skipif(STRACE is None, reason="strace counts the reads; it is not on PATH")
def test_files_are_read_after_a_move_and_not_again(project: CommandSandbox, tmp_path: Path) -> None:
    moved = move(project, with_cp_a)

    # Once to compare it with the receipt, once more after its stat was read for the stat cache (ADR 7), and once to
    # check it, since this machine has not accepted it yet.
    assert [count_reads(moved, tmp_path / "log") for _ in range(3)] == [3, 0, 0]


@pytest.mark.skipif(not CAN_MOUNT, reason="only root may mount, and not in every container")
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_project_in_the_next_layer_of_a_container(
    project: CommandSandbox, server: GitServer, tmp_path: Path, *, is_edited: bool
) -> None:
    if is_edited:
        project.write(f"{HERE}/docx/SKILL.md", EDIT)
        project.run("sync", check=True)  # the registry has the edit
    expected = project.output("sync")
    layer = CommandSandbox(tmp_path / "layer")
    for name in ("upper", "inner"):
        (tmp_path / name).mkdir()
    folders = f"lowerdir={project.work},upperdir={tmp_path}/upper,workdir={tmp_path}/inner"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", folders, str(layer.work)], check=True)
    try:
        assert layer.output("sync") == expected
        check_settled(layer, expected)
    finally:
        subprocess.run(["umount", "-l", str(layer.work)], check=True)
    assert server.requests == []


def count_reads(scene: CommandSandbox, log: Path) -> int:
    """Return how often a `sync` opens a file of an installed skill."""
    words = [str(STRACE), "-f", "-o", str(log), "-e", "trace=openat,open", *scene.command, "sync"]
    subprocess.run(words, cwd=scene.work, env=scene.environment(), check=True, capture_output=True)
    return log.read_text().count(f'{HERE}/pdf/run.sh", O_RDONLY')
