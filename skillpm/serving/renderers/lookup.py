"""The table of styles, by name."""

from skillpm.core.text import show
from skillpm.errors import UsageError
from skillpm.serving.renderers.base import Style
from skillpm.serving.renderers.glm import Glm
from skillpm.serving.renderers.omega import Omega
from skillpm.serving.renderers.opencode import Brutus, OpenCode
from skillpm.serving.renderers.supercode import SuperCode

STYLES: dict[str, Style] = {style.name: style for style in (Style(), OpenCode(), Brutus(), Glm(), SuperCode(), Omega())}
# The catalogue of the default style is the one that the Agent Skills specification recommends.
ALIASES = {"agentskills": "default"}


def style_of(name: str) -> Style:
    """Give a style. Raises `UsageError` that names them all."""
    style = STYLES.get(ALIASES.get(name, name))
    if style is None:
        raise UsageError(f"there is no style `{show(name, 40)}`", hint=f"styles are {', '.join([*STYLES, *ALIASES])}")
    return style
