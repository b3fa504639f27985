"""Start-up: light commands do not import heavy modules, as seen in `sys.modules`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kit import Repository, Sandbox, make_skill, prefix_paths

import skillpm

ROOT = Path(skillpm.__file__).parent
HEAVY = {
    "httpx", "hishel", "git", "yaml", "tomlkit", "tomllib", "packaging", "resolvelib", "rich", "mcp", "jsonschema",
    "pathspec", "asyncio", "importlib.metadata", "platformdirs", "subprocess", "concurrent.futures",
    "tempfile", "ctypes", "urllib.parse", "skillpm.resolver.solver", "jinja2", "markdown_it", "nh3", "sqlite3",
    "dataclasses", "difflib", "logging", "secrets", "random", "decimal", "pathlib", "socket", "ssl",
}  # fmt: skip
SERVING = [
    ["completion", "bash"],
    ["load", "testing"],
    ["prompt"],
    ["search", "--triggers", "a test"],
    ["projects"],
    ["list", "--tokens"],
]
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


@pytest.mark.parametrize("words", [["--version"], ["list"], ["sync"], ["install", "testing"]], ids=" ".join)
def test_a_light_command_does_not_load_the_public_skills(settled: Sandbox, words: list[str]) -> None:
    assert {name for name in loaded(settled, *words) if "public" in name} == set()


def test_search_imports_sqlite_and_nothing_else_that_is_heavy(settled: Sandbox) -> None:
    assert loaded(settled, "search", "test") & HEAVY == {"sqlite3"}


def test_an_update_with_nothing_new_compares_no_content(settled: Sandbox) -> None:
    assert {name for name in loaded(settled, "update") if name.endswith(("capabilities", "difflib"))} == set()


def test_a_sync_with_nothing_to_do_checks_no_content(settled: Sandbox) -> None:
    needed = {f"skillpm.vetting{name}" for name in ("", ".acceptance", ".validation_options")}

    found = {name for name in loaded(settled, "sync") if name.startswith(("skillpm.audit", "skillpm.vetting"))}
    assert found <= needed


def test_a_skill_that_has_passed_is_loaded_without_the_audit(settled: Sandbox) -> None:
    settled.run("load", "testing", check=True)

    assert {name for name in loaded(settled, "load", "testing") if name.startswith("skillpm.audit")} == set()


def test_the_help_imports_no_command(settled: Sandbox) -> None:
    ours = {name for name in loaded(settled, "--help") if name.startswith("skillpm")}
    assert ours == {"skillpm", "skillpm.cli", "skillpm.cli.main", "skillpm.cli.help"}


def test_importing_the_package_imports_nothing_else(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import skillpm; print(sorted(set(sys.modules) - before))"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['skillpm']"


WATCH_CALLS = """\
import json, sys, threading
called = set()
def watch(frame, event, _):
    if event == "call" and frame.f_code.co_flags & 2:  # a function, not the body of a module or a class
        called.add(frame.f_code.co_filename)
