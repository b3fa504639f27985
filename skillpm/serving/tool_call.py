"""Answer a call of the tool `skill` in the words of a style; whatever is wrong is told in words, too."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillpm.core.values import NOTHING
from skillpm.errors import SkillpmError
from skillpm.serving.access_errors import Forbidden, NeedsYes, NoSuchSkill, SeveralSkills
from skillpm.serving.renderers.base import Style, Told
from skillpm.serving.results import Answer
from skillpm.serving.tool_schema import BadRequest, Request, understand

if TYPE_CHECKING:
    from skillpm.serving.service import SkillService


def answered(service: "SkillService", arguments: Mapping[str, Any]) -> Answer:
    """Give the answer to a call. Never raises for what a caller or a skill may do wrong."""
    style = service.style
    try:
        return _done(service, understand(arguments))
    except BadRequest as error:
        return _refused(style, str(error))
    except Forbidden as error:
        return _refused(style, style.not_allowed(error.name))
    except SeveralSkills as error:
        return _refused(style, style.several(error.name, error.names))
    except NoSuchSkill as error:
        return _refused(style, style.not_found(error.name, error.similar, tuple(service.visible)))
    except NeedsYes as error:
        return _refused(style, f"Error: {error.message}")
    except SkillpmError as error:
        name = str(arguments.get("name") or "")
        return _refused(style, style.not_readable(name, error.message) if name else f"Error: {error.message}")


def _done(service: "SkillService", request: Request) -> Answer:
    style = service.style
    mode = request.mode or style.mode
    if style.no_registry and not service.visible and not service.registry.is_there:
        return _refused(style, style.no_registry)
    if request.verb == "list":
        return _said(style, style.listing(_for_models(service.list()), mode), title="Available skills")
    if request.verb == "search":
        return _said(
            style, style.found(request.query, _for_models(service.search(request.query))), title="Found skills"
        )
    if not request.name.strip():
        return _refused(style, style.no_name())
    if service.find(request.name, guess=style.guesses).entry.get("userOnly"):
        return _refused(style, style.not_for_models(request.name))
    loaded = service.load(request.name, mode=mode)
    metadata = {"name": loaded.name, "dir": loaded.directory}
    taken = style.taken_for(loaded.taken_for, loaded.name) if loaded.taken_for else ""
    return _said(style, taken + loaded.text, title=loaded.title, metadata=metadata)


def _for_models(skills: Sequence[Told]) -> Sequence[Told]:
    """Leave out what only people invoke."""
    return [told for told in skills if not told.card.entry.get("userOnly")]


def _said(style: Style, text: str, *, title: str, metadata: Mapping[str, Any] = NOTHING) -> Answer:
    value = style.answer(ok=True, title=title, text=text, metadata=metadata)
    return Answer(ok=True, title=title, text=text, metadata=metadata, value=value)


def _refused(style: Style, text: str) -> Answer:
    return Answer(ok=False, title="", text=text, value=style.answer(ok=False, title="", text=text, metadata=NOTHING))
