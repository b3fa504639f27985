"""The architecture as a test: imports only go downwards, pure modules do no I/O, and only the command line prints.

Lazy imports count like all others; those under `if TYPE_CHECKING:` only for cycles. Each test compares all violations
in the package with none, so a failure lists every place.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "skillpm"
# Lowest layer first. A package may import those of the layers before its own, itself, and nothing else.
LAYERS = [
    {"errors", "events", "skillpm"},
    {"core"},
    {"kinds"},
    {"directories"},
    {"files"},
    {"cachedir", "formats", "locks", "settings"},
    {"requirements", "store"},
    {"foreign_formats", "resolver", "skillmd"},
    {"audit", "trust"},
    {"fetchers", "installer"},
    {"indexes", "registry"},
    {"agent_hosts", "serving"},
    {"scope"},
    {"compare", "specs"},
    {"vetting"},
    {"locking"},
    {"change"},
    {"adopt", "publishing"},
    {"operations"},
    {"cli"},
    {"__main__"},
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
# From values to values, so that they can be tested with a literal, and trusted without a disk.
PURE = [
    "audit", "core", "foreign_formats", "formats", "kinds", "requirements", "resolver", "serving/renderers", "skillmd",
    "trust",
    "adopt/migration_planner.py", "errors.py", "indexes/page/header.py", "indexes/page/skill_entry.py",
    "indexes/page/page_builder.py", "indexes/page/skill_entry.py", "indexes/search/query.py", "installer/actions.py",
    "installer/links/link_planner.py", "publishing/index/release_merge.py", "publishing/index/tarball.py",
    "registry/entry.py", "registry/foreign_registry.py", "registry/metadata_overlay.py", "serving/arguments.py",
    "serving/host_rules/glm.py", "serving/host_rules/opencode.py", "serving/permission_files.py",
    "serving/permissions.py", "serving/schema.py", "serving/skill_search.py", "serving/token_budget.py",
]  # fmt: skip
IO_MODULES = {"os", "subprocess", "socket", "time", "pathlib", "shutil", "tempfile", "httpx", "random", "sys"}
CLOCKS = {"now", "today", "utcnow"}  # of `datetime`, which is pure without these
MOST_MODULES = 22
ONE_A_COMMAND = "cli/commands"  # as many modules as there are commands


def module_name(path: Path) -> str:
    """Return the dotted name of a module; a package has the name of its folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def package_of(module: str) -> str:
    """Return the part of the package that a module belongs to: `cli` of `skillpm.cli.commands.list`."""
    return module.split(".")[1] if "." in module else module


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and name_of(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def name_of(node: ast.AST) -> str:
    """Return a dotted name as it is written; of anything else in it, only `…`."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "…"


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """Return all nodes that mean something at run time: not those under `if TYPE_CHECKING:`."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.If) and is_type_checking(node):
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


@cache
def text_of(module: str) -> str:
    return MODULES[module].read_text(encoding="utf-8")


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(text_of(module))


@cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    return tuple(nodes_of(tree_of(module)))


def imported_by(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Return the modules that are imported; of `from skillpm.core import text` the submodule, too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield str(node.module)
            yield from (whole for alias in node.names if (whole := f"{node.module}.{alias.name}") in MODULES)


@cache
def imports(module: str) -> frozenset[str]:
    return frozenset(imported_by(nodes(module)))


@cache
def calls(module: str) -> frozenset[str]:
    return frozenset(name_of(node.func) for node in nodes(module) if isinstance(node, ast.Call))


def cycles(graph: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Return the groups of modules that import each other, one or more steps apart (Tarjan 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            group = set(stack[stack.index(name) :])
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(group)

    for name in graph:
        if name not in number:
            visit(name)
    return found


def test_imports_only_go_downwards() -> None:
    assert {package_of(module) for module in MODULES} == set(LEVEL)
    assert [
        f"{module} imports {other}"
        for module in MODULES
        for other in sorted(imports(module))
        if other.split(".")[0] == "skillpm"
        and package_of(other) != package_of(module)
        and LEVEL[package_of(other)] >= LEVEL[package_of(module)]
    ] == []


def test_no_modules_import_each_other() -> None:
    """Not for the type checker either: a reader follows these imports, too."""
    graph = {}
    for module in MODULES:
        found = {*imported_by(ast.walk(tree_of(module)))}
        graph[module] = sorted(found & MODULES.keys() - {module})

    assert cycles(graph) == []


def test_no_folders_import_each_other() -> None:
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        folder = graph.setdefault(folder_of(path), set())
        folder.update(other for name in imports(module) & MODULES.keys() if (other := folder_of(MODULES[name])))

    assert cycles({name: sorted(others - {name}) for name, others in graph.items()}) == []


def folder_of(path: Path) -> str:
    """Return the folder of a module; one that is in no folder stands for itself."""
    return str((path if path.parent == PACKAGE else path.parent).relative_to(PACKAGE.parent))


def test_packages_keep_their_budgets() -> None:
    """The table of CONTRIBUTING has the lines of each package, rounded up to 50: a commit that needs more says so."""
    table = Path(__file__).parents[1].joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \| .* \| ([\d,]+) \|$", table, re.MULTILINE)
    budgets = {frozenset(re.findall(r"`(\w+)/?`", names)): int(lines.replace(",", "")) for names, lines in rows}
    lines: Counter[str] = Counter()
    for module in MODULES:
        lines[package_of(module)] += len(text_of(module).splitlines())

    assert {name for names in budgets for name in names} == {*LEVEL} - {"__main__", "skillpm"}
    sizes = {names: sum(lines[name] for name in names) for names in budgets}
    assert {names: size for names, size in sizes.items() if not size <= budgets[names] < size + 150} == {}


def test_cycles_are_found() -> None:
    graph = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["e"], "e": ["d"], "f": ["a"], "g": []}

    assert sorted(map(sorted, cycles(graph))) == [["a", "b", "c"], ["d", "e"]]


def test_imports_are_found_but_for_those_of_the_type_checker() -> None:
    text = """
from typing import TYPE_CHECKING
import os.path
if TYPE_CHECKING:
    import httpx
else:
    from skillpm import errors
def later():
    from skillpm.core.text import show
    if True:
        import yaml
"""
    assert set(imported_by(nodes_of(ast.parse(text)))) == {
        "typing", "os.path", "skillpm", "skillpm.errors", "skillpm.core.text", "yaml",
    }  # fmt: skip


def test_pure_modules_touch_neither_disk_nor_clock_nor_environment() -> None:
    pure = {
        module
        for place in PURE
        for module, path in MODULES.items()
        if path == PACKAGE / place or (PACKAGE / place) in path.parents
    }
    assert [place for place in PURE if not (PACKAGE / place).exists()] == []
    found = []
    for module in sorted(pure):
        found += [f"{module} imports {name}" for name in imports(module) if name.split(".")[0] in IO_MODULES]
        found += [f"{module} calls {name}" for name in calls(module) & {"open", "input", "print"}]
        clocks = {node.attr for node in nodes(module) if isinstance(node, ast.Attribute)} & CLOCKS
        found += [f"{module} reads the clock: {name}" for name in clocks if "datetime" in imports(module)]
    assert found == []


def test_only_the_command_line_prints_exits_and_uses_click() -> None:
    below = [module for module in MODULES if package_of(module) not in {"cli", "__main__"}]
    found = [
        f"{module} calls {name}"
        for module in below
        for name in sorted(calls(module) & {"print", "input", "exit", "sys.exit"})
    ]
    found += [
        f"{module} imports {name}"
        for module in below
        for name in sorted(imports(module))
        if name.split(".")[0] in {"click", "rich"}
    ]
    assert found == []


def test_only_command_line_and_settings_read_the_environment() -> None:
    readers = {
        package_of(module)
        for module in MODULES
        for node in nodes(module)
        if isinstance(node, ast.Attribute) and name_of(node) in {"os.environ", "os.environb", "os.getenv"}
    }
    assert readers == {"cli", "settings"}


def test_schemas_are_never_read_at_run_time() -> None:
    assert [module for module in MODULES if "jsonschema" in imports(module)] == []
    assert [module for module in MODULES if "registry_schema" in text_of(module)] == []


def test_no_folder_has_too_many_modules() -> None:
    folders = {path.parent for path in MODULES.values()}
    sizes = {str(folder.relative_to(PACKAGE)): len(list(folder.glob("[!_]*.py"))) for folder in folders}
    allowed = {ONE_A_COMMAND: sizes[ONE_A_COMMAND]}

    assert {folder: size for folder, size in sizes.items() if size > allowed.get(folder, MOST_MODULES)} == {}


def test_a_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for name in (node.name for node in nodes(module) if isinstance(node, ast.ClassDef)):
            homes.setdefault(name, []).append(module)

    shared = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert shared == {
        # As a SKILL.md declares it, and as the registry has it, which is read without the module of the other.
        "McpServer": ["skillpm.registry.card", "skillpm.skillmd.skill"],
        # The rules of an audit, and those of permissions, which the Python API calls `Rule`.
        "Rule": ["skillpm.audit.model", "skillpm.serving.permissions"],
    }


def test_folders_of_a_project_are_changed_by_directory_descriptors_only() -> None:
    """Else a path is looked up again at the call, and may lead elsewhere by then (ADR 53)."""
    names = ("chmod", "link", "makedirs", "mkdir", "remove", "rename", "replace", "rmdir", "symlink", "unlink", "utime")
    changing = {*(f"os.{name}" for name in names), "shutil.move", "shutil.rmtree"}
    changed = {
        module: found
        for module in MODULES
        if package_of(module) in {"files", "installer", "locks"} and (found := sorted(calls(module) & changing))
    }

    # The folder of the cache belongs to the user alone.
    assert changed == {"skillpm.installer.unpacked": ["os.makedirs", "os.rename", "os.unlink"]}