sys.setprofile(watch)
threading.setprofile(watch)
from skillpm.cli.main import main
main(sys.argv[1:])
sys.setprofile(None)
ours = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("skillpm.")}
print(json.dumps(sorted(name for name, path in ours.items() if path not in called)), file=sys.stderr)
"""
# What commands import without a call: types, data, and functions for another case than this one.
UNCALLED_BY_ALL = {
    "core.exclude_newer", "core.limits", "core.netloc", "core.suggestions", "kinds.index",
    "requirements.forge_pages", "skillmd.findings",
}  # fmt: skip
UNCALLED = {
    "install": {
        "audit.model", "audit.rule_set", "audit.rules.commands",
        "audit.rules.files", "audit.rules.texts", "audit.rules.vocabulary", "fetchers.git.program.errors",
        "installer.links.copies", "requirements.siblings", "resolver.provider",
        "vetting.validation_options",
    },
    "restore": {
        "audit.model", "audit.rule_set", "audit.rules.commands",
        "audit.rules.files", "audit.rules.texts", "audit.rules.vocabulary", "core.versions",
        "fetchers.git.program.errors", "fetchers.git.refs", "fetchers.git.skill_finder", "formats.editing.json_edit",
        "installer.disk.skill_file", "installer.links.copies", "locking.whole_repositories",
        "requirements.repository_url", "requirements.siblings",
        "requirements.specifier", "resolver.provider",
        "resolver.search_space", "skillmd.body_references", "vetting.validation_options",
    },
    "update": {
        "cli.error_output", "cli.interrupts", "core.shell", "fetchers.bundled_paths", "fetchers.common.base",
        "fetchers.git.program.errors", "fetchers.git.transfer.connection", "fetchers.git.tree_proof",
        "fetchers.http.document_cache", "formats.editing.json_edit", "formats.editing.key_positions",
        "formats.index_releases", "formats.index_schema", "installer.disk.late_edits", "installer.disk.rename",
        "installer.disk.skill_file", "installer.disk.staging", "installer.links.copies", "installer.links.link_planner",
        "installer.links.reconciler", "installer.moves", "installer.transaction",
        "locking.whole_repositories", "operations.inspect.outdated", "requirements.repository_url",
        "requirements.siblings", "requirements.specifier", "resolver.provider",
        "skillmd.host_manifests", "specs.includes", "vetting.validation_options",
    },
    "load": {
        "cli.text_layout", "core.code_fences", "core.conflict_markers", "core.file_tree", "core.shell", "core.versions",
        "errors", "formats.host_profile", "formats.user_config", "indexes.search.query", "registry.build_state",
        "registry.metadata_overlay", "registry.unmanaged_skills",
        "requirements.repository_url", "requirements.specifier", "scope.left_out",
        "serving.approval", "serving.results", "serving.schema", "serving.service",
        "serving.token_budget", "skillmd.body_references", "skillmd.host_manifests", "store",
    },
    "link": {
        "audit.model", "audit.rule_set", "core.code_fences", "core.conflict_markers", "core.file_tree",
        "core.shell", "core.versions", "errors", "fetchers.common.base",
        "fetchers.common.metadata", "fetchers.verified_content", "formats.legacy_registry",
        "formats.trust.audit_settings", "formats.user_config", "indexes.search.query", "installer.folder_manifests",
        "locking.whole_repositories", "registry.foreign_registry", "registry.last_use",
        "registry.snapshot", "requirements.declared_dependencies",
        "requirements.repository_url", "requirements.siblings", "requirements.specifier",
        "resolver.provider", "resolver.search_space",
        "scope.audit_settings", "scope.verdicts", "serving.access_errors", "serving.approval",
        "serving.event_log", "serving.renderers.body_modes", "serving.renderers.model_text",
        "serving.results", "serving.schema", "serving.service", "serving.skill_files", "serving.skill_search",
        "serving.token_budget", "skillmd.body_references", "skillmd.host_manifests", "vetting.audited",
        "vetting.folder_files", "vetting.problems", "vetting.validation_options",
    },
}  # fmt: skip


def uncalled(sandbox: Sandbox, *words: str) -> set[str]:
    command = [sys.executable, "-c", WATCH_CALLS, *words]
    result = subprocess.run(
        command, env=sandbox.environment({}), cwd=sandbox.work, capture_output=True, text=True, check=True
    )
    names: list[str] = json.loads(result.stderr.splitlines()[-1])
    return {name.removeprefix("skillpm.") for name in names}


@pytest.fixture(scope="module")
def uncalled_modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The modules, without packages, that each command imports without a call."""
    path = tmp_path_factory.mktemp("uncalled")
    packages = {".".join(path.relative_to(ROOT).parent.parts) for path in ROOT.rglob("__init__.py")}
    repository = Repository.create(path / "upstream")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit("first")
    sandbox = Sandbox(path / "world")
    sandbox.write("skills.json", '{"skills": {}}\n')
    found = {"install": uncalled(sandbox, "install", f"{repository.file_url}@pdf")}
    shutil.rmtree(sandbox.work / ".agent-skills")
    shutil.rmtree(sandbox.cache)
    found["restore"] = uncalled(sandbox, "sync", "--frozen")
    found["update"] = uncalled(sandbox, "update")
    found["load"] = uncalled(sandbox, "load", "pdf")
    found["link"] = uncalled(sandbox, "link", "claude-code")
    return {command: names - packages for command, names in found.items()}


@pytest.mark.parametrize("command", UNCALLED)
def test_a_command_imports_what_it_calls(uncalled_modules: dict[str, set[str]], command: str) -> None:
    assert uncalled_modules[command] - UNCALLED_BY_ALL - UNCALLED[command] == set()
