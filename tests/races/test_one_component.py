"""Below a project, the user's skills and agents' folders, every changing call names one entry of an open folder.

strace prints each call with the folder that it starts at. A path of more than one component would be looked up again by
the kernel, and another user who may write into one of its folders could lead it elsewhere by a link.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from kit import Repository, Sandbox, make_skill, prefix_paths

STRACE = shutil.which("strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="strace is not on PATH")

# Which of the quoted arguments are paths that are changed; of a link, the first is only its text.
CHANGING = {
    "chmod": (0,), "chown": (0,), "creat": (0,), "fchmodat": (0,), "fchmodat2": (0,), "fchownat": (0,), "lchown": (0,),
    "link": (0, 1), "linkat": (0, 1), "mkdir": (0,), "mkdirat": (0,), "mknod": (0,), "mknodat": (0,), "open": (0,),
    "openat": (0,), "openat2": (0,), "rename": (0, 1), "renameat": (0, 1), "renameat2": (0, 1), "rmdir": (0,),
    "symlink": (1,), "symlinkat": (1,), "truncate": (0,), "unlink": (0,), "unlinkat": (0,), "utime": (0,),
    "utimensat": (0,), "utimes": (0,),
}  # fmt: skip
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += (?!-1)")
# A path, and before it the folder that a relative one starts at.
PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')


class Traced(Sandbox):
    """A sandbox that records the changing calls of its commands."""

    use_fork_server = False

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.log = root / "calls"
        self.calls: list[tuple[str, str, str]] = []
        self.variables: dict[str, str] = {}

    def trace(self, *words: str, codes: Sequence[int] = (0,)) -> None:
        """Run a command, and add its calls: the command, the call, and the path with the folder it starts at."""
        names = ",".join(f"?{name}" for name in CHANGING)
        command = [
            str(STRACE),
            "-f",
            "--seccomp-bpf",
            "-y",
            "-qq",
            "-o",
            str(self.log),
            "-e",
            f"trace={names}",
            *self.command,
            *words,
        ]
        done = subprocess.run(
            command,
            cwd=self.work,
            env=self.environment(self.variables),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode in codes, (words, done)
        for line in self.log.read_text().splitlines():
            self.calls += [(" ".join(words), call, path) for call, path in self._changes(line)]

    def _changes(self, line: str) -> Iterator[tuple[str, str]]:
        match = CALL.match(line)
        if match is None or (match[1].startswith("open") and not WRITES.search(match[2])):
            return
        paths = PATH.findall(match[2])
        for number in CHANGING[match[1]]:
            start, path = paths[number] if number < len(paths) else ("", "")
            yield match[1], path if path.startswith("/") else f"{start or self.work}//{path}"

    def violations(self, *roots: Path) -> list[str]:
        """Return the calls that change something below a folder by more than a name in an open folder."""
        found = []
        for words, call, path in self.calls:
            whole, (_, _, name) = os.path.normpath(path), path.partition("//")
            is_below = any(whole.startswith(f"{root}/") for root in roots)
            if is_below and ("//" not in path or "/" in name):
                found.append(f"{words}: {call} {path}")
        return found

    def changes_below(self, root: Path) -> int:
        """Return how many calls changed something below a folder."""
        return sum(os.path.normpath(path).startswith(f"{root}/") for _, _, path in self.calls)


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "upstream")
    publish(repository, "one")
    return repository


def publish(repository: Repository, word: str) -> None:
    for name in ("pdf", "docx"):
        files = make_skill(name, body=f"{word}\n") | {"scripts/run.sh": f"echo {word}\n", f"notes/{word}.md": word}
        repository.write(prefix_paths(f"skills/{name}", files), executable=[f"skills/{name}/scripts/run.sh"])
    repository.commit(word)


def edit(skills: Path) -> None:
    with (skills / "pdf/SKILL.md").open("a") as file:
        file.write("an edit\n")


def change_everything(traced: Traced, upstream: Repository, skills: Path, host: Path, *flag: str) -> None:
    """Run every command that changes a skills directory or an agent's folder."""
    traced.trace("install", upstream.file_url, "--all", "--yes", *flag)
    traced.trace("link", "claude-code", *flag)
    edit(skills)
    traced.trace("sync", "--force", *flag)
    publish(upstream, "two")
    edit(skills)
    traced.trace("update", "--force", *flag)
    traced.trace("backup", "restore", "pdf-1", "--force", *flag)
    edit(skills)
    traced.trace("backup", "restore", "pdf-2", "--force", *flag)
    shutil.rmtree(skills / "docx")
    (host / "dead").symlink_to(os.path.relpath(skills / "dead", host))
    (host / ".docx.skillpm-new").mkdir(parents=True)
    (skills / ".skillpm/receipt.json").write_text("damaged")
    (skills / ".skillpm/journal.json").write_text("{}")
    (skills / ".skillpm/staging/docx/inner").mkdir(parents=True)
    traced.trace("doctor", "--fix", *flag, codes=(0, 1))
    traced.trace("sync", "--force", *flag)
    traced.trace("disable", "pdf", *flag)
    traced.trace("enable", "pdf", *flag)
    (skills / "own").mkdir()
    (skills / "own/SKILL.md").write_bytes(make_skill("own")["SKILL.md"])
    traced.trace("registry", "build", *flag)
    (skills / "flat.md").write_text("# A flat file\n\nUse when it is flat.\n")
    traced.trace("migrate", *flag)
    traced.trace("lock", "--upgrade", *flag)
    (skills / "pdf").chmod(0o555)
    traced.trace("unlink", "claude-code", *flag)
    traced.trace("uninstall", "pdf", "--force", *flag)


@pytest.mark.parametrize("links", ["symlink", "copy"])
def test_in_a_project(tmp_path: Path, upstream: Repository, links: str) -> None:
    traced = Traced(tmp_path / "world")
    traced.variables["SKILLPM_LINK_MODE"] = links

    traced.trace("init")
    change_everything(traced, upstream, traced.work / ".agent-skills", traced.work / ".claude/skills")
    traced.trace("new", "mine", "--in", "own", "--scripts")
    traced.trace("version", "own/mine", "minor")
    (traced.work / "own/mine/SKILL.md").write_text("---\nname: Mine\ndescription: use it: now\n---\n")
    traced.trace("validate", "--fix", "own/mine", codes=(0, 1))

    assert traced.violations(traced.work) == []
    assert traced.changes_below(traced.work) > 500


def test_in_user_scope_with_linked_folders(tmp_path: Path, upstream: Repository) -> None:
    traced = Traced(tmp_path / "world")
    dotfiles = tmp_path / "dotfiles"
    (dotfiles / "claude").mkdir(parents=True)
    (dotfiles / "skills").mkdir()
    (traced.home / ".claude").symlink_to(dotfiles / "claude")
    (traced.home / ".agent-skills").symlink_to(dotfiles / "skills")

    change_everything(traced, upstream, dotfiles / "skills", dotfiles / "claude/skills", "-g")

    assert traced.violations(dotfiles, traced.home / ".claude", traced.home / ".agent-skills") == []
    assert traced.changes_below(dotfiles) > 500
