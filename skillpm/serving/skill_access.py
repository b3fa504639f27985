"""Access to skills as an agent may see them: find, search, load and read.

Permissions are applied before anything else. A denied skill is not listed, found, suggested or opened, and the error
for its name does not reveal whether it exists.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, NotTrusted, SkillpmError
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.last_use import record_last_use
from skillpm.serving.access_errors import (
    AmbiguousSkillName,
    ConfirmationRequired,
    SkillBlocked,
    SkillForbidden,
    SkillNotFound,
    WrongType,
    explain,
    require_text,
)
from skillpm.serving.approval import Ask, is_approved
from skillpm.serving.availability import Environment
from skillpm.serving.event_log import log_event
from skillpm.serving.live_permissions import EffectivePermissions
from skillpm.serving.permissions import Rules
from skillpm.serving.renderers.base import OpenedSkill, Renderer, SkillSummary
from skillpm.serving.renderers.body_modes import MAX_LENGTH, Mode, check_mode
from skillpm.serving.renderers.styles import find_renderer
from skillpm.serving.results import Loaded, Match
from skillpm.serving.skill_files import hide_folder, list_skill_files, read_file_of
from skillpm.serving.skill_search import (
    collect_servers,
    find_by_name,
    find_triggered,
    suggest_names,
)
from skillpm.serving.token_budget import (
    DESCRIPTION_BUDGET,
)
from skillpm.serving.visible_skills import VisibleSkills
from skillpm.settings import current_settings

if TYPE_CHECKING:
    from skillpm.serving.installed_search import FoundCards, InstalledSearch
    from skillpm.skillmd.skill import Skill
    from skillpm.trust.policy import Policies

# Claude Code replaces it by the absolute path of the skill's folder.
SKILL_FOLDER = "${CLAUDE_SKILL_DIR}"
Refusal = TypeVar("Refusal", bound=SkillpmError)


class SkillAccess:
    """The skills of a registry, as an agent may see and open them. The arguments: see `SkillService`."""

    def __init__(  # noqa: PLR0913  (each has a default that is right for most)
        self,
        registry: Registry,
        *,
        rules: Rules | None = None,
        disabled: Collection[str] = (),
        style: str = "default",
        ask: Ask | None = None,
        environ: Mapping[str, str] | None = None,
        max_length: int | None = None,
        budget: int | None = DESCRIPTION_BUDGET,
        permits: Callable[[], EffectivePermissions] | None = None,
        inspect: Callable[[Card], None] | None = None,
    ) -> None:
        given: object = registry
        if not isinstance(given, Registry):
            hint = f"use SkillService(Registry.load({sanitize(repr(given), 100)}))" if given else ""
            raise WrongType(f"the registry is of type {type(given).__name__}, not Registry", hint=hint)
        self.registry = registry
        fixed = EffectivePermissions(rules=rules or Rules(), disabled=frozenset(disabled))
        # Whether clients are on other machines, or may be: no answer then names a folder of this one.
        self.is_remote = False
        self._permits = permits or (lambda: fixed)
        self._permissions_problem = ""
        self.style = find_renderer(style)
        self.environment = Environment(current_settings().environ if environ is None else environ)
        self._max_length = max_length
        self.budget = budget
        self._ask = ask
        self._inspect = inspect or (lambda _: None)
        # Why the content of skills was refused, by name.
        self.refusals: dict[str, str] = {}
        self._loaded_bodies: dict[str, str] = {}
        self._visible_cache: VisibleSkills | None = None

    def _get_permissions(self) -> EffectivePermissions:
        """Return the permissions in effect now. While they cannot be read, each problem is logged once."""
        try:
            permissions = self._permits()
        except SkillpmError as error:
            if (problem := explain(error)) != self._permissions_problem:
                self._permissions_problem = problem
                log_event("error", "Nothing is served: %s", problem)
            raise
        self._permissions_problem = ""
        return permissions

    # Visible skills

    def __len__(self) -> int:
        return len(self.visible)

    def __iter__(self) -> Iterator[SkillSummary]:
        return iter(self.list())

    def __contains__(self, name: object) -> bool:
        """Return whether a skill of exactly this name is visible."""
        return name in self.visible

    @property
    def rules(self) -> Rules:
        """The rules in effect now."""
        return self._get_permissions().rules

    @property
    def policies(self) -> "Policies | None":
        """The policies in effect now; None if there are none."""
        return self._get_permissions().policies

    @property
    def priority(self) -> Sequence[str]:
        """Names and patterns of the skills that matter most, as the manifests declare them."""
        return self._get_permissions().priority

    @property
    def max_length(self) -> int:
        """The length, in characters, at which a loaded text is cut."""
        return self._max_length or self._get_permissions().serving.max_length or MAX_LENGTH

    @max_length.setter
    def max_length(self, max_length: int) -> None:
        self._max_length = max_length

    def _choose_mode(self, mode: Mode | None, renderer: Renderer) -> Mode:
        """Return a mode, or by default that of the settings, else that of the style."""
        return check_mode(mode or self._get_permissions().serving.mode or renderer.default_mode)

    @property
    def visible(self) -> Mapping[str, Card]:
        """The skills that permissions let an agent see, by name, sorted."""
        return self._visible_skills.cards

    def list(self) -> tuple[SkillSummary, ...]:
        """Return all visible skills, each with its unmet requirements."""
        return self.describe(self._refresh_visible_cards())

    def find(self, name: str, *, guess: bool = False) -> Card:
        """Return the skill with this name, in whatever case.

        `guess` also takes the first skill whose name contains it or is contained in it, as one host does.

        Raises `SkillForbidden` for a denied name, `AmbiguousSkillName` for several matches, and `SkillNotFound`, with
        suggestions, for none.
        """
        require_text(name, "the name of a skill")
        visible = self._visible_skills
        self.refuse_blocked(name.strip())
        decision = visible.permissions.rules.decide(name.strip())
        if decision.action == "deny":
            raise _log_refusal(SkillForbidden(name.strip(), decision))
        matches = find_by_name(name, visible.cards, allow_partial=guess) or tuple(
            card for card in visible.cards.values() if card.declared == name
        )
        if len(matches) > 1 and not guess:
            raise AmbiguousSkillName(name, [card.name for card in matches])
        if not matches:
            log_event("warning", "Skill not found: %s", sanitize(name, 80))
            similar = suggest_names(name, visible.cards, visible.texts)
            raise SkillNotFound(name, similar, enable_command=self._enable_command(name.strip(), visible))
        if self.registry.check(matches):
            return self.visible.get(
                matches[0].name, matches[0]
            )  # if it became unreadable, opening it reports the reason
        return matches[0]

    def search(self, query: str) -> tuple[SkillSummary, ...]:
        """Return the skills that a query finds, best first.

        Those that contain all of its words are found; if there are none, those that contain words like them, which
        corrects typing errors; and else those that contain some of the words. `skillpm search` and MCP find the same.
        """
        return self.describe(self.find_by_words(query).cards)

    def find_by_words(self, query: str) -> "FoundCards":
        """Return the same with how it was found."""
        require_text(query, "a query")
        found = self.installed_search.search(query)
        return self.installed_search.search(query) if self.registry.check(found.cards) else found

    @property
    def installed_search(self) -> "InstalledSearch":
        """The search in what is visible now."""
        return self._visible_skills.search

    def match(self, message: str, *, whole_words: bool = False) -> Match:
        """Return the usable skills whose triggers occur in a message, and the MCP servers that they declare.

        Triggers match anywhere, ignoring case; with `whole_words` only as whole words. A skill that `load` would refuse
        is left out, so that nothing starts its servers.
        """
        require_text(message, "a message")
        triggered = find_triggered(message, self._visible_skills.triggers, whole_words=whole_words)
        if self.registry.check(triggered):
            triggered = find_triggered(message, self._visible_skills.triggers, whole_words=whole_words)
        skills = self.describe([card for card in triggered if self.is_accepted(card)])
        usable = tuple(skill for skill in skills if skill.is_usable)
        servers = collect_servers(skill.card for skill in usable)
        return Match(skills=usable, servers=servers, unusable=tuple(skill for skill in skills if not skill.is_usable))

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
        mode = self._choose_mode(mode, renderer)
        card = self.find(name, guess=renderer.accepts_first_match)
        self.require_approval(card.name)
        card = self.registry.locate(card)
        skill = self._open(card)
        shown = hide_folder(card) if self.is_remote else card
        body = skill.body.replace(SKILL_FOLDER, shown.folder)
        if arguments is not None:
            from skillpm.serving.arguments import read_argument_names, substitute_arguments  # noqa: PLC0415  (rarely)

            body = substitute_arguments(body, arguments, read_argument_names(skill.extra))
        names = {card.name.casefold(), card.declared.casefold()}
        files = list_skill_files(card)
        opened = OpenedSkill(card=shown, body=body, files=files, is_remote=self.is_remote)
        text, is_truncated = renderer.render_skill(opened, mode, self.max_length)
        self._loaded_bodies[card.name] = skill.body.strip()
        record_last_use(self._cache_dir, card.name)
        log_event("info", "Loaded skill: %s (mode %s)", card.name, mode)
        return Loaded(
            name=card.name,
            title=f"Loaded skill: {card.name}",
            text=text,
            directory=shown.folder,
            files=files,
            mode=mode,
            style=renderer.name,
            truncated=is_truncated,
            body=body,
            missing=self.environment.find_missing(card),
            taken_for="" if name.strip().casefold() in names else name.strip(),
        )

    def read(self, name: str, path: str) -> str:
        """Return the text of a file of a skill, such as `references/checklist.md`, under the permissions of `load`.

        `path` is relative to the skill's folder, as in `Loaded.files`. Raises what `load` raises,
        `SkillFileNotFound` if the skill has no such file, and `DocumentError` if the file is not UTF-8 text.
        """
        data = self.read_bytes(name, path)
        try:
            return data.decode()
        except UnicodeDecodeError:
            message = f"`{sanitize(path, 200)}` of `{sanitize(name, 80)}` is not UTF-8 text, but {len(data):,} bytes"
            raise DocumentError(message, hint="use `read_bytes`, or a program that reads this format") from None

    def read_bytes(self, name: str, path: str) -> bytes:
        """Return the content of a file of a skill, at most 16 MiB; see `read`."""
        card = self.find(name)
        self.require_approval(card.name)
        card = self.registry.locate(card)
        self._open(card)  # raises for a skill that `load` would refuse
        return read_file_of(card, path)

    @property
    def loaded(self) -> Mapping[str, str]:
        """The bodies of the skills loaded so far, by name, in the order of first loading."""
        return dict(self._loaded_bodies)

    def require_approval(self, name: str) -> None:
        """Raise `ConfirmationRequired` if a rule requires a person's approval for a skill and it is not given."""
        decision = self.rules.decide(name)
        if decision.action == "ask" and (self._ask is None or not is_approved(self._ask, name)):
            raise _log_refusal(ConfirmationRequired(name, decision, was_asked=self._ask is not None))

    def refuse_blocked(self, name: str) -> None:
        """Raise `SkillBlocked` if a policy blocks a name, or the content of the skill with this name."""
        permissions = self._get_permissions()
        if permissions.policies is None:
            return
        card = self.registry.snapshot.cards.get(name)
        blocked = permissions.policies.find_blocked([name], "") if card is None else permissions.find_blocked(card)
        if blocked is not None:
            raise _log_refusal(SkillBlocked(name, blocked))

    def is_accepted(self, card: Card) -> bool:
        """Return whether the content of a skill may be served: its name and description are part of it."""
        try:
            self._inspect(card)
        except NotTrusted as error:
            self.refusals[card.name] = error.message
            log_event("warning", "Not offered: %s", error.message)
            return False
        return True

    def _refuse_blocked_content(self, card: Card) -> None:
        if (blocked := self._get_permissions().find_blocked(card, checks_content=True)) is not None:
            raise _log_refusal(SkillBlocked(card.name, blocked))

    def _open(self, card: Card) -> "Skill":
        self._refuse_blocked_content(card)
        try:
            self._inspect(card)
        except NotTrusted as error:
            self._refuse_blocked_content(card)  # by a policy that has arrived since then
            _log_refusal(error)
            raise
        try:
            return self.registry.read(card)
        except SkillpmError as error:
            if not os.path.exists(card.location):
                log_event("warning", "Skill file not found: %s", card.location)
            log_event("error", "Failed to load skill: %s: %s", card.name, error.message)
            raise

    @cached_property
    def _cache_dir(self) -> str:
        return current_settings().cache_dir

    def _enable_command(self, name: str, visible: VisibleSkills) -> str:
        """Return the command that enables a skill that is not visible and not denied; empty if there is none."""
        card, directory = visible.snapshot.cards.get(name), visible.snapshot.disabled.get(name)
        # The registry answers first, and the manifest only for what the registry lists. So the answer is the same
        # before and after each step of `enable` and `disable`, which replace the two one after the other.
        if directory is None and card is not None:
            directory = self.registry.directory if name in visible.permissions.disabled else card.directory
        if directory is None:
            return ""
        return f"skillpm enable{' -g' if directory == current_settings().skills_home else ''} {shell_word(name)}"

    def _refresh_visible_cards(self) -> Collection[Card]:
        """Return all visible skills as their files are now."""
        self.registry.check(self.visible.values())
        return self.visible.values()

    def describe(self, cards: Collection[Card]) -> tuple[SkillSummary, ...]:
        """Return skills with their unmet requirements."""
        missing, show = self.environment.find_missing, hide_folder if self.is_remote else _unchanged
        return tuple(
            SkillSummary(card=show(card), missing=missing(card), description=card.description) for card in cards
        )

    def explain(self, error: SkillpmError) -> str:
        """Return an error as a client may read it."""
        return explain(error, is_remote=self.is_remote)

    @property
    def _visible_skills(self) -> VisibleSkills:
        snapshot, permissions, cached = self.registry.snapshot, self._get_permissions(), self._visible_cache
        if cached is None or cached.snapshot is not snapshot or cached.permissions is not permissions:
            self._visible_cache = cached = VisibleSkills(snapshot, permissions)
            if self.registry.directory and not self.registry.is_there:
                log_event("warning", "skills.json not found: %s", self.registry.directory)
        return cached


def _log_refusal(error: Refusal) -> Refusal:
    """Log why a skill is refused, and return the error."""
    log_event("warning", "Refused (%s): %s", error.code, explain(error))
    return error


def _unchanged(card: Card) -> Card:
    return card
