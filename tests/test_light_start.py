"""Start-up: light commands do not import heavy modules, as seen in `sys.modules`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from kit import Sandbox

HEAVY = {
    "httpx", "hishel", "git", "yaml", "tomlkit", "tomllib", "packaging", "resolvelib", "rich", "mcp", "jsonschema",
    "pathspec", "asyncio", "importlib.metadata", "platformdirs", "subprocess", "concurrent.futures",
    "tempfile", "ctypes", "urllib.parse", "skillpm.resolver.solver", "jinja2", "markdown_it", "nh3", "sqlite3",
    "dataclasses", "difflib", "logging", "secrets", "random", "decimal", "pathlib", "socket", "ssl",
}  # fmt: skip
SERVING = [["completion", "bash"], ["prompt"], ["match", "a test"], ["projects"], ["list", "--tokens"]]
WATCH = (
    "import json, sys\n"
    "from skillpm.cli.main import main\n"
    "try:\n code = main(sys.argv[1:])\n"
    "finally:\n print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
)


def loaded(sandbox: Sandbox, *words: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", WATCH, *words],
        env=sandbox.environment({}),
        cwd=sandbox.work,
        capture_output=True,
        text=True,
        check=True,
    )
    modules: set[str] = set(json.loads(result.stderr.splitlines()[-1]))
    return modules


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    sandbox = Sandbox(tmp_path_factory.mktemp("settled"))
    sandbox.run("init", check=True)
    sandbox.run("install", "code-review", "testing", check=True)
    sandbox.run("search", "test", check=True)
    return sandbox


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["list"], ["sync"], ["install", "testing"], *SERVING],
    ids=" ".join,
)
def test_a_light_command_imports_nothing_heavy(settled: Sandbox, words: list[str]) -> None:
    assert loaded(settled, *words) & HEAVY == set()


def test_search_imports_sqlite_and_nothing_else_that_is_heavy(settled: Sandbox) -> None:
    assert loaded(settled, "search", "test") & HEAVY == {"sqlite3"}


def test_an_update_with_nothing_new_compares_no_content(settled: Sandbox) -> None:
    assert {name for name in loaded(settled, "update") if name.endswith(("capabilities", "difflib"))} == set()


def test_a_sync_with_nothing_to_do_checks_no_content(settled: Sandbox) -> None:
    checks = (
        "skillpm.audit",
        "skillpm.operations.audit",
        "skillpm.operations.content_validation",
        "skillpm.operations.review",
    )

    assert {name for name in loaded(settled, "sync") if name.startswith(checks)} == set()


def test_a_skill_that_has_passed_is_loaded_without_the_audit(settled: Sandbox) -> None:
    settled.run("load", "testing", check=True)

    assert {name for name in loaded(settled, "load", "testing") if name.startswith("skillpm.audit")} == set()


def test_the_help_imports_no_command(settled: Sandbox) -> None:
    ours = {name for name in loaded(settled, "--help") if name.startswith("skillpm")}
    assert ours == {"skillpm", "skillpm.cli", "skillpm.cli.main"}


def test_importing_the_package_imports_nothing_else(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import skillpm; print(sorted(set(sys.modules) - before))"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['skillpm']"
