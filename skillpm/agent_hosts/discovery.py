"""Find the skills that an agent host sees from a working directory. One engine serves all hosts, driven by profiles."""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from skillpm.agent_hosts.layouts import (
    LOWERCASE_SKILL_FILE,
    SKILL_FILE,
    CandidateFile,
    WarnAt,
    describe_error,
    find_candidates,
    is_escaping_link,
)
from skillpm.agent_hosts.roots import SearchRoot
from skillpm.agent_hosts.shadowed_skills import DiscoveredSkill, Duplicate, FoundSkill, Shadowed, resolve_precedence
from skillpm.core.text import one_line, sanitize
from skillpm.core.values import Value
from skillpm.formats.host_profile import HostProfile
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, has_escaping_link
from skillpm.registry.frontmatter_cache import CachedHead, HeadCache
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.head import HEAD_SIZE, SkillHead, extract_frontmatter

EMPTY_HEAD = SkillHead("", "", "", "", "")
FLAWS = {
    "bom": "it begins with a byte order mark",
    "leading-blank": "its first line is not `---`",
    "invalid": "its frontmatter is not valid YAML",
    "untyped": "its name or description is not text",
    "unquotable": "its frontmatter is not valid YAML",
    "repeated": "a key occurs twice",
    "mistyped": "a value has the wrong type",
    "long-name": "its name has more than 64 characters",
}
BY_NAME = attrgetter("name")  # sorting is stable: it keeps the order of precedence within a name


class Scanner:
    """Reads the candidates of one host and warns about those that it cannot use."""

    def __init__(self, profile: HostProfile, cache: HeadCache, warn: WarnAt) -> None:
        self.profile = profile
        self.cache = cache
        self.warn = warn

    def read_candidate(self, candidate: CandidateFile, root: SearchRoot, root_index: int) -> DiscoveredSkill | None:
        """Read a candidate in the root with this index; None if it is not a skill, or not one for this host."""
        if not self._is_readable(candidate.path, root) or self._leaves_project(candidate, root):
            return None
        try:
            cached = self.cache.read(candidate.path)
        except NotADirectoryError:
            return None
        except FileNotFoundError:
            return self._read_lowercase_file(candidate, root, root_index)
        except OSError as error:
            self.warn(candidate.path, describe_error(error))
            return None
        except NotLoadable as error:
            may_lack_it = candidate.registered is not None or self.profile.describes_by_body
            if not (error.finding.code == "no-frontmatter" and (candidate.is_flat or may_lack_it)):
                self.warn(candidate.path, f"line {error.finding.line}: {error.finding.message}")
            if not may_lack_it:
                return None
            state = os.stat(candidate.path)
            cached = CachedHead(EMPTY_HEAD, (state.st_dev, state.st_ino))
        return self._build_skill(candidate, cached, root, root_index)

    def _is_readable(self, path: str, root: SearchRoot) -> bool:
        """Return whether the root's rule for links permits reading a file."""
        if root.profile_root.links in {"follow", "files", "project"} or not os.path.islink(path):
            return True
        return root.profile_root.links == "inside" and not is_escaping_link(path, root, self.warn)

    def _leaves_project(self, candidate: CandidateFile, root: SearchRoot) -> bool:
        """Return whether a skill of a project is a link to outside it, which `list` and `load` leave out, too."""
        folder = os.path.dirname(candidate.path)
        if not root.boundary or not (os.path.islink(folder) or os.path.islink(candidate.path)):
            return False
        layout = Layout(directory=root.path, boundary=root.boundary)
        if not has_escaping_link(layout, os.path.basename(folder)):
            return False
        self.warn(folder, ESCAPING_LINK_MESSAGE)
        return True

    def _read_lowercase_file(
        self, candidate: CandidateFile, root: SearchRoot, root_index: int
    ) -> DiscoveredSkill | None:
        """Read `skill.md` if SKILL.md is missing, with a warning: other tools may not find it."""
        if os.path.basename(candidate.path) != SKILL_FILE:
            return None
        lowercase = candidate._replace(path=os.path.join(os.path.dirname(candidate.path), LOWERCASE_SKILL_FILE))
        if os.path.lexists(candidate.path):
            self.warn(candidate.path, "broken link")
        if not os.path.isfile(lowercase.path):
            return None
        if self.profile.has_exact_file_name:
            self.warn(lowercase.path, f"the file must be named {SKILL_FILE}; {self.profile.id} does not find it")
            return None
        self.warn(lowercase.path, f"the file should be named {SKILL_FILE}; some hosts do not find it")
        return self.read_candidate(lowercase, root, root_index)

    def _build_skill(
        self, candidate: CandidateFile, cached: CachedHead, root: SearchRoot, root_index: int
    ) -> DiscoveredSkill | None:
        head = cached.head
        if head.dialect and head.dialect not in self.profile.frontmatter:
            head = EMPTY_HEAD._replace(problem=f"its frontmatter is {head.dialect.upper()}")
        elif refused := [flaw for flaw in FLAWS if flaw in head.flaws and flaw in self.profile.refuses]:
            detail = head.flaws[refused[0]]
            head = EMPTY_HEAD._replace(problem=FLAWS[refused[0]] + (f": {detail}" if detail else ""))
        for key in self.profile.requires:
            if not getattr(head, key):
                reason = f" ({head.problem})" if head.problem else ""  # which may be why it is missing
                self.warn(candidate.path, f"no {key}; {self.profile.id} ignores skills without one{reason}")
                return None
        if self.profile.describes_by_body and not head.description:
            head = head._replace(description=_read_first_line(candidate.path))
        declared = head.name if self.profile.names == "declared" else ""
        name, description = declared or candidate.name, head.description
        if candidate.registered is not None:
            name, description = candidate.registered["name"], candidate.registered["description"]
            if (head.name or name, head.description or description) != (name, description):
                self.warn(candidate.path, "its name or description differs from the one in skills.json")
        scope, registered = root.profile_root.scope, candidate.registered
        skill = FoundSkill(name, description, candidate.path, scope, root_index, head.compatibility, registered)
        return DiscoveredSkill(skill, None if registered else cached.identity)


