"""What agents are served: one service, of which the shell, Python and MCP are skins.

Permissions come before everything else: a denied skill is not listed, not found, not suggested and never opened, and
what is said of its name does not tell whether it is there.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from skillpm.core.token_estimate import estimate_tokens
from skillpm.registry.card import Card, names_of
from skillpm.registry.directory_registry import Registry
from skillpm.registry.snapshot import RegistrySnapshot
from skillpm.serving.access_errors import AmbiguousSkillName, ConfirmationRequired, SkillForbidden, SkillNotFound
from skillpm.serving.availability import Environment
from skillpm.serving.body_modes import MAX_LENGTH, Mode
from skillpm.serving.live_permissions import EffectivePermissions
from skillpm.serving.permissions import Rules
from skillpm.serving.renderers.base import OpenedSkill, RenderedSkill
from skillpm.serving.renderers.lookup import find_renderer
from skillpm.serving.results import Loaded, Match, Prompt, ToolResult
from skillpm.serving.skill_files import list_skill_files
from skillpm.serving.skill_search import find_by_name, search_cards, search_text, suggest_names
from skillpm.serving.token_budget import fit_to_budget
from skillpm.serving.tool_call import answer_call
from skillpm.serving.tool_schema import TOOL_SCHEMA
from skillpm.serving.triggers import TriggerIndex, build_trigger_index, collect_servers, find_triggered
from skillpm.settings import current_settings

Ask = Callable[[str], bool]


class SkillService:
    """The skills of a registry as an agent may see them. Safe from several threads.

    `rules` say what is allowed, `disabled` names are switched off, `style` is whose words answers have, `ask` puts a
    question to a person (without it, what must be asked is refused), `environ` is where programs are looked for.
    `permits`, in place of `rules` and `disabled`, is asked at each look: for documents that may change meanwhile. What
    it raises is raised by whatever is asked of the service; only `call` answers with it.
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
        longest: int = MAX_LENGTH,
        permits: Callable[[], EffectivePermissions] | None = None,
    ) -> None:
        self.registry = registry
        fixed = EffectivePermissions(rules=rules or Rules(), disabled=frozenset(disabled))
        self._get_permissions = permits or (lambda: fixed)
        self.style = find_renderer(style)
        self.surroundings = Environment(current_settings().environ if environ is None else environ)
        self.longest = longest
        self._ask = ask
        self._loaded_bodies: dict[str, str] = {}
        self._lock = threading.Lock()
        self._visible_cache: _VisibleSkills | None = None

    # What is there

    @property
    def rules(self) -> Rules:
        """The rules that count now."""
        return self._get_permissions().rules

    @property
    def visible(self) -> Mapping[str, Card]:
        """The skills that may be seen, by name, sorted."""
        return self._visible_skills.cards

    def list(self) -> tuple[RenderedSkill, ...]:
        """Give every skill that may be seen, with what it lacks here."""
        return self._describe_skills(self._refresh_visible_cards())

    def find(self, name: str, *, guess: bool = False) -> Card:
        """Give the skill that a name means, part of a name included where only one has it.

        With `guess` the first of several that have it is taken, as some loaders do. Raises `Forbidden` for a name
        that a rule denies, `NoSuchSkill` with near names, `SeveralSkills`.
        """
        decision = self.rules.decide(name.strip())
        if decision.action == "deny":
            raise SkillForbidden(name.strip(), decision)
        seen = self._visible_skills
        found = find_by_name(name, seen.cards) or tuple(card for card in seen.cards.values() if card.declared == name)
        if len(found) > 1 and not guess:
            raise AmbiguousSkillName(name, names_of(found))
        if not found:
            raise SkillNotFound(name, suggest_names(name, seen.cards, seen.search_texts))
        if self.registry.check(found):
            return self.visible.get(found[0].name, found[0])  # what cannot be read any more is told by who opens it
        return found[0]

    def search(self, words: str) -> tuple[RenderedSkill, ...]:
        """Give the skills in which all words stand, best first."""
        found = self._search_cards(words)
        return self._describe_skills(self._search_cards(words) if self.registry.check(found) else found)

    def match(self, message: str, *, whole_words: bool = False) -> Match:
        """Give the skills whose triggers stand in a message and that can work here, and the MCP servers they bring."""
        found = find_triggered(message, self._visible_skills.trigger_index, whole_words=whole_words)
        if self.registry.check(found):
            found = find_triggered(message, self._visible_skills.trigger_index, whole_words=whole_words)
        told = self._describe_skills(found)
        usable = tuple(each.card for each in told if not each.missing)
        return Match(
            skills=usable, servers=collect_servers(usable), unusable=tuple(each for each in told if each.missing)
        )

    def missing(self, card: Card) -> tuple[str, ...]:
        """Give what a skill needs and is not here."""
        return self.surroundings.find_missing(card)

    # What an agent gets

    def load(
        self,
        name: str,
        *,
        mode: Mode | None = None,
        style: str | None = None,
        arguments: str | Sequence[str] | None = None,
    ) -> Loaded:
        """Open a skill for an agent. `arguments` is what a user typed behind its name.

        Raises what `find` raises, `NeedsYes` where a person must approve and none does, `FileError` and
        `DocumentError` where its file cannot be read.
        """
        words = self.style if style is None else find_renderer(style)
        card = self.find(name, guess=words.accepts_first_match)
        self.permit(card.name)
        card = self.registry.where_it_lies(card)
        skill = self.registry.read(card)
        body = skill.body
        if arguments is not None:
            from skillpm.serving.arguments import read_argument_names, substitute_arguments  # noqa: PLC0415  (rarely)

            body = substitute_arguments(body, arguments, read_argument_names(skill.extra))
        names = {card.name.casefold(), card.declared.casefold()}
        files = list_skill_files(card)
        opened = OpenedSkill(card=card, body=body, files=files)
        text, was_cut = words.render_skill(opened, mode or words.default_mode, self.longest)
        with self._lock:
            self._loaded_bodies[card.name] = skill.body.strip()
        return Loaded(
            name=card.name,
            title=f"Loaded skill: {card.name}",
            text=text,
            directory=card.folder,
            files=files,
            mode=mode or words.default_mode,
            style=words.name,
            truncated=was_cut,
            body=body,
            taken_for="" if name.strip().casefold() in names else name.strip(),
        )

    def prompt(self, *, style: str | None = None, mode: Mode | None = None, budget: int | None = None) -> Prompt:
        """Give the catalogue for a system prompt: all that may be seen and say what they are for.

        With a `budget` in tokens descriptions are shortened first, and only then skills left out, the last ones.
        """
        words = self.style if style is None else find_renderer(style)
        advertised = self._list_advertised()

        def written(skills: Sequence[RenderedSkill]) -> str:
            return words.render_catalog(skills, mode or words.default_mode)

        kept = advertised if budget is None else fit_to_budget(advertised, written, budget)
        text = written(kept)
        return Prompt(
            style=words.name,
            skills=len(kept),
            tokens=estimate_tokens(text),
            text=text,
            left_out=len(advertised) - len(kept),
            shortened=sum(told.description != told.card.description for told in kept),
        )

    # The tool

    @property
    def description(self) -> str:
        """What the tool `skill` says of itself to a model: made anew from what may be seen now."""
        return self.style.render_tool_description(self._list_advertised())

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the tool's arguments."""
        return TOOL_SCHEMA

    def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Answer a call of the tool `skill`; never raises for what a caller or a skill may do wrong."""
        return answer_call(self, arguments)

    @property
    def loaded(self) -> Mapping[str, str]:
        """What was loaded so far: bodies by name, in the order of their first loading."""
        with self._lock:
            return dict(self._loaded_bodies)

    def loaded_prompt(self) -> str:
        """Give what was loaded as an appendix to a system prompt."""
        return "".join(f"\n\n--- Loaded Skill: {name} ---\n{body}" for name, body in self.loaded.items())

    def permit(self, name: str) -> None:
        """Raise `NeedsYes` where a rule wants a person to be asked for a skill, and none approves."""
        decision = self.rules.decide(name)
        if decision.action == "ask" and (self._ask is None or not self._ask(name)):
            raise ConfirmationRequired(name, decision, was_asked=self._ask is not None)

    def _list_advertised(self) -> tuple[RenderedSkill, ...]:
        return self._describe_skills([card for card in self._refresh_visible_cards() if card.is_advertised])

    def _refresh_visible_cards(self) -> Collection[Card]:
        """Give all that may be seen, as their files are now."""
        self.registry.check(self.visible.values())
        return self.visible.values()

    def _search_cards(self, words: str) -> tuple[Card, ...]:
        seen = self._visible_skills
        return search_cards(words, [*seen.cards.values()], seen.search_texts)

    def _describe_skills(self, cards: Collection[Card]) -> tuple[RenderedSkill, ...]:
        missing = self.surroundings.find_missing
        return tuple(RenderedSkill(card=card, missing=missing(card), description=card.description) for card in cards)

    @property
    def _visible_skills(self) -> "_VisibleSkills":
        shelf, permits, view = self.registry.shelf, self._get_permissions(), self._visible_cache
        if view is None or view.snapshot is not shelf or view.permissions is not permits:
            cards = {name: card for name, card in shelf.cards.items() if not permits.hides(card)}
            self._visible_cache = view = _VisibleSkills(shelf, permits, cards)
        return view


class _VisibleSkills:
    """What may be seen of a shelf, and what is asked of it again and again. Made once, never changed."""

    def __init__(
        self, snapshot: RegistrySnapshot, permissions: EffectivePermissions, cards: Mapping[str, Card]
    ) -> None:
        self.snapshot = snapshot
        self.permissions = permissions
        self.cards = cards

    @cached_property
    def search_texts(self) -> Sequence[str]:
        """The text that a search looks at, for each card."""
        return [search_text(card) for card in self.cards.values()]

    @cached_property
    def trigger_index(self) -> TriggerIndex:
        """The skills by their trigger words."""
        return build_trigger_index(self.cards.values())
