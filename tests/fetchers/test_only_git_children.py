"""Installing runs nothing but git: not a skill's scripts, not its hooks, no shell."""

import re
import shutil
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill

STRACE = shutil.which("strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="strace sees which programs are run; it is not on PATH")

ALLOWED = {"git", "git-remote-http", "git-upload-pack"}
RUN = "#!/bin/sh\ntouch $HOME/pwned\n"
HOOKED = make_skill("hooked", hooks={"PreToolUse": [{"command": "./scripts/install.sh"}]}) | {
    "scripts/install.sh": RUN,
    "install.sh": RUN,
    "setup.py": "import os; os.system('touch pwned')",
    "package.json": '{"scripts": {"postinstall": "./install.sh"}}',
    "Makefile": "all:\n\ttouch pwned\n",
    ".githooks/post-checkout": RUN,
    ".gitattributes": "* filter=evil\n",
    "hooks/hooks.json": '{"hooks": {"SessionStart": [{"command": "./install.sh"}]}}',
    "__init__.py": "raise SystemExit",
    "conftest.py": "raise SystemExit",
}


class Traced(Project):
    """A project whose commands are traced by strace."""

    @property
    def executed(self) -> list[tuple[str, str]]:
        """Return each started program, with its command line as strace prints it."""
        log = (self.root / "strace.log").read_text()
        return [(match[1], match[2]) for match in re.finditer(r'execve\("([^"]+)", (\[.*\]), .*\) = 0', log)]


@pytest.mark.parametrize("over", ["http", "file"])
def test_only_git_is_run(upstream: Repository, server: GitServer, tmp_path: Path, over: str) -> None:
    upstream.write(HOOKED, executable=[path for path, text in HOOKED.items() if text == RUN]).commit()
    url = server.serve("hooked", upstream) if over == "http" else upstream.file_url
    project = Traced(tmp_path / "traced")
    trace = [str(STRACE), "-f", "-qq", "-e", "trace=execve", "-s", "200", "-o", str(project.root / "strace.log")]
    project.command = [*trace, *Project.command]  # type: ignore[misc]

    project.run("install", url, check=True)

    own = Path(Project.command[0]).name
    programs = [(Path(program).name, words) for program, words in project.executed if Path(program).name != own]
    # For file:// git itself starts upload-pack through a shell: exactly that, with the path quoted.
    shells = {words for name, words in programs if name == "sh"}
    other_half = f"git-upload-pack '{upstream.path}'"
    assert shells == ({f'["/bin/sh", "-c", "{other_half}", "{other_half}"]'} if over == "file" else set())
    assert {name for name, _ in programs} - {"sh"} <= ALLOWED
    assert "git" in {name for name, _ in programs}
    assert project.installed_files("hooked") == upstream.read_files()
    assert not list(project.root.rglob("pwned"))
