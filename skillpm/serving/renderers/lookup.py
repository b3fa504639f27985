"""The table of styles."""

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
# The default catalog is the one that the Agent Skills specification recommends.
ALIASES = {"agentskills": "default"}


def find_renderer(name: str) -> Renderer:
    """Return the renderer of a style. Raises `UsageError` with the names of all styles."""
    renderer = RENDERERS.get(ALIASES.get(name, name))
    if renderer is None:
        raise UsageError(
            f"unknown style `{sanitize(name, 40)}`", hint=f"known styles: {', '.join([*RENDERERS, *ALIASES])}"
        )
    return renderer
