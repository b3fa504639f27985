"""The table of styles, by name."""

from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.serving.renderers.base import Renderer
from skillpm.serving.renderers.glm import GlmRenderer
from skillpm.serving.renderers.omega import OmegaRenderer
from skillpm.serving.renderers.opencode import BrutusRenderer, OpenCodeRenderer
from skillpm.serving.renderers.supercode import SuperCodeRenderer

RENDERERS: dict[str, Renderer] = {
    style.name: style
    for style in (Renderer(), OpenCodeRenderer(), BrutusRenderer(), GlmRenderer(), SuperCodeRenderer(), OmegaRenderer())
}
# The catalogue of the default style is the one that the Agent Skills specification recommends.
ALIASES = {"agentskills": "default"}


def find_renderer(name: str) -> Renderer:
    """Give a style. Raises `UsageError` that names them all."""
    style = RENDERERS.get(ALIASES.get(name, name))
    if style is None:
        raise UsageError(
            f"there is no style `{sanitize(name, 40)}`", hint=f"styles are {', '.join([*RENDERERS, *ALIASES])}"
        )
    return style
