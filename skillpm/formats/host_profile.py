"""Host profiles: where an agent host looks for skills, in which order, and what it makes of what it finds. Pure.

A profile is data (`skillpm/profiles/hosts/*.json`, or `[profiles.NAME]` in the user's config.toml), never code:
roots, highest precedence first. A host in which the last one wins has the same list the other way round.
"""

from typing import Literal, cast

from skillpm.core.decoder import JsonNode
from skillpm.core.values import Value

ScopeName = Literal["explicit", "project", "user", "system", "bundled"]
Layout = Literal["dir", "tree", "flat", "category", "registry"]
Links = Literal["follow", "folders", "inside", "none"]
Walk = Literal["none", "git", "home"]
Order = Literal["nearest", "outermost"]
SCOPES = ("explicit", "project", "user", "system", "bundled")
LAYOUTS = ("dir", "tree", "flat", "category", "registry")
LINKS = ("follow", "folders", "inside", "none")
WALKS = ("none", "git", "home")
ORDERS = ("nearest", "outermost")
DUPLICATES = ("first", "both")
NAMES = ("declared", "folder")
REQUIRABLE_FIELDS = ("name", "description")
MAX_DEPTH = 6


class ProfileRoot(Value):
    """Where to look: folders of one kind.

    `paths` are templates (docs/guides/discovery.md), of a project relative to each folder that `walk` visits: the
    working directory alone, or up to the git root, or without a git root up to the home folder. `nested`: look for
    skills inside skills, too. `links`: follow all, only those to folders, only those that stay inside, or none.
    `claude`: the switch that turns Claude's folders off turns those of these paths off that lie in `.claude`.
    """

    scope: ScopeName
    paths: tuple[str, ...]
    layout: Layout = "dir"
    depth: int = MAX_DEPTH
    nested: bool = False
    hidden: bool = False
    links: Links = "follow"
    walk: Walk = "none"
    order: Order = "nearest"
    claude: bool = False


class HostProfile(Value):
    """An agent host. `requires`: keys without which it does not take a skill; `compatibility`: the words it accepts.

    `names`: whether a skill is called what it calls itself, or after the folder it lies in. `env` names a variable that
    moves its folder `home` elsewhere.
    """

    id: str
    roots: tuple[ProfileRoot, ...]
    about: str = ""
    duplicates: Literal["first", "both"] = "first"
    names: Literal["declared", "folder"] = "declared"
    requires: tuple[str, ...] = ()
    compatibility: tuple[str, ...] = ()
    home: str = ""
    env: str = ""


def read_profile(node: JsonNode, name: str) -> HostProfile:
    """Read the table of one profile. Raises `DocumentError` with the key that is wrong."""
    node.check_keys("about", "roots", "duplicates", "names", "requires", "compatibility", "home", "env")
    compatibility = node.get("compatibility")
    return HostProfile(
        id=name,
        roots=tuple(_read_root(part) for part in node.require("roots").elements()),
        about=node.text_or("about"),
        duplicates=cast("Literal['first', 'both']", _read_choice(node, "duplicates", DUPLICATES)),
        names=cast("Literal['declared', 'folder']", _read_choice(node, "names", NAMES)),
        requires=_read_choices(node, "requires", REQUIRABLE_FIELDS),
        compatibility=() if compatibility is None else compatibility.texts(),
        home=node.text_or("home"),
        env=node.text_or("env"),
    )


def _read_root(node: JsonNode) -> ProfileRoot:
    node.check_keys("scope", "paths", "layout", "depth", "nested", "hidden", "links", "walk", "order", "claude")
    node.require("scope")
    scope = cast("ScopeName", _read_choice(node, "scope", SCOPES))
    return ProfileRoot(
        scope=scope,
        paths=tuple(_read_path(part, scope) for part in node.require("paths").elements()),
        layout=cast("Layout", _read_choice(node, "layout", LAYOUTS)),
        depth=_read_depth(node),
        nested=_read_flag(node, "nested"),
        hidden=_read_flag(node, "hidden"),
        links=cast("Links", _read_choice(node, "links", LINKS)),
        walk=cast("Walk", _read_choice(node, "walk", WALKS)),
        order=cast("Order", _read_choice(node, "order", ORDERS)),
        claude=_read_flag(node, "claude"),
    )


def _read_path(node: JsonNode, scope: str) -> str:
    text = node.path()
    if scope == "project" and (text[0] in "/~$" or ".." in text.split("/")):
        node.raise_expected("a path inside the project")
    return text


def _read_depth(node: JsonNode) -> int:
    found = node.get("depth")
    if found is None:
        return MAX_DEPTH
    depth = found.number()
    return depth if 1 <= depth <= MAX_DEPTH else found.raise_expected(f"a number from 1 to {MAX_DEPTH}")


def _read_flag(node: JsonNode, key: str) -> bool:
    found = node.get(key)
    return False if found is None else found.flag()


def _read_choice(node: JsonNode, key: str, known: tuple[str, ...]) -> str:
    """Give one of the known words; the first where the key is absent."""
    found = node.get(key)
    if found is None:
        return known[0]
    word = found.text()
    return word if word in known else found.raise_expected(f"one of {', '.join(known)}")


def _read_choices(node: JsonNode, key: str, known: tuple[str, ...]) -> tuple[str, ...]:
    found = node.get(key)
    if found is None:
        return ()
    for part in found.elements():
        if part.text() not in known:
            part.raise_expected(f"one of {', '.join(known)}")
    return found.texts()
