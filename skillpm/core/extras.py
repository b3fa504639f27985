"""The optional dependencies of skillpm."""


def extra_hint(extra: str) -> str:
    """Return how to add an extra: with the tool that installed skillpm, since another one makes a second copy."""
    requirement = f"'agent-skillpm[{extra}]'"
    return (
        f"add the extra `{extra}` with the tool that installed skillpm: `uv tool install {requirement}`, "
        f"`pipx install --force {requirement}`, or `pip install {requirement}` in its environment"
    )
