"""Signatures of new content: required signers, and whether the files are the signed ones."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.vetting.detached_signatures import find_signatures_beside
from skillpm.vetting.problems import Problem, ValidationRequest, find_beside
from skillpm.vetting.signers import check_signature, is_signature_required

TRUST_HINT = "ask its publisher, or change whom you trust: [[trust]] in config.toml"


def find_bad_signatures(request: ValidationRequest) -> Iterator[Problem]:
    """Yield what is wrong with the signatures of skills; it refuses them where one is required, or locked."""
    for skill in request.incoming:
        fetchers = make_fetchers(request.project)
        beside = partial(find_beside, request.project, skill)
        yield from _check(fetchers, skill.name, skill.locked, skill.tree, beside)


def find_unsigned(skills: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher) -> Iterator[Problem]:
    """Yield the skills that are about to be locked without the trusted signature that they require."""
    for name, skill in skills.items():
        if not skill.signer and skill.digest and is_signature_required(fetchers.settings, skill):
            tree = fetch_content(fetchers, name, skill, skill.digest)
            yield from _check(fetchers, name, skill, tree, partial(find_signatures_beside, fetchers, name, skill, tree))


def _check(
    fetchers: FetcherDispatcher,
    name: SkillName,
    locked: LockedSkill,
    tree: FileTree,
    beside: Callable[[], Iterable[bytes]],
) -> Iterator[Problem]:
    check = check_signature(fetchers.settings, locked, tree, fetchers, beside)
    message, blocks = check.compare(locked)
    if message:
        yield Problem(
            skill=name,
            kind="signature",
            rule="signature",
            message=message,
            where=check.where,
            hint=TRUST_HINT if blocks else "",
            blocks=blocks,
        )
