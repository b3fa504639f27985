"""Answer calls of the tool `skill` in the wording of a style. Errors are answers, too."""

from collections.abc import Callable, Mapping
from typing import Any

from skillpm.core.values import EMPTY_MAPPING
from skillpm.errors import SkillpmError, UsageError
from skillpm.serving.access_errors import (
    AmbiguousSkillName,
    ConfirmationRequired,
    SkillBlocked,
    SkillFileNotFound,
    SkillForbidden,
    SkillNotFound,
)
from skillpm.serving.renderers.base import Renderer
from skillpm.serving.renderers.body_modes import Mode
from skillpm.serving.results import ToolResult
from skillpm.serving.schema import InvalidToolCall, ToolRequest, parse_arguments, parse_request
from skillpm.serving.skill_access import SkillAccess

RenderList = Callable[[Mode | None], str]
MAX_SEARCH_RESULTS = 20  # as many as `skillpm search` shows


def answer_call(service: SkillAccess, arguments: object, render_list: RenderList) -> ToolResult:
    """Return the answer to a call; `render_list` returns that to the action `list`.

    Never raises for a mistake of the caller or a defective skill. Raises `UsageError` for one of the program, which a
    model cannot correct: an `ask` that the service cannot await.
    """
    style, name = service.style, ""
    try:
        request = parse_request(parse_arguments(arguments))
        name = request.name
        return _handle_request(service, request, render_list)
    except InvalidToolCall as error:
        return _failure(style, str(error))
    except SkillForbidden as error:
        return _failure(style, style.forbidden_message(error.name))
    except AmbiguousSkillName as error:
        return _failure(style, style.ambiguous_name_message(error.name, error.names))
    except SkillFileNotFound as error:
        return _failure(style, style.file_not_found_message(error.name, error.path, error.similar))
    except SkillNotFound as error:
        return _failure(style, style.not_found_message(error.name, error.similar, tuple(service.visible)))
    except (ConfirmationRequired, SkillBlocked) as error:
        return _failure(style, f"Error: {error.message}")
    except UsageError:
        raise
    except SkillpmError as error:
        reason = service.explain(error)
        return _failure(style, style.unreadable_message(name, reason) if name else f"Error: {reason}")


def _handle_request(service: SkillAccess, request: ToolRequest, render_list: RenderList) -> ToolResult:
    style = service.style
    if style.no_registry_message and not service.visible and not service.registry.is_there:
        return _failure(style, style.no_registry_message)
    if request.action == "list":
        return _success(style, render_list(request.mode), title="Available skills")
    if request.action == "search":
        found = service.find_by_words(request.query)
        cards = [card for card in found.cards if not card.entry.get("userOnly")]
        skills = service.describe([card for card in cards if service.is_accepted(card)])
        text = style.render_search_results(request.query, skills[:MAX_SEARCH_RESULTS], len(skills), found.kind)
        return _success(style, text, title="Found skills")
    if not request.name.strip():
        return _failure(style, style.missing_name_message())
    if service.find(request.name, guess=style.accepts_first_match).entry.get("userOnly"):
        return _failure(style, style.user_only_message(request.name))
    if request.file:
        text = service.read(request.name, request.file)
        rendered = style.render_file(request.name, request.file, text, service.max_length)
        return _success(style, rendered, title=f"Read {request.file}", metadata={"name": request.name})
    loaded = service.load(request.name, mode=request.mode)
    metadata = {"name": loaded.name, "dir": loaded.directory}
    note = style.partial_match_message(loaded.taken_for, loaded.name) if loaded.taken_for else ""
    note += style.unmet_requirements_message(loaded.name, loaded.missing)
    return _success(style, note + loaded.text, title=loaded.title, metadata=metadata)


def _success(renderer: Renderer, text: str, *, title: str, metadata: Mapping[str, Any] = EMPTY_MAPPING) -> ToolResult:
    value = renderer.format_result(ok=True, title=title, text=text, metadata=metadata)
    return ToolResult(ok=True, title=title, text=text, metadata=metadata, value=value)


def _failure(renderer: Renderer, text: str) -> ToolResult:
    return ToolResult(
        ok=False,
        title="",
        text=text,
        value=renderer.format_result(ok=False, title="", text=text, metadata=EMPTY_MAPPING),
    )
