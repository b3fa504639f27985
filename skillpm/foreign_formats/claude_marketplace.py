"""`.claude-plugin/marketplace.json`: plugins, each of which may hold skills."""

from skillpm.core.decoder import Node
from skillpm.core.git_syntax import is_commit
from skillpm.core.names import path_fault
from skillpm.core.text import show
from skillpm.errors import DocumentError, SkillpmError
from skillpm.foreign_formats.base import Left, Plugin, Reading, git_source
from skillpm.requirements.source import GitSource


def read_marketplace(top: Node) -> Reading:
    """Read where each plugin is; which skills it holds stands there, not here."""
    metadata = top.get("metadata")
    root = "" if metadata is None else metadata.text_or("pluginRoot")
    plugins, left = [], []
    for node in top.need("plugins").elements():
        try:
            plugins.append(_plugin(node, root).but(where=node.where))
        except SkillpmError as error:
            name = node.value.get("name") if isinstance(node.value, dict) else None
            called = show(str(name or f"plugin {node.keys[-1]}"), 80)
            left.append(Left(name=called, why=error.message, where=error.where or node.where))
    return Reading(tool="a marketplace of plugins", file=top.file, plugins=tuple(plugins), left=tuple(left))


def _plugin(node: Node, root: str) -> Plugin:
    name, source, skills = node.need("name").text(), node.need("source"), node.get("skills")
    only = None if skills is None else skill_folders(skills)
    if not isinstance(source.value, str) and source.text_or("url").startswith("./"):
        source = source.need("url")
    if isinstance(source.value, str):
        folder = source.text()
        if not folder.startswith(("./", "../", "/")) and root:
            folder = f"{root}/{folder}"
        return Plugin(name=name, source=None, folder=_folder(Node(folder, source.file, source.keys)), skills=only)
    repository, folder = _repository(source)
    return Plugin(name=name, source=repository, folder=folder, skills=only)


def _repository(node: Node) -> tuple[GitSource, str]:
    kind = node.need("source").text()
    ref = node.text_or("sha") if is_commit(node.text_or("sha")) else node.text_or("ref")
    match kind:
        case "github":
            repo = node.need("repo")
            return git_source(Node(f"https://github.com/{repo.text()}", repo.file, repo.keys), ref=ref), _path(node)
        case "url":
            return git_source(node.need("url"), ref=ref), _path(node)
        case "git-subdir":
            return git_source(node.need("url"), ref=ref), _folder(node.need("path"))
        case _:
            raise DocumentError(
                f"it comes from a `{show(kind, 40)}` source, which skillpm does not have", where=node.where
            )


def skill_folders(node: Node) -> tuple[str, ...]:
    """Read `skills` of a plugin: one folder or many, each a skill or a folder of skills."""
    return (_folder(node),) if isinstance(node.value, str) else tuple(_folder(part) for part in node.elements())


def _path(node: Node) -> str:
    path = node.get("path")
    return "." if path is None or path.value is None else _folder(path)


def _folder(node: Node) -> str:
    """Give a folder below the place it is relative to. One that leads out of it is refused."""
    path = node.text().removeprefix("./").strip("/")
    if path in {"", "."}:
        return "."
    if fault := "is absolute" if node.text().startswith("/") else path_fault(path):
        raise DocumentError(f"the path `{show(node.text(), 80)}` {fault}", where=node.where)
    return path
