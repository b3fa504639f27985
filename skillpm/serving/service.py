"""The service behind the command line, the Python API and the MCP server: skills as an agent may see them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.core.text import estimate_tokens, sanitize
from skillpm.core.values import EMPTY_MAPPING
from skillpm.errors import SkillpmError, UsageError
from skillpm.registry.last_use import read_last_uses
from skillpm.serving.access_errors import (
    AmbiguousSkillName,
    ConfirmationRequired,
    SkillBlocked,
    SkillFileNotFound,
    SkillForbidden,
    SkillNotFound,
)
from skillpm.serving.renderers.base import NONE_OMITTED, Renderer, SkillSummary
from skillpm.serving.renderers.body_modes import Mode
from skillpm.serving.renderers.styles import find_renderer
from skillpm.serving.results import Prompt, ToolResult
from skillpm.serving.schema import (
    MAX_DESCRIPTION_LENGTHS,
    TOOL_APIS,
    TOOL_SCHEMA,
    InvalidToolCall,
    ToolApi,
    ToolRequest,
    define_tool,
    parse_arguments,
    parse_request,
)
from skillpm.serving.skill_access import SkillAccess
from skillpm.serving.token_budget import (
    LIST_BUDGET,
    FittedCatalog,
    RenderCatalog,
    catalog_forms,
    fit_to_budget,
    sort_by_name,
    sort_by_relevance,
)

RenderList = Callable[[Mode | None], str]
MAX_SEARCH_RESULTS = 20  # as many as `skillpm search` shows


class SkillService(SkillAccess):
    """The skills of a registry, as an agent may see them.

        registry    where the skills come from
        rules       permissions; by default everything is allowed
        disabled    names of skills that are switched off
        style       whose wording the answers have: `default`, or an agent host such as `opencode`
        ask         called with a skill's name to ask a person, who approves by `True` alone; without it, approval is
                    refused. `AsyncSkillService` awaits a coroutine function; this class refuses one (`UsageError`)
        environ     the variables and the PATH in which requirements are checked; by default the process's own
        max_length  the length, in characters, at which a loaded text is cut; by default that of the permissions, else
                    50,000
        budget      the greatest number of tokens of the tool's description; None for no limit
        permits     replaces `rules` and `disabled` by a function that returns the current ones, for documents that may
                    change; whatever it raises, the methods raise, except `call`, which answers with it
        inspect     called with each skill before its content is returned; what it raises, `load` and `read` raise.
                    Without it, content is not audited: `open_service` does so

    Skills are checked for edits before they are offered, so answers always reflect the files. Threads may share a
    service.
    """

    # The catalog

    def prompt(
        self, *, style: str | None = None, mode: Mode | None = None, budget: int | None = LIST_BUDGET, task: str = ""
    ) -> Prompt:
        """Return the catalog for a system prompt: all visible skills with a description that models may use.

        To fit into the `budget`, in tokens (None for no limit), descriptions are shortened first; then skills are named
        alone, and then left out, the least relevant first: to the `task` if given, else by priority and last use. With
        a `task`, the catalog begins with the skills that fit it best; without one it is sorted by name.
        """
        renderer = self.style if style is None else find_renderer(style)
        forms = catalog_forms(renderer.render_catalog, self._choose_mode(mode, renderer))
        catalog = self._fit_catalog(self._list_advertised(), forms, budget, task)
        return Prompt(
            style=renderer.name,
            skills=len(catalog.skills) + len(catalog.omitted.names),
            tokens=estimate_tokens(catalog.text),
            text=catalog.text,
            left_out=catalog.omitted.count,
            named_only=len(catalog.omitted.names),
            shortened=sum(skill.description != skill.card.description for skill in catalog.skills),
        )

    def render_list(self, mode: Mode | None = None) -> str:
        """Return the answer of the tool `skill` to the action `list`, within `LIST_BUDGET`."""
        cards = (card for card in self._refresh_visible_cards() if not card.entry.get("userOnly"))
        listed = self.describe([card for card in cards if self.is_accepted(card)])
        forms = catalog_forms(self.style.render_list, self._choose_mode(mode, self.style))
        return self._fit_catalog(listed, forms, LIST_BUDGET).text

    def _list_advertised(self) -> tuple[SkillSummary, ...]:
        cards = (card for card in self._refresh_visible_cards() if card.is_advertised)
        return self.describe([card for card in cards if self.is_accepted(card)])

    def _fit_catalog(
        self,
        skills: Sequence[SkillSummary],
        forms: Sequence[RenderCatalog],
        budget: int | None,
        task: str = "",
        measure: Callable[[str], int] = estimate_tokens,
    ) -> FittedCatalog:
        if budget is None and not task:
            return FittedCatalog(text=forms[0](skills, NONE_OMITTED), skills=tuple(skills))
        by_relevance = sort_by_relevance(
            skills,
            found=self.installed_search.search(task, ["some"]).cards if task else (),
            priority=self.priority,
            last_used=read_last_uses(self._cache_dir),
        )
        if budget is None:
            return FittedCatalog(text=forms[0](by_relevance, NONE_OMITTED), skills=tuple(by_relevance))
        forms = forms if task else [sort_by_name(form) for form in forms]
        return fit_to_budget(by_relevance, forms, budget, measure)

    # The tool

    @property
    def description(self) -> str:
        """The description of the tool `skill` for a model, generated from what is visible now, within `budget`."""
        return self._describe_tool()

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the tool's arguments."""
        return TOOL_SCHEMA

    def tool(self, api: ToolApi = "anthropic") -> dict[str, Any]:
        """Return the tool `skill` as the API of a model takes it in its list of tools.

        `api` is `anthropic` (Messages), `openai` (Chat Completions), `openai-responses`, `gemini` (a function
        declaration), or `mcp`. The description is that of `description`, within what the API accepts. Raises
        `UsageError` for another API.
        """
        if api not in TOOL_APIS:
            raise UsageError(f"unknown API `{sanitize(str(api), 40)}`", hint=f"known APIs: {', '.join(TOOL_APIS)}")
        return define_tool(api, self._describe_tool(MAX_DESCRIPTION_LENGTHS.get(api)))

    def call(self, arguments: Mapping[str, Any] | str) -> ToolResult:
        """Answer a call of the tool `skill`. `arguments` is an object or its JSON text, as the model API has it.

        Never raises for a mistake of the caller or a defective skill: the result is then not `ok` and explains the
        problem. Raises `UsageError` for an `ask` that it cannot await.
        """
        return answer_call(self, arguments, self.render_list)

    def _describe_tool(self, max_length: int | None = None) -> str:
        skills, forms = self._list_advertised(), [self.style.render_tool_description]
        text = self._fit_catalog(skills, forms, self.budget).text
        if max_length is None or len(text) <= max_length:
            return text
        return self._fit_catalog(skills, forms, max_length, measure=len).text

    def loaded_prompt(self) -> str:
        """Return the skills loaded so far as an appendix to a system prompt."""
        return "".join(f"\n\n--- Loaded Skill: {name} ---\n{body}" for name, body in self.loaded.items())


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
