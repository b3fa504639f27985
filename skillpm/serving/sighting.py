"""From a file that may be a skill to a skill that a host sees, or to a remark that says why it does not."""

import os

from skillpm.documents.findings import NotLoadable
from skillpm.documents.head import Head
from skillpm.documents.profile import Profile
from skillpm.serving.heads import HeadCache, Seen
from skillpm.serving.layouts import LOWER, SKILL_FILE, Candidate, Remark, leads_out, reason
from skillpm.serving.roots import Place
from skillpm.serving.shadowing import FoundSkill, Sighting

SAYS_NOTHING = Head("", "", "")


class Sights:
    """Reads candidates for one host, and remarks what is wrong with them."""

    def __init__(self, profile: Profile, cache: HeadCache, remark: Remark) -> None:
        self.profile = profile
        self.cache = cache
        self.remark = remark

    def sight(self, candidate: Candidate, place: Place, number: int) -> Sighting | None:
        """Read a candidate in the root of this number; None where it is no skill, or none for this host."""
        if not self._may_be_read(candidate.path, place):
            return None
        try:
            seen = self.cache.read(candidate.path)
        except NotADirectoryError:
            return None
        except FileNotFoundError:
            return self._lower(candidate, place, number)
        except OSError as error:
            self.remark(candidate.path, reason(error))
            return None
        except NotLoadable as error:
            if not (error.finding.code == "no-frontmatter" and (candidate.is_loose or candidate.known)):
                self.remark(candidate.path, f"line {error.finding.line}: {error.finding.message}")
            if candidate.known is None:
                return None
            seen = Seen(SAYS_NOTHING, (0, 0))  # a registry may list files that are no more than text
        return self._sighting(candidate, seen, place, number)

    def _may_be_read(self, path: str, place: Place) -> bool:
        """Tell whether the root's rule for links lets a file be read."""
        if place.root.links == "follow" or not os.path.islink(path):
            return True
        return place.root.links == "inside" and not leads_out(path, place, self.remark)

    def _lower(self, candidate: Candidate, place: Place, number: int) -> Sighting | None:
        """Read `skill.md` where there is no SKILL.md; other tools may not find it."""
        if os.path.basename(candidate.path) != SKILL_FILE:
            return None
        lower = candidate._replace(path=os.path.join(os.path.dirname(candidate.path), LOWER))
        if os.path.lexists(candidate.path):
            self.remark(candidate.path, "the link leads nowhere")
        if not os.path.isfile(lower.path):
            return None
        self.remark(lower.path, f"the file should be called {SKILL_FILE}; some hosts do not see it")
        return self.sight(lower, place, number)

    def _sighting(self, candidate: Candidate, seen: Seen, place: Place, number: int) -> Sighting | None:
        head = seen.head
        for key in self.profile.requires:
            if not getattr(head, key):
                self.remark(candidate.path, f"it has no {key}, and {self.profile.id} takes no skill without")
                return None
        calls_itself = head.name if self.profile.names == "declared" else ""
        name, description = calls_itself or candidate.name, head.description
        if candidate.known is not None:
            name, description = candidate.known
            if (head.name or name, head.description or description) != candidate.known:
                self.remark(candidate.path, "the file says another name or description than skills.json does")
        found = FoundSkill(name, description, candidate.path, place.root.scope, number, head.compatibility)
        return Sighting(found, None if candidate.known else seen.identity)
