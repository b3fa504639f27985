"""Which dependencies inherit the site of the skill that requires them."""

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.index import IndexPin
from skillpm.requirements.siblings import find_inherited_sites

SITE, OTHER = "https://site.example/", "https://other.example/"
REPORT, PDF = SkillName("report"), SkillName("pdf")


def test_a_skill_that_is_locked_elsewhere_passes_no_site_on() -> None:
    def inherited(index: str) -> set[tuple[SkillName, str]]:
        pin = IndexPin(index=index, url=f"{index}report.tar.gz", sha256="0" * 64)
        skill = LockedSkill(pin=pin, digest=Digest("sha256:" + "0" * 64), version="1.0", dependencies={"pdf": "*"})
        return find_inherited_sites(Lockfile(skills={REPORT: skill}), [(REPORT, SITE)], [REPORT])

    assert (inherited(SITE), inherited(OTHER)) == ({(PDF, SITE)}, set())
