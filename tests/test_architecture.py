"""The house plan as a test: imports only go downstairs, rules touch nothing, and only the command line speaks."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "skillpm"
# Downstairs is left. A room may import what stands before it, itself, and nothing else.
STAIRS = [
    {"errors", "events", "skillpm"},
    {"core", "files"},
    {"cachedir", "formats", "locks", "settings"},
    {"requirements", "store"},
    {"foreign_formats", "resolver", "skillmd"},
    {"fetchers", "installer"},
    {"indexes", "registry"},
    {"agent_hosts", "serving"},
    {"operations"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(STAIRS) for room in rooms}
# Rules: from values to values, so that they can be tested with a literal and trusted without a disk.
PURE = [
    "core", "foreign_formats", "formats", "requirements", "resolver", "serving/renderers", "skillmd", "errors.py",
    "indexes/page/header.py", "indexes/page/markdown.py", "indexes/page/page_builder.py", "indexes/page/skill_entry.py",
    "indexes/publish/release_merge.py", "indexes/publish/tarball.py", "indexes/search/query.py", "installer/actions.py",
    "installer/links/link_planner.py", "installer/migration/migration_planner.py", "registry/entry.py",
    "registry/foreign_registry.py", "registry/metadata_overlay.py", "serving/arguments.py", "serving/body_modes.py",
    "serving/model_text.py", "serving/permission_files.py", "serving/permissions.py", "serving/referenced_files.py",
    "serving/skill_search.py", "serving/token_budget.py", "serving/tool_schema.py", "serving/triggers.py",
]  # fmt: skip
HANDS = {"os", "subprocess", "socket", "time", "pathlib", "shutil", "tempfile", "httpx", "random", "sys"}
CLOCKS = {"now", "today", "utcnow"}  # of `datetime`, which beside these only reckons

MODULES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "skillpm"


def imports(path: Path, *, top_only: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield str(node.module)


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_only_go_downstairs(path: Path) -> None:
    own = room_of(module_name(path))
    assert own in LEVEL, f"{path} belongs to no room"
    for imported in imports(path):
        if imported.split(".")[0] == "skillpm":
            other = room_of(imported)
            assert other == own or LEVEL[other] < LEVEL[own], f"{path} climbs from {own} to {other}"


def test_no_module_imports_itself_in_a_circle() -> None:
    names = {module_name(path): path for path in MODULES}
    graph = {name: {item for item in imports(path, top_only=True) if item in names} for name, path in names.items()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join([*trail, name])
        if name not in done:
            for other in graph[name] - {name}:
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("place", PURE)
def test_rules_touch_neither_disk_nor_clock_nor_environment(place: str) -> None:
    root = PACKAGE / place
    for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {name.split(".")[0] for name in imports(path)} & HANDS
        calls = [
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert not found, f"{path} imports {found}"
        clocks = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & CLOCKS
        assert "open" not in calls, f"{path} opens a file"
        assert not ("datetime" in {*imports(path)} and clocks), f"{path} looks at the clock"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_only_the_command_line_prints_exits_and_knows_click(path: Path) -> None:
    if room_of(module_name(path)) in {"cli", "__main__"}:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not calls & {"print", "sys.exit", "exit", "input"}, path
    assert not {name.split(".")[0] for name in imports(path)} & {"click", "rich"}, path


def test_only_the_border_reads_the_environment() -> None:
    readers = [module_name(path) for path in MODULES if "os.environ" in path.read_text(encoding="utf-8")]
    assert {room_of(name) for name in readers} <= {"cli", "settings"}, readers


def test_schemas_are_never_read_at_run_time() -> None:
    for path in MODULES:
        assert "registry_schema" not in path.read_text(encoding="utf-8"), path
        assert "jsonschema" not in set(imports(path)), path