def _read_first_line(path: str) -> str:
    """Return the first line of a body, without the marks of a heading; of a file without any, what Claude Code says."""
    try:
        data, _ = read_regular_file(path, HEAD_SIZE)
    except OSError:
        return ""
    front = extract_frontmatter(data) if data.startswith(b"---") else None
    lines = (line.strip() for line in data[len(front or b"") :].decode("utf-8-sig", "replace").splitlines())
    first = next((line for line in lines if line and not (front and line == "---")), "")
    return one_line(first.lstrip("#")) or "Skill"


class DiscoveryWarning(NamedTuple):
    """A problem at a path that did not stop discovery."""

    # Empty if the problem is not about a path.
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Discovery(Value):
    """The result of `discover`: the skills that an agent host sees, and where it looks for them.

    `skills`, `shadowed` and `again` are sorted by name, entries with the same name by precedence.
    """

    # The host's ID.
    agent: str
    # One line about where the host looks.
    about: str = ""
    # The host shows skills with the same name side by side, so none of them is shadowed.
    shows_both: bool = False
    # The folders searched, highest precedence first, including those that do not exist or are switched off.
    roots: tuple[SearchRoot, ...] = ()
    # What the host sees.
    skills: tuple[FoundSkill, ...] = ()
    # Skills hidden by another one with the same name.
    shadowed: tuple[Shadowed, ...] = ()
    # Further paths to a file that is listed already.
    again: tuple[Duplicate, ...] = ()
    warnings: tuple[DiscoveryWarning, ...] = ()

    def get(self, name: str) -> FoundSkill | None:
        """Return the skill with this name, or None."""
        return next((skill for skill in self.skills if skill.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all skills, sorted."""
        return tuple(skill.name for skill in self.skills)


def scan_roots(profile: HostProfile, roots: Sequence[SearchRoot], cache: HeadCache) -> Discovery:
    """Search the folders of a host. Problems become warnings; nothing raises."""
    warnings: list[DiscoveryWarning] = []

    def warn(path: str, message: str) -> None:
        warnings.append(DiscoveryWarning(path, message))

    scanner = Scanner(profile, cache, warn)

    def discovered() -> Iterator[DiscoveredSkill]:
        for index, root in enumerate(roots):
            if root.exists and not root.disabled_by and not _is_unfollowed_link(root):
                for candidate in find_candidates(root, warn):
                    skill = scanner.read_candidate(candidate, root, index)
                    if skill is not None:
                        yield skill

    seen, shadowed, duplicates = resolve_precedence(discovered(), roots, keep_both=profile.duplicates == "both")
    skills = sorted((skill for skill in seen if _is_compatible(profile, skill, warn)), key=BY_NAME)
    for first, second in pairwise(skills):
        if first.name == second.name:
            warn(
                second.path,
                f"duplicate name `{sanitize(first.name, 60)}`; {profile.id} shows both, the other is {first.path}",
            )
    return Discovery(
        agent=profile.id,
        about=profile.about,
        shows_both=profile.duplicates == "both",
        roots=tuple(roots),
        skills=tuple(skills),
        shadowed=tuple(sorted(shadowed, key=BY_NAME)),
        again=tuple(sorted(duplicates, key=BY_NAME)),
        warnings=tuple(warnings),
    )


def _is_unfollowed_link(root: SearchRoot) -> bool:
    """Return whether a root is itself a link that the host does not follow, since its walk begins with the link."""
    return root.profile_root.links in {"none", "files"} and os.path.islink(root.path)


def _is_compatible(profile: HostProfile, skill: FoundSkill, warn: WarnAt) -> bool:
    """Return whether a host accepts a skill with this `compatibility`; most hosts ignore the field."""
    declared = skill.compatibility
    if not declared or not profile.compatibility or declared in profile.compatibility:
        return True
    warn(skill.path, f"only compatible with `{sanitize(declared, 60)}`, so {profile.id} ignores it")
    return False
