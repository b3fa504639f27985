"""Host profiles: where an agent host looks for skills, in which order, and which of them it loads.

A profile is data (`skillpm/profiles/hosts/*.json`, or `[profiles.NAME]` in the user's config.toml), never code. Its
roots are listed with the highest precedence first; for a host in which the last one wins, the list is reversed.
"""

from typing import Literal, cast, get_args

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.values import Value

ScopeName = Literal["explicit", "project", "user", "system", "bundled"]
Layout = Literal["dir", "tree", "flat", "category", "registry"]
Links = Literal["follow", "folders", "files", "inside", "project", "none"]
Walk = Literal["none", "git", "home", "top"]
Order = Literal["nearest", "outermost"]
Duplicates = Literal["first", "both"]
Names = Literal["declared", "folder"]
Cut = Literal["names", "shorten"]
REQUIRABLE_FIELDS = ("name", "description")
DIALECTS = ("yaml", "toml")
# What a host may refuse in frontmatter: a byte order mark or blank lines before it; YAML that is not valid, even with
# values in quotes that have a colon (`invalid`), or besides begin with a character that YAML reserves (`unquotable`); a
# name or description that is not text; a key that it reads twice (`repeated`), or with a list where it wants text
# (`mistyped`); a name of more than 64 characters.
FLAWS = ("bom", "leading-blank", "invalid", "untyped", "unquotable", "repeated", "mistyped", "long-name")
MAX_DEPTH = 6


class ProfileRoot(Value):
    """Folders of one kind in which a host looks for skills."""

    scope: ScopeName
    # Templates (docs/guides/discovery.md); in project scope, relative to each folder that `walk` visits.
    paths: tuple[str, ...]
    layout: Layout = "dir"
    depth: int = MAX_DEPTH
    # Look for skills inside skills, too.
    nested: bool = False
    # Look in hidden folders, too.
    hidden: bool = False
    # Look in `node_modules`, too.
    modules: bool = False
    # Follow all links, only those to folders, only those to files, only those that stay inside the folder, only those
    # that stay inside the project or are live links in its manifest, or none.
    links: Links = "follow"
    # Visit the working directory only, or its parents up to the git root, or without one up to the home folder (`home`)
    # or to the top of the file system (`top`).
    walk: Walk = "none"
    order: Order = "nearest"
    # `disable-claude-paths` turns off those of the paths that are in `.claude`.
    claude: bool = False


class ListingBudget(Value):
    """How much of its list of skills a host gives to the model: measured, in characters (`sources` says where)."""

    # For the skills of the user and the project, beside those that the host brings along.
    total: int
    # Of one description.
    description: int = 1_000_000
    # Of a line beside name and description.
    overhead: int = 4
    # What happens to descriptions that do not fit: those that fit stay, in order, and the other skills are listed by
    # name (`names`), or all are shortened alike (`shorten`).
    cut: Cut = "names"


class HostProfile(Value):
    """An agent host."""

    id: str
    roots: tuple[ProfileRoot, ...]
    about: str = ""
    # Of skills with the same name, load the first or both.
    duplicates: Duplicates = "first"
    # Name a skill by its frontmatter or by its folder.
    names: Names = "declared"
    # Frontmatter keys without which the host does not load a skill.
    requires: tuple[str, ...] = ()
    # What it reads as frontmatter.
    frontmatter: tuple[str, ...] = ("yaml",)
    # Flaws of frontmatter with which it does not read any of it (see `SkillHead.flaws`).
    refuses: tuple[str, ...] = ()
    # It does not read `skill.md`.
    has_exact_file_name: bool = False
    # A skill without a description is described by the first line of its body, also without frontmatter.
    describes_by_body: bool = False
    # Values of `compatibility` that the host accepts.
    compatibility: tuple[str, ...] = ()
    listing: ListingBudget | None = None
    # A YAML file in the working directory with the keys `skill.additional_paths` and `skill.disable_claude_paths`.
    config: str = ""
    home: str = ""
    # Environment variable that moves `home`.
    env: str = ""


