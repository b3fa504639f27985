"""The service behind the command line, the Python API and the MCP server: skills as an agent may see them.

Permissions are applied before anything else. A denied skill is not listed, found, suggested or opened, and the error
for its name does not reveal whether it exists.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skillpm.core.text import estimate_tokens, sanitize
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.last_use import read_last_uses, record_last_use
from skillpm.registry.snapshot import RegistrySnapshot
from skillpm.serving.access_errors import AmbiguousSkillName, ConfirmationRequired, SkillForbidden, SkillNotFound
from skillpm.serving.availability import Environment
from skillpm.serving.body_modes import MAX_LENGTH, Mode
from skillpm.serving.live_permissions import EffectivePermissions
from skillpm.serving.permissions import Rules
from skillpm.serving.relevance import sort_by_relevance
from skillpm.serving.renderers.base import NONE_OMITTED, OpenedSkill, RenderedSkill
from skillpm.serving.renderers.styles import find_renderer
from skillpm.serving.results import Loaded, Match, Prompt, ToolResult
from skillpm.serving.skill_files import list_skill_files
from skillpm.serving.skill_search import (
    collect_servers,
    find_by_name,
    find_triggered,
    list_triggers,
    search_text,
    suggest_names,
)
from skillpm.serving.token_budget import (
    DESCRIPTION_BUDGET,
    LIST_BUDGET,
    FittedCatalog,
    RenderCatalog,
    catalog_forms,
    fit_to_budget,
    sort_by_name,
)
from skillpm.serving.tool_call import answer_call
from skillpm.serving.tool_schema import TOOL_SCHEMA
from skillpm.settings import current_settings

if TYPE_CHECKING:
    from skillpm.serving.installed_search import FoundCards, InstalledSearch

# Claude Code replaces it by the absolute path of the skill's folder.
SKILL_FOLDER = "${CLAUDE_SKILL_DIR}"
Ask = Callable[[str], bool]


class SkillService:
    """The skills of a registry, as an agent may see them.

        registry    where the skills come from
        rules       permissions; by default everything is allowed
        disabled    names of skills that are switched off
        style       whose wording the answers have: `default`, or an agent host such as `opencode`
        ask         called with a skill's name to ask a person for approval; without it, approval is refused
        environ     the variables and the PATH in which requirements are checked; by default the process's own
        max_length  the length, in characters, at which a loaded text is cut
        budget      the greatest number of tokens of the tool's description; None for no limit
        permits     replaces `rules` and `disabled` by a function that returns the current ones, for documents that may
                    change; whatever it raises, the methods raise, except `call`, which answers with it

    Skills are checked for edits before they are offered, so answers always reflect the files. Threads may share a
    service.
    """

    def __init__(  # noqa: PLR0913  (each has a default that is right for most)
        self,
        registry: Registry,
        *,
        rules: Rules | None = None,
        disabled: Collection[str] = (),
        style: str = "default",
        ask: Ask | None = None,
        environ: Mapping[str, str] | None = None,
        max_length: int = MAX_LENGTH,
        budget: int | None = DESCRIPTION_BUDGET,
        permits: Callable[[], EffectivePermissions] | None = None,
    ) -> None:
        self.registry = registry
        fixed = EffectivePermissions(rules=rules or Rules(), disabled=frozenset(disabled))
        self._get_permissions = permits or (lambda: fixed)
        self.style = find_renderer(style)
        settings = current_settings()
        self.environment = Environment(settings.environ if environ is None else environ)
        self.max_length = max_length
        self.budget = budget
        self._cache_dir = settings.cache_dir
        self._ask = ask
        self._loaded_bodies: dict[str, str] = {}
        self._visible_cache: _VisibleSkills | None = None

    # Visible skills

    @property
    def rules(self) -> Rules:
        """The rules in effect now."""
        return self._get_permissions().rules

    @property
    def visible(self) -> Mapping[str, Card]:
        """The skills that permissions let an agent see, by name, sorted."""
        return self._visible_skills.cards

    def list(self) -> tuple[RenderedSkill, ...]:
        """Return all visible skills, each with its unmet requirements."""
        return self.describe(self._refresh_visible_cards())

    def find(self, name: str, *, guess: bool = False) -> Card:
        """Return the skill with this name, in whatever case.

        `guess` also takes the first skill whose name contains it or is contained in it, as one host does.

        Raises `SkillForbidden` for a denied name, `AmbiguousSkillName` for several matches, and `SkillNotFound`, with
        suggestions, for none.
        """
        visible = self._visible_skills
        decision = visible.permissions.rules.decide(name.strip())
        if decision.action == "deny":
            raise SkillForbidden(name.strip(), decision)
        matches = find_by_name(name, visible.cards, allow_partial=guess) or tuple(
            card for card in visible.cards.values() if card.declared == name
        )
        if len(matches) > 1 and not guess:
            raise AmbiguousSkillName(name, [card.name for card in matches])
        if not matches:
            similar = suggest_names(name, visible.cards, visible.texts)
            raise SkillNotFound(name, similar, enable_command=self._enable_command(name.strip(), visible))
        if self.registry.check(matches):
            return self.visible.get(
                matches[0].name, matches[0]
            )  # if it became unreadable, opening it reports the reason
        return matches[0]

    def search(self, query: str) -> tuple[RenderedSkill, ...]:
        """Return the skills that a query finds, best first.

        Those that contain all of its words are found; if there are none, those that contain words like them, which
        corrects typing errors; and else those that contain some of the words. `skillpm search` and MCP find the same.
        """
        return self.describe(self.find_by_words(query).cards)

    def find_by_words(self, query: str) -> "FoundCards":
        """Return the same with how it was found."""
        found = self.installed_search.search(query)
        return self.installed_search.search(query) if self.registry.check(found.cards) else found

    @property
    def installed_search(self) -> "InstalledSearch":
        """The search in what is visible now."""
        return self._visible_skills.search

    def match(self, message: str, *, whole_words: bool = False) -> Match:
        """Return the usable skills whose triggers occur in a message, and the MCP servers that they declare.

        Triggers match anywhere, ignoring case; with `whole_words` only as whole words.
        """
        triggered = find_triggered(message, self._visible_skills.triggers, whole_words=whole_words)
        if self.registry.check(triggered):
            triggered = find_triggered(message, self._visible_skills.triggers, whole_words=whole_words)
        skills = self.describe(triggered)
        usable = tuple(skill.card for skill in skills if not skill.missing)
        return Match(
            skills=usable, servers=collect_servers(usable), unusable=tuple(skill for skill in skills if skill.missing)
        )

    # Loading

    def load(
        self,
        name: str,
        *,
        mode: Mode | None = None,
        style: str | None = None,
        arguments: str | Sequence[str] | None = None,
    ) -> Loaded:
        """Open a skill for an agent.

        `mode` is how much of the body is returned (`full`, `compact` or `toon`), and `style` whose wording is used;
        both default to the service's. `arguments` is what the user typed after the skill's name, or a list of words; it
        replaces the placeholders in the body.

        Raises what `find` raises, `ConfirmationRequired` if a person's approval is required and not given, `FileError`
        if a file cannot be read, and `DocumentError` if it is not a valid skill.
        """
        renderer = self.style if style is None else find_renderer(style)
        card = self.find(name, guess=renderer.accepts_first_match)
        self.require_approval(card.name)
        card = self.registry.locate(card)
        skill = self.registry.read(card)
        body = skill.body.replace(SKILL_FOLDER, card.folder)
        if arguments is not None:
            from skillpm.serving.arguments import read_argument_names, substitute_arguments  # noqa: PLC0415  (rarely)

            body = substitute_arguments(body, arguments, read_argument_names(skill.extra))
        names = {card.name.casefold(), card.declared.casefold()}
        files = list_skill_files(card)
        opened = OpenedSkill(card=card, body=body, files=files)
        text, is_truncated = renderer.render_skill(opened, mode or renderer.default_mode, self.max_length)
        self._loaded_bodies[card.name] = skill.body.strip()
        record_last_use(self._cache_dir, card.name)
        return Loaded(
            name=card.name,
            title=f"Loaded skill: {card.name}",
            text=text,
            directory=card.folder,
            files=files,
            mode=mode or renderer.default_mode,
            style=renderer.name,
            truncated=is_truncated,
            body=body,
            taken_for="" if name.strip().casefold() in names else name.strip(),
        )

    def prompt(
        self, *, style: str | None = None, mode: Mode | None = None, budget: int | None = None, task: str = ""
    ) -> Prompt:
        """Return the catalog for a system prompt: all visible skills with a description that models may use.

        With a `budget`, in tokens, descriptions are shortened first; then skills are listed by name alone, and then
        left out, the least relevant first: to the `task` if given, else by declared priority and last use. With a
        `task`, the catalog begins with the skills that fit it best; without one it is sorted by name.
        """
        renderer = self.style if style is None else find_renderer(style)
        catalog = self._fit_catalog(
            self._list_advertised(), catalog_forms(renderer.render_catalog, mode or renderer.default_mode), budget, task
        )
        return Prompt(
            style=renderer.name,
            skills=len(catalog.skills) + len(catalog.omitted.names),
            tokens=estimate_tokens(catalog.text),
            text=catalog.text,
            left_out=catalog.omitted.count,
            named_only=len(catalog.omitted.names),
            shortened=sum(skill.description != skill.card.description for skill in catalog.skills),
        )

    def _fit_catalog(
        self, skills: Sequence[RenderedSkill], forms: Sequence[RenderCatalog], budget: int | None, task: str = ""
    ) -> FittedCatalog:
        if budget is None and not task:
            return FittedCatalog(text=forms[0](skills, NONE_OMITTED), skills=tuple(skills))
        by_relevance = sort_by_relevance(
            skills,
            found=self.installed_search.search(task, ["some"]).cards if task else (),
            priority=self._get_permissions().priority,
            last_used=read_last_uses(self._cache_dir),
        )
        if budget is None:
            return FittedCatalog(text=forms[0](by_relevance, NONE_OMITTED), skills=tuple(by_relevance))
        return fit_to_budget(by_relevance, forms if task else [sort_by_name(form) for form in forms], budget)

    # The tool

    @property
    def description(self) -> str:
        """The description of the tool `skill` for a model, generated from what is visible now, within `budget`."""
        return self._fit_catalog(self._list_advertised(), [self.style.render_tool_description], self.budget).text

    def render_list(self, mode: Mode) -> str:
        """Return the answer of the tool `skill` to the action `list`, within `LIST_BUDGET`."""
        listed = [skill for skill in self.list() if not skill.card.entry.get("userOnly")]
        return self._fit_catalog(listed, catalog_forms(self.style.render_list, mode), LIST_BUDGET).text

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the tool's arguments."""
        return TOOL_SCHEMA

    def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Answer a call of the tool `skill`.

        Never raises for a mistake of the caller or a defective skill: the result is then not `ok` and explains the
        problem.
        """
        return answer_call(self, arguments)

    @property
    def loaded(self) -> Mapping[str, str]:
        """The bodies of the skills loaded so far, by name, in the order of first loading."""
        return dict(self._loaded_bodies)

    def loaded_prompt(self) -> str:
        """Return the skills loaded so far as an appendix to a system prompt."""
        return "".join(f"\n\n--- Loaded Skill: {name} ---\n{body}" for name, body in self.loaded.items())

    def require_approval(self, name: str) -> None:
        """Raise `ConfirmationRequired` if a rule requires a person's approval for a skill and it is not given."""
        decision = self.rules.decide(name)
        if decision.action == "ask" and (self._ask is None or not self._ask(name)):
            raise ConfirmationRequired(name, decision, was_asked=self._ask is not None)

    def _enable_command(self, name: str, visible: "_VisibleSkills") -> str:
        """Return the command that enables a skill that is not visible and not denied; empty if there is none."""
        card, directory = visible.snapshot.cards.get(name), visible.snapshot.disabled.get(name)
        # The registry answers first, and the manifest only for what the registry lists. So the answer is the same
        # before and after each step of `enable` and `disable`, which replace the two one after the other.
        if directory is None and card is not None:
            directory = self.registry.directory if name in visible.permissions.disabled else card.directory
        if directory is None:
            return ""
        return f"skillpm enable{' -g' if directory == current_settings().skills_home else ''} {sanitize(name, 80)}"

    def _list_advertised(self) -> tuple[RenderedSkill, ...]:
        return self.describe([card for card in self._refresh_visible_cards() if card.is_advertised])

    def _refresh_visible_cards(self) -> Collection[Card]:
        """Return all visible skills as their files are now."""
        self.registry.check(self.visible.values())
        return self.visible.values()

    def describe(self, cards: Collection[Card]) -> tuple[RenderedSkill, ...]:
        """Return skills with their unmet requirements."""
        missing = self.environment.find_missing
        return tuple(RenderedSkill(card=card, missing=missing(card), description=card.description) for card in cards)

    @property
    def _visible_skills(self) -> "_VisibleSkills":
        snapshot, permissions, cached = self.registry.snapshot, self._get_permissions(), self._visible_cache
        if cached is None or cached.snapshot is not snapshot or cached.permissions is not permissions:
            self._visible_cache = cached = _VisibleSkills(snapshot, permissions)
        return cached


class _VisibleSkills:
    """The visible skills of a snapshot, with lookup tables that are built on demand. Never modified."""

    def __init__(self, snapshot: RegistrySnapshot, permissions: EffectivePermissions) -> None:
        self.snapshot = snapshot
        self.permissions = permissions
        self.cards = {name: card for name, card in snapshot.cards.items() if not permissions.hides(card)}

    @cached_property
    def texts(self) -> Sequence[tuple[str, Card]]:
        """The searchable text of each skill."""
        return [(search_text(card), card) for card in self.cards.values()]

    @cached_property
    def search(self) -> "InstalledSearch":
        """The full-text index."""
        from skillpm.serving.installed_search import InstalledSearch  # noqa: PLC0415  (it loads SQLite)

        return InstalledSearch(self.cards.values())

    @cached_property
    def triggers(self) -> Sequence[tuple[str, Card]]:
        """All triggers, each with its skill."""
        return list_triggers(self.cards.values())
