"""`.claude-plugin/marketplace.json`: plugins, each of which may contain skills."""

from skillpm.core.git_syntax import is_commit
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import path_problem
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, SkillpmError
from skillpm.foreign_formats.base import ForeignDocument, Plugin, SkippedSkill, make_git_source
from skillpm.kinds.git import GitSource


def read_marketplace(top: JsonNode) -> ForeignDocument:
    """Parse the sources of plugins. Their skills are only known from the plugins themselves."""
    metadata = top.get("metadata")
    root = "" if metadata is None else metadata.text_or("pluginRoot")
    plugins, skipped = [], []
    for node in top.require("plugins").elements():
        try:
            plugins.append(_read_plugin(node, root).replace(where=node.where))
        except SkillpmError as error:
            name = node.value.get("name") if isinstance(node.value, dict) else None
            label = sanitize(str(name or f"plugin {node.keys[-1]}"), 80)
            skipped.append(SkippedSkill(name=label, reason=error.message, where=error.where or node.where))
    return ForeignDocument(
        tool="a marketplace of plugins", file=top.file, plugins=tuple(plugins), skipped=tuple(skipped)
    )


def _read_plugin(node: JsonNode, root: str) -> Plugin:
    name, source, skills = node.require("name").text(), node.require("source"), node.get("skills")
    only = None if skills is None else read_skill_folders(skills)
    if not isinstance(source.value, str) and source.text_or("url").startswith("./"):
        source = source.require("url")
    if isinstance(source.value, str):
        folder = source.text()
        if not folder.startswith(("./", "../", "/")) and root:
            folder = f"{root}/{folder}"
        return Plugin(name=name, source=None, folder=_read_subfolder(source.with_value(folder)), skills=only)
    repository, folder = _read_repository(source)
    return Plugin(name=name, source=repository, folder=folder, skills=only)


def _read_repository(node: JsonNode) -> tuple[GitSource, str]:
    kind = node.require("source").text()
    ref = node.text_or("sha") if is_commit(node.text_or("sha")) else node.text_or("ref")
    match kind:
        case "github":
            repo = node.require("repo")
            url = repo.with_value(f"https://github.com/{repo.text()}")
            return make_git_source(url, ref=ref), _read_path(node)
        case "url":
            return make_git_source(node.require("url"), ref=ref), _read_path(node)
        case "git-subdir":
            return make_git_source(node.require("url"), ref=ref), _read_subfolder(node.require("path"))
        case _:
            raise DocumentError(
                f"it comes from a `{sanitize(kind, 40)}` source, which skillpm does not support", where=node.where
            )


def read_skill_folders(node: JsonNode) -> tuple[str, ...]:
    """Parse `skills` of a plugin: one or several folders, each a skill or a folder of skills."""
    return (
        (_read_subfolder(node),)
        if isinstance(node.value, str)
        else tuple(_read_subfolder(part) for part in node.elements())
    )


def _read_path(node: JsonNode) -> str:
    path = node.get("path")
    return "." if path is None or path.value is None else _read_subfolder(path)


def _read_subfolder(node: JsonNode) -> str:
    """Return a relative folder. Raises `DocumentError` for a path that is absolute or leaves its base."""
    path = node.text().removeprefix("./").strip("/")
    if path in {"", "."}:
        return "."
    if problem := "is absolute" if node.text().startswith("/") else path_problem(path):
        raise DocumentError(f"the path `{sanitize(node.text(), 80)}` {problem}", where=node.where)
    return path
