"""`config.toml`: the user's settings, as values. Pure; keys of other features are left to their readers."""

from skillpm.documents.decode import Node, parse_toml
from skillpm.documents.profile import Profile, read_profile
from skillpm.values import Value


class Config(Value):
    """What the user says of discovery: whether skills are on at all, folders more or less, hosts of their own."""

    skills_enabled: bool = True
    disable_claude_paths: bool = False
    additional_paths: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = ()


def read_config(text: str, file: str) -> Config:
    """Read the settings. Raises `DocumentError` with the key that is wrong."""
    top = parse_toml(text, file)
    skills, discovery, profiles = top.get("skills"), top.get("discovery"), top.get("profiles")
    paths = None if discovery is None else discovery.get("additional-paths")
    if discovery is not None:
        discovery.only("additional-paths", "disable-claude-paths")
    return Config(
        skills_enabled=_flag(skills, "enabled", default=True),
        disable_claude_paths=_flag(discovery, "disable-claude-paths", default=False),
        additional_paths=() if paths is None else tuple(part.path() for part in paths.elements()),
        profiles=() if profiles is None else tuple(read_profile(node, name) for name, node in profiles.items()),
    )


def _flag(node: Node | None, key: str, *, default: bool) -> bool:
    found = None if node is None else node.get(key)
    return default if found is None else found.flag()
