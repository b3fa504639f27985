"""The lockfile: deterministic, round-trips, and rejects unknown keys."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from formats.document_strategies import EXAMPLES, lockfiles
from hypothesis import given

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, NewerDocument
from skillpm.formats.lockfile import LockedSkill, Lockfile, read_lockfile, write_lockfile
from skillpm.kinds.bundled import BundledPin
from skillpm.kinds.git import GitPin
from skillpm.kinds.local import PathPin

PDF, GIT_BASICS, MINE = SkillName("pdf"), SkillName("git-basics"), SkillName("mine")
COMMIT, TREE = "9d2f1ae1" * 5, "0c3b5d77" * 5
DIGEST = Digest("sha256:" + "f00dfeed" * 8)
URL = "https://github.com/anthropics/skills"
LOCKFILE = Lockfile(
    requirements={PDF: {"git": URL, "path": "skills/pdf"}, MINE: {"path": "../mine", "link": True}},
    skills={
        PDF: LockedSkill(
            pin=GitPin(url=URL, commit=COMMIT, tree=TREE, path="skills/pdf"),
            digest=DIGEST,
            version="1.0",
            dependencies={GIT_BASICS: ">=1"},
        ),
        MINE: LockedSkill(pin=PathPin(path="../mine", link=True), digest=None),
        GIT_BASICS: LockedSkill(pin=BundledPin(name="git-basics"), digest=DIGEST, version="1.1.0"),
    },
)
TEXT = f"""\
{{
  "version": 1,
  "requirements": {{
    "mine": {{
      "path": "../mine",
      "link": true
    }},
    "pdf": {{
      "git": "{URL}",
      "path": "skills/pdf"
    }}
  }},
  "skills": {{
    "git-basics": {{
      "version": "1.1.0",
      "source": {{
        "bundled": "git-basics"
      }},
      "digest": "{DIGEST}"
    }},
    "mine": {{
      "source": {{
        "path": "../mine",
        "link": true
      }}
    }},
    "pdf": {{
      "version": "1.0",
      "source": {{
        "git": "{URL}",
        "commit": "{COMMIT}",
        "tree": "{TREE}",
        "path": "skills/pdf",
        "ref": "HEAD"
      }},
      "digest": "{DIGEST}",
      "dependencies": {{
        "git-basics": ">=1"
      }}
    }}
  }}
}}
"""


def test_a_lockfile_has_this_text() -> None:
    assert write_lockfile(LOCKFILE) == TEXT
    assert read_lockfile(TEXT, "skills.lock") == LOCKFILE


def test_the_order_of_resolution_does_not_matter() -> None:
    turned = Lockfile(
        requirements={name: LOCKFILE.requirements[name] for name in [PDF, MINE]},
        skills={name: LOCKFILE.skills[name] for name in [PDF, MINE, GIT_BASICS]},
    )

    assert write_lockfile(turned) == TEXT


def test_an_empty_lockfile_is_valid() -> None:
    text = '{\n  "version": 1,\n  "requirements": {},\n  "skills": {}\n}\n'

    assert write_lockfile(Lockfile()) == text
    assert read_lockfile(text, "skills.lock") == Lockfile()


@EXAMPLES
@given(lockfiles)
def test_written_documents_round_trip_to_the_same_bytes(lockfile: Lockfile) -> None:
    text = write_lockfile(lockfile)

    assert read_lockfile(text, "skills.lock") == lockfile
    assert write_lockfile(read_lockfile(text, "skills.lock")) == text


Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> str:
    value = json.loads(TEXT)
    change(value)
    return json.dumps(value)


def pdf(**members: Any) -> Change:
    return lambda lock: lock["skills"]["pdf"].update(members)


KEYS = "; known keys: "
GOT = "expected sha256: and 64 hex digits, got "
NAME = "invalid skill name"


@pytest.mark.parametrize(
    ("change", "message", "where"),
    [
        (lambda lock: lock.pop("version"), "`version` is missing", ""),
        (lambda lock: lock.update(version="1"), 'expected a whole number, got "1"', ": version"),
        (lambda lock: lock.update(version=0), "expected a format number, 1 to 1, got 0", ": version"),
        (lambda lock: lock.pop("requirements"), "`requirements` is missing", ""),
        (lambda lock: lock.pop("skills"), "`skills` is missing", ""),
        (
            lambda lock: lock.update(generated="now"),
            f"unknown key `generated`{KEYS}version, requirements, include, overrides, members, skills",
            ": generated",
        ),
        (lambda lock: lock.update(skills=[]), "expected an object, got an array", ": skills"),
        (lambda lock: lock["requirements"].update({"A": "*"}), f"{NAME} `A`", ": requirements.A"),
        (lambda lock: lock["requirements"].update(a=1), "expected a string, got 1", ": requirements.a"),
        (lambda lock: lock["requirements"].update(a=None), "expected a string, got null", ": requirements.a"),
        (
            lambda lock: lock["requirements"].update(a={"b": ["c"]}),
            "expected a string or true, got an array",
            ": requirements.a.b",
        ),
        (lambda lock: lock["skills"].update({"../x": {}}), f"{NAME} `../x`", ": skills.../x"),
        (lambda lock: lock["skills"].update(a=[]), "expected an object, got an array", ": skills.a"),
        (pdf(sha="x"), f"unknown key `sha`{KEYS}version, source, digest, signer, dependencies", ": skills.pdf.sha"),
        (pdf(version=1.0), "expected a string, got 1.0", ": skills.pdf.version"),
        (pdf(digest=None), f"{GOT}None", ": skills.pdf.digest"),
        (pdf(digest=""), f"{GOT}''", ": skills.pdf.digest"),
        (pdf(digest="sha512:abc"), f"{GOT}'sha512:abc'", ": skills.pdf.digest"),
        (lambda lock: lock["skills"]["pdf"].pop("digest"), "`digest` is missing", ": skills.pdf"),
        (lambda lock: lock["skills"]["mine"]["source"].pop("link"), "`digest` is missing", ": skills.mine"),
        (lambda lock: lock["skills"]["pdf"].pop("source"), "`source` is missing", ": skills.pdf"),
        (
            lambda lock: lock["skills"]["pdf"]["source"].update(commit="HEAD"),
            'expected a full id (40 or 64 hex digits), got "HEAD"',
            ": skills.pdf.source.commit",
        ),
        (pdf(dependencies=["a"]), "expected an object, got an array", ": skills.pdf.dependencies"),
        (pdf(dependencies={"../x": "*"}), f"{NAME} `../x`", ": skills.pdf.dependencies.../x"),
        (pdf(dependencies={"a": 1}), "expected a string, got 1", ": skills.pdf.dependencies.a"),
    ],
)
def test_a_lockfile_is_read_strictly(change: Change, message: str, where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_lockfile(changed(change), "skills.lock")
    assert (caught.value.message, caught.value.where) == (message, f"skills.lock{where}")


@pytest.mark.parametrize("text", ["", "[]", "null", "<<<<<<< HEAD\n", TEXT[:-4], TEXT + TEXT])
def test_another_document_is_not_a_lockfile(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_lockfile(text, "skills.lock")
    assert caught.value.where.startswith("skills.lock")


def test_a_newer_lockfile_is_rejected_whatever_its_content() -> None:
    with pytest.raises(NewerDocument) as caught:
        read_lockfile('{"version": 2, "packages": []}', "skills.lock")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        "unsupported format 2; this version of skillpm reads up to 1",
        "skills.lock",
        "upgrade skillpm: pip install --upgrade agent-skillpm",
    )


@pytest.mark.parametrize("folder", ["", "/etc", "../x", "packages/../x", ".git/x"])
def test_the_folder_of_a_member_is_below_the_root(folder: str) -> None:
    document = {"version": 1, "requirements": {}, "members": {folder: {"requirements": {}}}, "skills": {}}

    with pytest.raises(DocumentError, match=r"^the folder `"):
        read_lockfile(json.dumps(document), "skills.lock")
