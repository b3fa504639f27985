"""Hypothesis strategies for documents: everything that the types allow."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from skillpm.core.digest import Digest, compute_digest
from skillpm.core.names import RESERVED_NAMES, SkillName
from skillpm.core.system_requirements import SystemRequirements
from skillpm.formats.legacy_metadata import REQUIREMENT_KINDS, LegacyMetadata
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.receipt import LINK_KINDS, InstalledFile, InstalledSkill, Receipt
from skillpm.kinds.archive import UrlPin
from skillpm.kinds.base import Pin
from skillpm.kinds.bundled import BundledPin
from skillpm.kinds.git import GitPin
from skillpm.kinds.index import IndexPin
from skillpm.kinds.local import PathPin
from skillpm.kinds.package import PackagePin

EXAMPLES = settings(max_examples=60)

HEX = "0123456789abcdef"
hashes = st.text(HEX, min_size=64, max_size=64)
digests = hashes.map(lambda text: Digest(f"sha256:{text}"))
commits = st.text(HEX, min_size=40, max_size=40)
names: SearchStrategy[SkillName] = (
    st.from_regex(r"[a-z0-9]{1,4}(-[a-z0-9]{1,4}){0,2}", fullmatch=True)
    .filter(lambda name: name not in RESERVED_NAMES)
    .map(SkillName)
)
folders = st.lists(names, min_size=1, max_size=3).map("/".join)
texts = st.text(st.characters(codec="utf-8"), max_size=6)
seen = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
refs = st.builds(str.__add__, st.sampled_from(["refs/heads/", "refs/tags/"]), folders) | st.sampled_from(["HEAD", ""])
addresses = st.builds("https://host.example/{}".format, folders)

git_pins = st.builds(
    GitPin,
    url=st.sampled_from(["https://github.com/o/r", "ssh://git@host.example/r.git", "git@host.example:o/r"]),
    commit=commits,
    tree=commits,
    path=st.just(".") | folders,
    ref=refs,
    files=st.just(()) | st.lists(folders | st.sampled_from(["*.md", "!tests/", "a b/**"]), min_size=1).map(tuple),
    links=st.dictionaries(
        folders, st.builds("{} {}".format, st.sampled_from(["040000", "100644", "100755"]), commits), max_size=3
    ).map(lambda links: tuple(sorted(links.items()))),
)
live_links = st.builds(PathPin, path=seen, link=st.just(value=True))
stored_pins: SearchStrategy[Pin] = st.one_of(
    git_pins,
    st.builds(PathPin, path=seen),
    st.builds(BundledPin, name=names),
    st.builds(UrlPin, url=addresses, sha256=hashes),
    st.builds(IndexPin, index=addresses, url=addresses, sha256=hashes),
    st.builds(
        PackagePin, kind=st.sampled_from(["env", "npm"]), package=names, path=st.just(".") | folders, version=texts
    ),
)

requirements: SearchStrategy[Any] = texts | st.dictionaries(texts, texts | st.booleans(), max_size=3)
locked_skills = st.builds(
    LockedSkill,
    pin=stored_pins,
    digest=digests,
    version=texts,
    dependencies=st.dictionaries(names, requirements, max_size=2),
) | st.builds(LockedSkill, pin=live_links, digest=st.none(), version=texts)
lockfiles = st.builds(
    Lockfile,
    requirements=st.dictionaries(names, requirements, max_size=4),
    skills=st.dictionaries(names, locked_skills, max_size=4),
    overrides=st.dictionaries(names, requirements, max_size=2),
    members=st.dictionaries(folders, st.dictionaries(names, requirements, max_size=2), max_size=3),
)

files = st.builds(InstalledFile, sha256=hashes, size=st.integers(0, 2**40), executable=st.booleans(), link=texts)


def _install(pin: Pin, version: str, installed: dict[str, InstalledFile]) -> InstalledSkill:
    digest = compute_digest((path, file.sha256) for path, file in installed.items())
    return InstalledSkill(pin=pin, digest=digest, version=version, files=installed)


installed_skills = st.builds(_install, stored_pins, texts, st.dictionaries(folders, files, max_size=3)) | st.builds(
    InstalledSkill, pin=live_links, digest=st.none()
)
links = st.dictionaries(names, st.sampled_from(LINK_KINDS), min_size=1, max_size=3)
receipts = st.builds(
    Receipt,
    skills=st.dictionaries(names, installed_skills, max_size=3),
    links=st.dictionaries(folders, links, max_size=2),
    folders=st.lists(texts, max_size=2).map(lambda found: tuple(sorted(found))),
    inherited=st.dictionaries(
        names,
        st.builds(
            LegacyMetadata,
            triggers=st.lists(texts, max_size=2).map(tuple),
            category=texts,
            description=texts,
            version=texts,
            requires=st.builds(
                SystemRequirements, **dict.fromkeys(REQUIREMENT_KINDS.values(), st.lists(texts, max_size=2).map(tuple))
            ),
            user_only=st.booleans(),
        ),
        max_size=2,
    ),
)
