"""What agents are served: one service, of which the shell, Python and MCP are skins.

Permissions come before everything else: a denied skill is not listed, not found, not suggested and never opened, and
what is said of its name does not tell whether it is there.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from skillpm.core.token_estimate import tokens_in
from skillpm.registry.card import Card, names_of
from skillpm.registry.directory_registry import Registry
from skillpm.registry.snapshot import Shelf
from skillpm.serving.access_errors import Forbidden, NeedsYes, NoSuchSkill, SeveralSkills
from skillpm.serving.availability import Surroundings
from skillpm.serving.body_modes import LONGEST, Mode
from skillpm.serving.live_permissions import Permits
from skillpm.serving.permissions import Rules
from skillpm.serving.renderers.base import Opened, Told
from skillpm.serving.renderers.lookup import style_of
from skillpm.serving.results import Answer, Loaded, Match, Prompt
from skillpm.serving.skill_files import files_beside
from skillpm.serving.skill_search import find, haystack, search, suggestions
from skillpm.serving.token_budget import within_budget
from skillpm.serving.tool_call import answered
from skillpm.serving.tool_schema import SCHEMA
from skillpm.serving.triggers import Triggers, matching, servers_of, trigger_index
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
        longest: int = LONGEST,
        permits: Callable[[], Permits] | None = None,
    ) -> None:
        self.registry = registry
        fixed = Permits(rules=rules or Rules(), disabled=frozenset(disabled))
        self._permits = permits or (lambda: fixed)
        self.style = style_of(style)
        self.surroundings = Surroundings(current_settings().environ if environ is None else environ)
        self.longest = longest
        self._ask = ask
        self._loaded: dict[str, str] = {}
        self._lock = threading.Lock()
        self._view: _Visible | None = None

    # What is there

    @property
    def rules(self) -> Rules:
        """The rules that count now."""
        return self._permits().rules

    @property
    def visible(self) -> Mapping[str, Card]:
        """The skills that may be seen, by name, sorted."""
        return self._visible.cards

    def list(self) -> tuple[Told, ...]:
        """Give every skill that may be seen, with what it lacks here."""
        return self._told(self._as_they_lie())

    def find(self, name: str, *, guess: bool = False) -> Card:
        """Give the skill that a name means, part of a name included where only one has it.

        With `guess` the first of several that have it is taken, as some loaders do. Raises `Forbidden` for a name
        that a rule denies, `NoSuchSkill` with near names, `SeveralSkills`.
        """
        decision = self.rules.decide(name.strip())
        if decision.action == "deny":
            raise Forbidden(name.strip(), decision)
        seen = self._visible
        found = find(name, seen.cards) or tuple(card for card in seen.cards.values() if card.declared == name)
        if len(found) > 1 and not guess:
            raise SeveralSkills(name, names_of(found))
        if not found:
            raise NoSuchSkill(name, suggestions(name, seen.cards, seen.texts))
        if self.registry.check(found):
            return self.visible.get(found[0].name, found[0])  # what cannot be read any more is told by who opens it
        return found[0]

    def search(self, words: str) -> tuple[Told, ...]:
        """Give the skills in which all words stand, best first."""
        found = self._searched(words)
        return self._told(self._searched(words) if self.registry.check(found) else found)

    def match(self, message: str, *, whole_words: bool = False) -> Match:
        """Give the skills whose triggers stand in a message and that can work here, and the MCP servers they bring."""
        found = matching(message, self._visible.triggers, whole_words=whole_words)
        if self.registry.check(found):
            found = matching(message, self._visible.triggers, whole_words=whole_words)
        told = self._told(found)
        usable = tuple(each.card for each in told if not each.missing)
        return Match(skills=usable, servers=servers_of(usable), unusable=tuple(each for each in told if each.missing))

    def missing(self, card: Card) -> tuple[str, ...]:
        """Give what a skill needs and is not here."""
        return self.surroundings.missing(card)

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
        words = self.style if style is None else style_of(style)
        card = self.find(name, guess=words.guesses)
        self.permit(card.name)
        card = self.registry.where_it_lies(card)
        skill = self.registry.read(card)
        body = skill.body
        if arguments is not None:
            from skillpm.serving.arguments import names_of_arguments, with_arguments  # noqa: PLC0415  (rarely)

            body = with_arguments(body, arguments, names_of_arguments(skill.extra))
        names = {card.name.casefold(), card.declared.casefold()}
        files = files_beside(card)
        opened = Opened(card=card, body=body, files=files)
        text, was_cut = words.loaded(opened, mode or words.mode, self.longest)
        with self._lock:
            self._loaded[card.name] = skill.body.strip()
        return Loaded(
            name=card.name,
            title=f"Loaded skill: {card.name}",
            text=text,
            directory=card.folder,
            files=files,
            mode=mode or words.mode,
            style=words.name,
            truncated=was_cut,
            body=body,
            taken_for="" if name.strip().casefold() in names else name.strip(),
        )

    def prompt(self, *, style: str | None = None, mode: Mode | None = None, budget: int | None = None) -> Prompt:
        """Give the catalogue for a system prompt: all that may be seen and say what they are for.

        With a `budget` in tokens descriptions are shortened first, and only then skills left out, the last ones.
        """
        words = self.style if style is None else style_of(style)
        advertised = self._advertised()

        def written(skills: Sequence[Told]) -> str:
            return words.catalogue(skills, mode or words.mode)

        kept = advertised if budget is None else within_budget(advertised, written, budget)
        text = written(kept)
        return Prompt(
            style=words.name,
            skills=len(kept),
            tokens=tokens_in(text),
            text=text,
            left_out=len(advertised) - len(kept),
            shortened=sum(told.description != told.card.description for told in kept),
        )

    # The tool

    @property
    def description(self) -> str:
        """What the tool `skill` says of itself to a model: made anew from what may be seen now."""
        return self.style.description(self._advertised())

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the tool's arguments."""
        return SCHEMA

    def call(self, arguments: Mapping[str, Any]) -> Answer:
        """Answer a call of the tool `skill`; never raises for what a caller or a skill may do wrong."""
        return answered(self, arguments)

    @property
    def loaded(self) -> Mapping[str, str]:
        """What was loaded so far: bodies by name, in the order of their first loading."""
        with self._lock:
            return dict(self._loaded)

    def loaded_prompt(self) -> str:
        """Give what was loaded as an appendix to a system prompt."""
        return "".join(f"\n\n--- Loaded Skill: {name} ---\n{body}" for name, body in self.loaded.items())

    def permit(self, name: str) -> None:
        """Raise `NeedsYes` where a rule wants a person to be asked for a skill, and none approves."""
        decision = self.rules.decide(name)
        if decision.action == "ask" and (self._ask is None or not self._ask(name)):
            raise NeedsYes(name, decision, was_asked=self._ask is not None)

    def _advertised(self) -> tuple[Told, ...]:
        return self._told([card for card in self._as_they_lie() if card.is_advertised])

    def _as_they_lie(self) -> Collection[Card]:
        """Give all that may be seen, as their files are now."""
        self.registry.check(self.visible.values())
        return self.visible.values()

    def _searched(self, words: str) -> tuple[Card, ...]:
        seen = self._visible
        return search(words, [*seen.cards.values()], seen.texts)

    def _told(self, cards: Collection[Card]) -> tuple[Told, ...]:
        missing = self.surroundings.missing
        return tuple(Told(card=card, missing=missing(card), description=card.description) for card in cards)

    @property
    def _visible(self) -> "_Visible":
        shelf, permits, view = self.registry.shelf, self._permits(), self._view
        if view is None or view.shelf is not shelf or view.permits is not permits:
            cards = {name: card for name, card in shelf.cards.items() if not permits.hides(card)}
            self._view = view = _Visible(shelf, permits, cards)
        return view


class _Visible:
    """What may be seen of a shelf, and what is asked of it again and again. Made once, never changed."""

    def __init__(self, shelf: Shelf, permits: Permits, cards: Mapping[str, Card]) -> None:
        self.shelf = shelf
        self.permits = permits
        self.cards = cards

    @cached_property
    def texts(self) -> Sequence[str]:
        """The text that a search looks at, for each card."""
        return [haystack(card) for card in self.cards.values()]

    @cached_property
    def triggers(self) -> Triggers:
        """The skills by their trigger words."""
        return trigger_index(self.cards.values())
