"""The files in which OpenCode 1.18 finds its configuration, in the order in which it merges them."""

import os
import sys
from collections.abc import Iterator
from typing import Literal, NamedTuple

from skillpm.core.json_text.decoder import parse_jsonc
from skillpm.core.patterns import lazy_pattern
from skillpm.errors import FileError
from skillpm.files import OS_ERROR_REASONS, read_text
from skillpm.installer.escaping_links import find_repository_root
from skillpm.serving.host_rules.opencode import (
    Config,
    merge,
    parse_agent,
    parse_agent_file,
    parse_config,
    parse_permission,
)
from skillpm.settings import Settings

FILE_NAMES = ("opencode.json", "opencode.jsonc")
MANAGED_FOLDERS = {"darwin": "/Library/Application Support/opencode", "win32": r"C:\ProgramData\opencode"}
AGENT_FOLDERS, MODE_FOLDERS = ("agent", "agents"), ("mode", "modes")
MAX_FOLDERS = 1000  # below a folder of agents: a link to `/` would be searched for minutes
ENVIRONMENT_REFERENCE = lazy_pattern(r"\{env:([^}]+)\}")


class ConfigPlace(NamedTuple):
    """A configuration file, a folder with folders of agents, or an environment variable with a configuration."""

    kind: Literal["file", "agents", "variable"]
    path: str


def find_opencode_files(settings: Settings) -> Iterator[str]:
    """Return the files and folders whose change may change the rules, whether they exist or not."""
    for place in _find_places(settings):
        if place.kind == "file":
            yield place.path
        for group in (*AGENT_FOLDERS, *MODE_FOLDERS) if place.kind == "agents" else ():
            yield os.path.join(place.path, group)
            for folder, names in _walk(os.path.join(place.path, group)):
                yield from (os.path.join(folder, name) for name in ("", *names))


def load_opencode_config(settings: Settings) -> Config:
    """Return the merged configuration. Raises `DocumentError` or `FileError` for what cannot be read."""
    config: Config = {}
    for place in _find_places(settings):
        if place.kind == "agents":
            for groups in (AGENT_FOLDERS, MODE_FOLDERS):
                # Of two files for one agent the later one is used, unless they are in different places.
                agents = {name: agent for group in groups for name, agent in _read_agents(place.path, group)}
                config = merge(config, {"agent": agents})
            continue
        text = settings.environ.get(place.path) if place.kind == "variable" else read_text(place.path)
        if text:
            text = ENVIRONMENT_REFERENCE.sub(lambda match: settings.environ.get(match[1], ""), text)
            config = merge(config, parse_config(parse_jsonc(text, place.path)))
    if rules := settings.environ.get("OPENCODE_PERMISSION"):
        config = merge(config, {"permission": parse_permission(parse_jsonc(rules, "OPENCODE_PERMISSION"))})
    return config


def _find_places(settings: Settings) -> Iterator[ConfigPlace]:
    environ, here = settings.environ, settings.working_directory
    own = os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(settings.home, ".config"), "opencode")
    extra = environ.get("OPENCODE_CONFIG_DIR", "")
    is_project_ignored = environ.get("OPENCODE_DISABLE_PROJECT_CONFIG", "").lower() in {"1", "true"}
    folders = () if is_project_ignored else tuple(_find_project_folders(here))
    yield from _files_in(own, "config.json", *FILE_NAMES)
    if environ.get("OPENCODE_CONFIG"):
        yield ConfigPlace("file", os.path.normpath(os.path.join(here, environ["OPENCODE_CONFIG"])))
    for folder in reversed(folders):
        yield from _files_in(folder, *FILE_NAMES)
    inner = [os.path.join(folder, ".opencode") for folder in (*folders, settings.home)]
    for folder in dict.fromkeys(filter(None, (own, *inner, extra))):
        if folder != own or folder == extra:
            yield from _files_in(folder, *FILE_NAMES)
        yield ConfigPlace("agents", folder)
    yield ConfigPlace("variable", "OPENCODE_CONFIG_CONTENT")
    managed = environ.get("OPENCODE_TEST_MANAGED_CONFIG_DIR")
    yield from _files_in(managed or MANAGED_FOLDERS.get(sys.platform, "/etc/opencode"), *FILE_NAMES)


def _files_in(folder: str, *names: str) -> Iterator[ConfigPlace]:
    return (ConfigPlace("file", os.path.join(folder, name)) for name in names)


def _find_project_folders(folder: str) -> Iterator[str]:
    """Return the folders up to the root of the git repository; outside of git, up to the root of the file system."""
    root = find_repository_root(folder)
    is_repository = os.path.lexists(os.path.join(root, ".git"))
    yield folder
    while folder != (root if is_repository else os.path.dirname(folder)):
        folder = os.path.dirname(folder)
        yield folder


def _read_agents(place: str, group: str) -> Iterator[tuple[str, Config]]:
    """Return the agents of a folder, each with its name: the path of the file, or the `name` in its frontmatter."""
    top = os.path.join(place, group)
    mode = {"mode": "primary"} if group in MODE_FOLDERS else {}
    for folder, names in _walk(top):
        for name in names:
            path = os.path.join(folder, name)
            front = parse_agent_file(read_text(path) or "", path)
            relative = os.path.relpath(path, top).removesuffix(".md").replace(os.sep, "/")
            yield front.text_or("name") or relative, parse_agent(front) | mode


def _walk(top: str) -> Iterator[tuple[str, list[str]]]:
    """Return the folders of agents, each with the names of its Markdown files. No folder is entered twice."""

    def fail(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "")
            raise FileError(f"cannot read: {reason}", where=error.filename) from error

    seen: set[str] = set()
    for folder, subfolders, files in os.walk(top, followlinks=True, onerror=fail):
        real = os.path.realpath(folder)
        if real in seen or os.path.basename(top) in MODE_FOLDERS:
            subfolders.clear()
        if real in seen:
            continue
        if len(seen) >= MAX_FOLDERS:
            raise FileError(f"more than {MAX_FOLDERS} folders", where=top)
        seen.add(real)
        subfolders.sort()
        yield folder, sorted(name for name in files if name.endswith(".md"))
