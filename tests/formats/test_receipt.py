"""The receipt: written and parsed strictly, since it decides what may be removed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from formats.document_strategies import EXAMPLES, receipts
from hypothesis import given

from skillpm.core.digest import compute_digest
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, NewerDocument
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.receipt import InstalledFile, InstalledSkill, Receipt, read_receipt, write_receipt
from skillpm.kinds.bundled import BundledPin
from skillpm.kinds.local import PathPin

PDF, MINE = SkillName("pdf"), SkillName("mine")
HASH = "f00dfeed" * 8
DIGEST = compute_digest([("SKILL.md", HASH), ("scripts/run.sh", HASH)])
RECEIPT = Receipt(
    skills={
        PDF: InstalledSkill(
            pin=BundledPin(name="pdf"),
            digest=DIGEST,
            version="1.0",
            files={
                "scripts/run.sh": InstalledFile(sha256=HASH, size=12, executable=True),
                "SKILL.md": InstalledFile(sha256=HASH, size=0, link="docs/skill.md"),
            },
        ),
        MINE: InstalledSkill(pin=PathPin(path="../mine", link=True), digest=None),
    },
    links={".claude/skills": {PDF: "symlink", MINE: "copy"}},
    inherited={PDF: LegacyMetadata(triggers=("pdf",), category="documents")},
)
TEXT = f"""\
{{
  "version": 1,
  "skills": {{
    "mine": {{
      "source": {{
        "path": "../mine",
        "link": true
      }},
      "files": {{}}
    }},
    "pdf": {{
      "version": "1.0",
      "source": {{
        "bundled": "pdf"
      }},
      "digest": "{DIGEST}",
      "files": {{
        "SKILL.md": {{
          "sha256": "{HASH}",
          "size": 0,
          "link": "docs/skill.md"
        }},
        "scripts/run.sh": {{
          "sha256": "{HASH}",
          "size": 12,
          "executable": true
        }}
      }}
    }}
  }},
  "links": {{
    ".claude/skills": {{
      "mine": "copy",
      "pdf": "symlink"
    }}
  }},
  "inherited": {{
    "pdf": {{
      "triggers": [
        "pdf"
      ],
      "category": "documents"
    }}
  }}
}}
"""


def test_a_receipt_has_this_text() -> None:
    assert write_receipt(RECEIPT) == TEXT
    assert read_receipt(TEXT, "receipt.json") == RECEIPT


def test_an_empty_receipt_is_valid() -> None:
    text = '{\n  "version": 1,\n  "skills": {},\n  "links": {}\n}\n'

    assert write_receipt(Receipt()) == text
    assert read_receipt(text, "receipt.json") == Receipt()


def test_a_folder_without_links_is_not_written() -> None:
    assert write_receipt(Receipt(links={".claude/skills": {}})) == write_receipt(Receipt())


@EXAMPLES
@given(receipts)
def test_written_documents_round_trip_to_the_same_bytes(receipt: Receipt) -> None:
    text = write_receipt(receipt)

    assert read_receipt(text, "receipt.json") == receipt
    assert write_receipt(read_receipt(text, "receipt.json")) == text


Change = Callable[[dict[str, Any]], object]


def pdf(**members: Any) -> Change:
    return lambda receipt: receipt["skills"]["pdf"].update(members)


def script(**members: Any) -> Change:
    return lambda receipt: receipt["skills"]["pdf"]["files"]["scripts/run.sh"].update(members)


def named(path: str) -> Change:
    return lambda receipt: receipt["skills"]["pdf"]["files"].update({path: {"sha256": HASH, "size": 1}})


KEYS = "; known keys: "
RUN = ": skills.pdf.files.scripts/run.sh"
NAME = "invalid skill name"


@pytest.mark.parametrize(
    ("change", "message", "where"),
    [
        (lambda receipt: receipt.update(version=True), "expected a whole number, got true", ": version"),
        (lambda receipt: receipt.update(version=-1), "expected a format number, 1 to 1, got -1", ": version"),
        (lambda receipt: receipt.pop("skills"), "`skills` is missing", ""),
        (lambda receipt: receipt.pop("links"), "`links` is missing", ""),
        (
            lambda receipt: receipt.update(extra=1),
            f"unknown key `extra`{KEYS}version, skills, links, inherited, copies, folders",
            ": extra",
        ),
        (lambda receipt: receipt["skills"].update({"..": {}}), f"{NAME} `..`", ": skills..."),
        (lambda receipt: receipt["inherited"].update({"A": {}}), f"{NAME} `A`", ": inherited.A"),
        (
            lambda receipt: receipt["inherited"]["pdf"].update(triggers="pdf"),
            'expected an array, got "pdf"',
            ": inherited.pdf.triggers",
        ),
        (
            lambda receipt: receipt["inherited"]["pdf"].update(name="x"),
            f"unknown key `name`{KEYS}triggers, category, description, version, requires, userOnly",
            ": inherited.pdf.name",
        ),
        (lambda receipt: receipt["links"].update(x={"A": "copy"}), f"{NAME} `A`", ": links.x.A"),
        (
            lambda receipt: receipt["links"].update(x={"a": "hardlink"}),
            "expected links of kind symlink, junction, copy, got an object",
            ": links.x",
        ),
        (lambda receipt: receipt["links"].update(x={"a": 1}), "expected a string, got 1", ": links.x.a"),
        (pdf(link=True), f"unknown key `link`{KEYS}version, source, digest, files", ": skills.pdf.link"),
        (pdf(files=[]), "expected an object, got an array", ": skills.pdf.files"),
        (pdf(digest=None), "expected sha256: and 64 hex digits, got None", ": skills.pdf.digest"),
        (lambda receipt: receipt["skills"]["pdf"].pop("digest"), "`digest` is missing", ": skills.pdf"),
        (lambda receipt: receipt["skills"]["mine"]["source"].pop("link"), "`digest` is missing", ": skills.mine"),
        (lambda receipt: receipt["skills"]["pdf"].pop("files"), "`files` is missing", ": skills.pdf"),
        (pdf(source={"git": "ext::sh"}), "`commit` is missing", ": skills.pdf.source"),
        (script(mode="0755"), f"unknown key `mode`{KEYS}sha256, size, executable, link", f"{RUN}.mode"),
        (script(sha256=""), 'expected 64 lower-case hex digits, got ""', f"{RUN}.sha256"),
        (script(sha256=HASH.upper()), f'expected 64 lower-case hex digits, got "{HASH.upper()[:58]}…', f"{RUN}.sha256"),
        (script(size="12"), 'expected a whole number, got "12"', f"{RUN}.size"),
        (script(size=-1), "expected a size, got -1", f"{RUN}.size"),
        (script(size=True), "expected a whole number, got true", f"{RUN}.size"),
        (script(executable=1), "expected true or false, got 1", f"{RUN}.executable"),
        (script(link=None), "expected a string, got null", f"{RUN}.link"),
        (pdf(files={"a": []}), "expected an object, got an array", ": skills.pdf.files.a"),
        (pdf(files={"a": {"size": 1}}), "`sha256` is missing", ": skills.pdf.files.a"),
        (named("../x"), "the path has an empty, `.` or `..` part", ": skills.pdf.files.../x"),
        (named("/x"), "the path is absolute or empty", ": skills.pdf.files./x"),
        (named("a\\b"), "the path has a backslash or a colon", ": skills.pdf.files.a\\b"),
    ],
)
def test_a_receipt_is_read_strictly(change: Change, message: str, where: str) -> None:
    value = json.loads(TEXT)
    change(value)
    with pytest.raises(DocumentError) as caught:
        read_receipt(json.dumps(value), "receipt.json")
    assert (caught.value.message, caught.value.where) == (message, f"receipt.json{where}")


def test_a_newer_receipt_is_rejected() -> None:
    with pytest.raises(NewerDocument) as caught:
        read_receipt('{"version": 2}', "receipt.json")
    assert (caught.value.message, caught.value.where) == (
        "unsupported format 2; this version of skillpm reads up to 1",
        "receipt.json",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'"sha256": "{HASH}"', f'"sha256": "{HASH[::-1]}"'),
        (f'"digest": "{DIGEST}"', f'"digest": "sha256:{HASH}"'),
        ('"SKILL.md"', '"OTHER.md"'),
        ('"files": {}', '"files": {"SKILL.md": {"sha256": "' + HASH + '", "size": 1}}'),
    ],
)
def test_an_entry_that_does_not_add_up_is_as_good_as_lost(old: str, new: str) -> None:
    read = read_receipt(TEXT.replace(old, new, 1), "receipt.json")

    assert len(read.disbelieved) == 1
    assert read.skills == {name: skill for name, skill in RECEIPT.skills.items() if name not in read.disbelieved}
    assert read.links == RECEIPT.links


@pytest.mark.parametrize("folder", ["", "\\u0000", "a\\u0000b", "\\u202e"])
def test_a_folder_that_no_system_can_have_is_an_error(folder: str) -> None:
    with pytest.raises(DocumentError, match="expected the links of a folder"):
        read_receipt(TEXT.replace('".claude/skills"', f'"{folder}"'), "receipt.json")
