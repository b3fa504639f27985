"""The published wheel works by itself: it contains the bundled skills and the schemas, and needs no checkout."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from kit import Sandbox

from skillpm.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
BACKUP_LIST_PAGE = r""".TH "SKILLPM-BACKUP-LIST" 1 "" "skillpm 0.1.0" "skillpm"
.SH NAME
skillpm\-backup\-list \- List backups
.SH SYNOPSIS
.B skillpm backup list
[OPTIONS]
.SH DESCRIPTION
.PP
List backups.
.SH SCOPE OPTIONS
.TP
\fB\-g, \-\-global\fR
Use the user scope (~/.agent\-skills).
.TP
\fB\-\-project DIR\fR
Use the project in DIR.
.SH GLOBAL OPTIONS
.TP
\fB\-\-json\fR
Print the result as one JSON object.
.TP
\fB\-q, \-\-quiet\fR
Print errors only.
.TP
\fB\-v, \-\-verbose\fR
Log network requests (\-vv: also git commands).
.TP
\fB\-\-color WHEN\fR
Use colors: auto (in a terminal), always or never [default: auto].
.TP
\fB\-\-no\-color\fR
Disable colors: same as \-\-color never.
.TP
\fB\-h, \-\-help\fR
Show this message and exit.
.SH EXAMPLE
.nf
  skillpm backup list
.fi
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("agent_skillpm-*.whl"))


def test_the_wheel_carries_every_bundled_file_every_schema_and_the_parts_of_the_page(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if "__pycache__" not in name}
    for source, place in (
        ("bundled", "skillpm/_bundled"),
        ("registry-schema", "skillpm/_registry_schema"),
        ("skillpm/indexes/page/parts", "skillpm/indexes/page/parts"),
        ("skillpm/directory", "skillpm/directory"),
    ):
        wanted = {
            f"{place}/{path.relative_to(ROOT / source).as_posix()}"
            for path in (ROOT / source).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert wanted == {name for name in packed if name.startswith(place + "/")}


def test_the_directory_of_public_skills_is_at_most_400_kb_of_the_wheel(wheel: Path) -> None:
    files = [info for info in zipfile.ZipFile(wheel).infolist() if info.filename.startswith("skillpm/directory/")]

    assert len(files) == 2
    assert sum(info.compress_size for info in files) <= 400_000


def test_the_wheel_has_a_man_page_for_each_command_and_the_completions(wheel: Path, tmp_path: Path) -> None:
    share = "agent_skillpm-0.1.0.data/data/share"
    archive = zipfile.ZipFile(wheel)
    texts = {
        name.removeprefix(f"{share}/"): archive.read(name).decode() for name in archive.namelist() if share in name
    }
    pages = {path.removeprefix("man/man1/") for path in texts if path.startswith("man/")}
    assert {f"skillpm-{name}.1" for name in COMMANDS} | {"skillpm.1", "agent-skillpm.1"} <= pages
    assert texts["man/man1/skillpm-backup-list.1"] == BACKUP_LIST_PAGE
    sandbox = Sandbox(tmp_path / "sandbox")
    scripts = {
        "bash": "bash-completion/completions/skillpm",
        "zsh": "zsh/site-functions/_skillpm",
        "fish": "fish/vendor_completions.d/skillpm.fish",
    }
    assert {shell: texts[path] for shell, path in scripts.items()} == {
        shell: sandbox.run("completion", shell, check=True).stdout.removesuffix("\n") for shell in scripts
    }


def test_an_installed_wheel_does_the_main_job_without_a_checkout(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    site = next((environment / "lib").glob("python*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    zipfile.ZipFile(wheel).extractall(site)  # what pip does to a wheel of pure Python, less its scripts
    sandbox = Sandbox(tmp_path / "sandbox")
    sandbox.command = (str(python), "-I", "-m", "skillpm")  # type: ignore[misc]  # this one sandbox runs another Python
    where = subprocess.run(
        [str(python), "-I", "-c", "import skillpm; print(skillpm.__file__)"], check=True, capture_output=True, text=True
    )
    assert where.stdout.strip() == str(site / "skillpm" / "__init__.py")
    assert sandbox.run("install", "code-review").stdout.splitlines()[0] == " + code-review 1.0.0"
    seen = sandbox.run("discover", "--agent", "omega", check=True).stdout.splitlines()[0]
    assert seen == f"omega sees 0 skills from {sandbox.work}"
    assert "code-review" in {skill["name"] for skill in sandbox.run("discover", "--json", check=True).json["skills"]}
    registry = (sandbox.home / ".agent-skills" / "skills.json").read_text(encoding="utf-8")
    assert '"filePath": "code-review/SKILL.md"' in registry