def read_profile(node: JsonNode, name: str) -> HostProfile:
    """Parse one profile. Raises `DocumentError` with the invalid key."""
    node.check_keys(
        "about",
        "roots",
        "duplicates",
        "names",
        "requires",
        "frontmatter",
        "refuses",
        "describesByBody",
        "exactFileName",
        "listing",
        "compatibility",
        "config",
        "home",
        "env",
        "sources",
    )
    return HostProfile(
        id=name,
        roots=tuple(_read_root(part) for part in node.require("roots").elements()),
        about=node.text_or("about"),
        duplicates=cast("Duplicates", _read_choice(node, "duplicates", get_args(Duplicates))),
        names=cast("Names", _read_choice(node, "names", get_args(Names))),
        requires=_read_choices(node, "requires", REQUIRABLE_FIELDS),
        frontmatter=_read_choices(node, "frontmatter", DIALECTS) or ("yaml",),
        refuses=_read_choices(node, "refuses", FLAWS),
        has_exact_file_name=node.flag_or("exactFileName"),
        describes_by_body=node.flag_or("describesByBody"),
        compatibility=node.texts_or_empty("compatibility"),
        listing=None if (listing := node.get("listing")) is None else _read_listing(listing),
        config="" if (config := node.get("config")) is None else _read_path(config, "project"),
        home=node.text_or("home"),
        env=node.text_or("env"),
    )


def _read_listing(node: JsonNode) -> ListingBudget:
    node.check_keys("total", "description", "overhead", "cut")
    standard = ListingBudget(total=0)
    description, overhead = node.get("description"), node.get("overhead")
    return ListingBudget(
        total=node.require("total").number(),
        description=standard.description if description is None else description.number(),
        overhead=standard.overhead if overhead is None else overhead.number(),
        cut=cast("Cut", _read_choice(node, "cut", get_args(Cut))),
    )


def _read_root(node: JsonNode) -> ProfileRoot:
    node.check_keys(
        "scope", "paths", "layout", "depth", "nested", "hidden", "modules", "links", "walk", "order", "claude"
    )
    node.require("scope")
    scope = cast("ScopeName", _read_choice(node, "scope", get_args(ScopeName)))
    return ProfileRoot(
        scope=scope,
        paths=tuple(_read_path(part, scope) for part in node.require("paths").elements()),
        layout=cast("Layout", _read_choice(node, "layout", get_args(Layout))),
        depth=_read_depth(node),
        nested=node.flag_or("nested"),
        hidden=node.flag_or("hidden"),
        modules=node.flag_or("modules"),
        links=cast("Links", _read_choice(node, "links", get_args(Links))),
        walk=cast("Walk", _read_choice(node, "walk", get_args(Walk))),
        order=cast("Order", _read_choice(node, "order", get_args(Order))),
        claude=node.flag_or("claude"),
    )


def _read_path(node: JsonNode, scope: str) -> str:
    text = node.path()
    if scope == "project" and (text[0] in "/~$" or ".." in text.split("/")):
        node.raise_expected("a path inside the project")
    return text


def _read_depth(node: JsonNode) -> int:
    member = node.get("depth")
    if member is None:
        return MAX_DEPTH
    depth = member.number()
    return depth if 1 <= depth <= MAX_DEPTH else member.raise_expected(f"a number from 1 to {MAX_DEPTH}")


def _read_choice(node: JsonNode, key: str, known: tuple[str, ...]) -> str:
    """Return one of the known words; the first if the key is absent."""
    member = node.get(key)
    if member is None:
        return known[0]
    word = member.text()
    return word if word in known else member.raise_expected(f"one of {', '.join(known)}")


def _read_choices(node: JsonNode, key: str, known: tuple[str, ...]) -> tuple[str, ...]:
    member = node.get(key)
    if member is None:
        return ()
    for part in member.elements():
        if part.text() not in known:
            part.raise_expected(f"one of {', '.join(known)}")
    return member.texts()
