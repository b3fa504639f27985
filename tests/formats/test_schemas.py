"""The published schemas: written documents match them, and they accept and reject what the parsers do."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from formats.document_strategies import locked_skills, names, receipts, seen, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from requirements.source_strategies import sources

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.formats.editing.json_edit import set_member
from skillpm.formats.lockfile import Lockfile, write_lockfile
from skillpm.formats.manifest import EMPTY_MANIFEST
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.formats.registry import RegistryEntry, normalize_entry, write_registry
from skillpm.kinds.base import Source
from skillpm.requirements.manifest_requirements import read_requirement

FOLDER = Path(__file__).parents[2] / "registry-schema"
NAMES = ["index", "lockfile", "manifest", "receipt", "registry", "reviews", "skill-versions"]
SCHEMAS: dict[str, Any] = {name: json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in NAMES}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


FEW = settings(max_examples=40)


def faults(name: str, value: Any) -> list[str]:
    return sorted(f"{error.json_path}: {error.message}" for error in VALIDATORS[name].iter_errors(value))


# The schemas themselves


def test_there_is_one_schema_for_each_document() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == [f"{name}.schema.json" for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_and_names_itself(name: str) -> None:
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:skillpm:schema:{name}:1"
    parts = [schema, *schema["$defs"].values()]
    assert [part for part in parts if not part.get("title")] == []
    assert len(schema["description"]) > 40
    text = json.dumps(schema)
    assert [part for part in schema["$defs"] if f'"#/$defs/{part}"' not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_schema_are_valid(name: str) -> None:
    schema = SCHEMAS[name]
    for part in [schema, *schema["$defs"].values()]:
        whole = {**part, "$defs": schema["$defs"]}
        for example in part.get("examples", []):
            Draft202012Validator(whole).validate(example)


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_is_anchored_at_both_ends(name: str) -> None:
    def patterns(value: Any) -> list[str]:
        if isinstance(value, list):
            return [found for part in value for found in patterns(part)]
        if not isinstance(value, dict):
            return []
        own = [value["pattern"]] if isinstance(value.get("pattern"), str) else []
        return [*own, *(found for part in value.values() for found in patterns(part))]

    found = patterns(SCHEMAS[name])
    assert found
    assert [pattern for pattern in found if not (pattern.startswith("^") and pattern.endswith("$"))] == []


# What we write


LOCKFILES = st.builds(
    Lockfile,
    requirements=st.dictionaries(names, sources.map(lambda source: source.to_json()), max_size=4),
    skills=st.dictionaries(names, locked_skills.map(lambda skill: skill.replace(dependencies={})), max_size=4),
)


@FEW
@given(LOCKFILES, sources)
def test_written_lockfiles_match_the_schema(lockfile: Lockfile, need: Source) -> None:
    skills = {
        name: skill.replace(dependencies={SkillName("pdf"): need.to_json()}) for name, skill in lockfile.skills.items()
    }

    assert faults("lockfile", json.loads(write_lockfile(lockfile))) == []
    assert faults("lockfile", json.loads(write_lockfile(lockfile.replace(skills=skills)))) == []


@FEW
@given(receipts)
def test_written_receipts_match_the_schema(receipt: Receipt) -> None:
    assert faults("receipt", json.loads(write_receipt(receipt))) == []


PDF: RegistryEntry = {
    "name": "pdf",
    "category": "general",
    "description": "Reads PDFs.",
    "triggers": [],
    "filePath": "pdf/SKILL.md",
}
FULL = PDF | {
    "declaredName": "PDF tools",
    "version": "1.2.0",
    "license": "MIT",
    "tags": ["a"],
    "requires": ["git"],
    "allowedTools": ["Read"],
    "mcpServers": {"playwright": {"command": "npx", "args": ["@playwright/mcp", "--headless"]}},
    "metadata": {"audience": "developers", "nested": [None]},
    "digest": "sha256:" + "0" * 64,
    "source": "git+https://github.com/acme/skills@abc",
    "tokens": 812,
}
ENTRIES = st.builds(
    lambda name, words, more: normalize_entry(
        PDF | {"name": name, "filePath": f"{name}/SKILL.md", "triggers": words} | more
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
        lambda name: name not in {".", ".."}
    ),
    st.lists(seen, max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            "declaredName": texts,
            "version": texts,
            "tags": st.lists(seen),
            "requires": st.lists(seen),
            "allowedTools": st.lists(seen),
            "metadata": st.dictionaries(texts, texts),
            "mcpServers": st.dictionaries(texts, st.just({"command": "npx", "args": ["-y"]})),
            "tokens": st.integers(0, 10**6),
        },
    ),
)


@FEW
@given(st.lists(ENTRIES, max_size=4), st.sets(seen, max_size=3))
def test_written_registries_match_the_schema(entries: list[RegistryEntry], disabled: set[str]) -> None:
    assert faults("registry", json.loads(write_registry(entries, disabled))) == []


@FEW
@given(st.dictionaries(names, sources.map(lambda source: source.to_json()), max_size=4))
def test_edited_manifests_match_the_schema(skills: dict[str, Any]) -> None:
    text = EMPTY_MANIFEST
    for name, value in skills.items():
        text = set_member(text, ("skills", name), value)

    assert faults("manifest", json.loads(EMPTY_MANIFEST)) == []
    assert faults("manifest", json.loads(text)) == []
    assert faults("manifest", json.loads(set_member(text, ("agents",), ["claude-code"]))) == []


# What the documentation shows


COMMIT, DIGEST, HASH = "9d2f1ae1" * 5, "sha256:" + "f00dfeed" * 8, "f00dfeed" * 8
MANIFEST: dict[str, Any] = {
    "$schema": "urn:skillpm:schema:manifest:1",
    "name": "payments-service",
    "skills": {
        "code-review": "^1.2",
        "pdf": {"git": "https://github.com/anthropics/skills", "path": "skills/pdf", "rev": COMMIT},
        "tdd": {"git": "https://github.com/acme/skills", "version": ">=2,<3"},
        "deploy": {"version": "*", "index": "acme"},
        "house-style": {"path": "../house-style"},
        "wrangler": {"url": "https://example.com/wrangler.tar.gz", "digest": DIGEST},
        "mine": {"path": "~/skills/mine", "link": True},
        "testing": {"bundled": True},
        "one": "acme/skills#v2@pdf",
        "two": "https://github.com/acme/skills.git#v2&path:/skills/pdf",
        "three": "link:./skills/mine",
    },
    "indexes": [{"name": "acme", "url": "https://skills.acme.example/"}],
    "agents": ["claude-code", "opencode"],
    "disabled": {"house-style": ["opencode"], "deploy": True},
    "permissions": {"deploy-*": "ask"},
}
LOCKFILE: dict[str, Any] = {
    "version": 1,
    "requirements": {"pdf": {"git": "https://github.com/anthropics/skills", "path": "skills/pdf"}},
    "skills": {
        "pdf": {
            "version": "1.0",
            "source": {
                "git": "https://github.com/anthropics/skills",
                "commit": COMMIT,
                "tree": COMMIT,
                "path": "skills/pdf",
                "ref": "HEAD",
            },
            "digest": DIGEST,
            "dependencies": {"git-basics": ">=1"},
        },
        "code-review": {"version": "1.0.0", "source": {"bundled": "code-review"}, "digest": DIGEST},
        "house-style": {"source": {"path": "../house-style"}, "digest": DIGEST},
        "mine": {"source": {"path": "~/mine", "link": True}},
        "wrangler": {"source": {"url": "https://example.com/wrangler.tar.gz", "sha256": HASH}, "digest": DIGEST},
        "deploy": {
            "version": "2.1",
            "source": {
                "index": "https://skills.acme.example/",
                "url": "https://skills.acme.example/archives/deploy-2.1.tar.gz",
                "sha256": HASH,
            },
            "digest": DIGEST,
        },
    },
}
RECEIPT: dict[str, Any] = {
    "version": 1,
    "skills": {
        "pdf": {
            "version": "1.0",
            "source": LOCKFILE["skills"]["pdf"]["source"],
            "digest": DIGEST,
            "files": {
                "SKILL.md": {"sha256": HASH, "size": 812},
                "scripts/run.sh": {"sha256": HASH, "size": 0, "executable": True, "link": "../bin/run.sh"},
            },
        },
        "mine": {"source": {"path": "~/mine", "link": True}, "files": {}},
    },
    "links": {".claude/skills": {"pdf": "symlink", "mine": "copy"}},
    "inherited": {"pdf": {"triggers": ["pdf"], "category": "documents"}},
}
REGISTRY: dict[str, Any] = {
    "$schema": "urn:skillpm:schema:registry:1",
    "version": "1",
    "skills": [{**FULL}, {**PDF, "name": "x", "filePath": "x/SKILL.md"}],
    "disabled": ["house-style"],
}
INDEX: dict[str, Any] = {
    "$schema": "urn:skillpm:schema:index:1",
    "name": "acme",
    "skills": [{"name": "pdf", "description": "Reads PDFs.", "category": "documents", "tags": [], "latest": "1.2.0"}],
}
VERSIONS: dict[str, Any] = {
    "name": "pdf",
    "versions": [
        {
            "version": "1.2.0",
            "url": "archives/pdf-1.2.0.tar.gz",
            "digest": DIGEST,
            "sha256": HASH,
            "size": 12_345,
            "dependencies": {"git-basics": ">=1"},
            "requires": ["pdftotext"],
            "published": "2026-01-31T12:30:00Z",
            "yanked": False,
            "signatures": [{"url": "archives/pdf-1.2.0.0123456789abcdef.oms.sig", "sha256": HASH, "size": 1_234}],
        },
        {
            "version": "1.0.0-beta.1",
            "url": "https://cdn.example/pdf.tar.gz",
            "digest": DIGEST,
            "sha256": HASH,
            "size": 1,
            "yanked": "loses pages",
        },
    ],
}
REVIEWS: Any = {
    "version": 1,
    "criteria": {"safe-to-run": "Read by a person; does what it says."},
    "reviews": [
        {
            "skill": "pdf",
            "digest": DIGEST,
            "criteria": "safe-to-run",
            "reviewer": "Ada <ada@acme.example>",
            "date": "2026-11-22",
            "notes": "No network.",
        }
    ],
    "imports": [{"url": "https://acme.example/skills.reviews.json", "digest": DIGEST}],
}
DOCUMENTS = {
    "manifest": MANIFEST,
    "lockfile": LOCKFILE,
    "receipt": RECEIPT,
    "registry": REGISTRY,
    "reviews": REVIEWS,
    "index": INDEX,
    "skill-versions": VERSIONS,
}


@pytest.mark.parametrize("name", NAMES)
def test_documented_examples_match_the_schema(name: str) -> None:
    assert faults(name, DOCUMENTS[name]) == []


Change = Callable[[Any], object]


def at(*keys: Any, **members: Any) -> Change:
    """Change or add members of the object at these keys; None removes one."""

    def change(value: Any) -> None:
        for key in keys:
            value = value[key]
        value.update(members)
        for name in [name for name, member in members.items() if member is None]:
            del value[name]

    return change


def skill(**members: Any) -> Change:
    return at("skills", **members)


PIN = ("skills", "pdf", "source")
WRONG: list[tuple[str, Change]] = [
    ("reviews", at(reviews=None)),
    ("reviews", at(more=1)),
    ("reviews", at(version=2)),
    ("reviews", at("reviews", 0, digest="sha256:1")),
    ("reviews", at("reviews", 0, date="22.11.2026")),
    ("reviews", at("reviews", 0, reviewer="")),
    ("reviews", at("reviews", 0, criteria="Safe")),
    ("reviews", at("reviews", 0, skill="PDF")),
    ("reviews", at("reviews", 0, more="x")),
    ("reviews", at("imports", 0, url="./file")),
    ("reviews", at("imports", 0, digest=None)),
    ("manifest", at(audit={"warn": []})),
    ("manifest", at(audit={"block": [1]})),
    ("manifest", at(audit={"allow": [{"skill": "pdf", "rule": "x", "digest": "*", "reason": "y"}]})),
    ("manifest", at(skills=None)),
    ("manifest", at(skills=[])),
    ("manifest", at(agents="claude-code")),
    ("manifest", at(agents=[1])),
    ("manifest", at(disabled={"pdf": False})),
    ("manifest", at(disabled={"PDF": True})),
    ("manifest", at(permissions={"*": "perhaps"})),
    ("manifest", at(indexes=[{"name": "acme"}])),
    ("manifest", at(installDir=".skills")),
    ("manifest", skill(Pdf="*")),
    ("manifest", skill(con="*")),
    ("manifest", skill(**{"a--b": "*"})),
    ("manifest", skill(**{"x" * 65: "*"})),
    ("manifest", skill(pdf=1)),
    ("manifest", skill(pdf=[])),
    ("manifest", skill(pdf={})),
    ("manifest", skill(pdf="latest")),
    ("manifest", skill(pdf=">=1 <2")),
    ("manifest", skill(pdf="1 || 2")),
    ("manifest", skill(pdf="1.2.3-1")),
    ("manifest", skill(pdf="ext::sh")),
    ("manifest", skill(pdf={"bundled": False})),
    ("manifest", skill(pdf={"bundled": "pdf"})),
    ("manifest", skill(pdf={"path": ""})),
    ("manifest", skill(pdf={"path": "a\0"})),
    ("manifest", skill(pdf={"path": "a", "link": 1})),
    ("manifest", skill(pdf={"path": "a", "extra": 1})),
    ("manifest", skill(pdf={"version": ">=1 <2"})),
    ("manifest", skill(pdf={"url": "ftp://host/x"})),
    ("manifest", skill(pdf={"url": "https://ann:secret@host/x.zip"})),
    ("manifest", skill(pdf={"url": "https://host/x.zip", "digest": ""})),
    ("manifest", skill(pdf={"git": "ext::sh"})),
    ("manifest", skill(pdf={"git": "-x"})),
    ("manifest", skill(pdf={"git": "https://ann:secret@github.com/o/r"})),
    ("manifest", skill(pdf={"git": "https://github.com/"})),
    ("manifest", skill(pdf={"git": "git@host:-x"})),
    ("manifest", skill(pdf={"git": "https://h/x", "rev": "main"})),
    ("manifest", skill(pdf={"git": "https://h/x", "tag": "-x"})),
    ("manifest", skill(pdf={"git": "https://h/x", "tag": "a..b"})),
    ("manifest", skill(pdf={"git": "https://h/x", "branch": "x.lock"})),
    ("manifest", skill(pdf={"git": "https://h/x", "any": "v1"})),
    ("manifest", skill(pdf={"git": "https://h/x", "tag": "v1", "branch": "x"})),
    ("manifest", skill(pdf={"git": "https://h/x", "rev": COMMIT, "version": "1"})),
    ("manifest", skill(pdf={"git": "https://h/x", "path": "../x"})),
    ("manifest", skill(pdf={"git": "https://h/x", "path": "a/./b"})),
    ("manifest", skill(pdf={"git": "https://h/x", "path": "a\\b"})),
    ("lockfile", at(version=2)),
    ("lockfile", at(version=None)),
    ("lockfile", at(requirements=None)),
    ("lockfile", at(generated="today")),
    ("lockfile", at("requirements", pdf={"git": "https://h/x", "tag": "v1", "any": "v1"})),
    ("lockfile", at("requirements", pdf="acme/skills")),
    ("lockfile", at("skills", "pdf", digest=None)),
    ("lockfile", at("skills", "pdf", digest=DIGEST.upper())),
    ("lockfile", at("skills", "pdf", digest="md5:" + "0" * 32)),
    ("lockfile", at("skills", "pdf", version=1.0)),
    ("lockfile", at("skills", "pdf", source=None)),
    ("lockfile", at("skills", "pdf", resolved="x")),
    ("lockfile", at("skills", "pdf", dependencies={"../x": "*"})),
    ("lockfile", at("skills", "house-style", digest=None)),
    ("lockfile", at(*PIN, commit="HEAD")),
    ("lockfile", at(*PIN, tree=None)),
    ("lockfile", at(*PIN, path="/etc")),
    ("lockfile", at(*PIN, path="")),
    ("lockfile", at(*PIN, ref="main")),
    ("lockfile", at(*PIN, ref="refs/heads/--x")),
    ("lockfile", at(*PIN, git="ext::sh")),
    ("lockfile", at(*PIN, bundled="pdf")),
    ("lockfile", at("skills", "code-review", "source", bundled="../x")),
    ("lockfile", at("skills", "wrangler", "source", sha256=None)),
    ("lockfile", at("skills", "wrangler", "source", url="file:///etc/passwd")),
    ("lockfile", at("skills", "deploy", "source", index="acme")),
    ("receipt", at(version=2)),
    ("receipt", at(extra=1)),
    ("receipt", at(links=None)),
    ("receipt", at("skills", "pdf", digest=None)),
    ("receipt", at("skills", "pdf", files=None)),
    ("receipt", at("skills", "pdf", "files", "SKILL.md", sha256="x")),
    ("receipt", at("skills", "pdf", "files", "SKILL.md", size=-1)),
    ("receipt", at("skills", "pdf", "files", "SKILL.md", mode="0755")),
    ("receipt", at("skills", "pdf", "files", **{"../x": {"sha256": HASH, "size": 1}})),
    ("receipt", at("links", x={"pdf": "hardlink"})),
    ("receipt", at("links", x={"PDF": "copy"})),
    ("receipt", at("inherited", **{"../x": {}})),
    ("registry", at(version=1)),
    ("registry", at(skills={})),
    ("registry", at(**{"$schema": "urn:skillpm:schema:registry:2"})),
    ("registry", at(disabled=["a", "a"])),
    ("registry", at("skills", 0, filePath="../x/SKILL.md")),
    ("registry", at("skills", 0, filePath="/x/SKILL.md")),
    ("registry", at("skills", 0, filePath="pdf/pdf.md")),
    ("registry", at("skills", 0, triggers="pdf")),
    ("registry", at("skills", 0, category=None)),
    ("registry", at("skills", 0, description="one\ntwo")),
    ("registry", at("skills", 0, tokens="812")),
    ("registry", at("skills", 0, digest="")),
    ("registry", at("skills", 0, mcpServers={"x": {"command": "$(x)", "args": []}})),
    ("index", at(name=None)),
    ("index", at("skills", 0, name="../x")),
    ("index", at("skills", 0, latest=None)),
    ("index", at("skills", 0, latest="main")),
    ("skill-versions", at(name="PDF")),
    ("skill-versions", at("versions", 0, digest=None)),
    ("skill-versions", at("versions", 0, sha256=DIGEST)),
    ("skill-versions", at("versions", 0, url="file:///x")),
    ("skill-versions", at("versions", 0, url="../../x")),
    ("skill-versions", at("versions", 0, size=0)),
    ("skill-versions", at("versions", 0, published="yesterday")),
    ("skill-versions", at("versions", 0, dependencies={"x": "https://h/x.git"})),
]


@pytest.mark.parametrize(("name", "change"), WRONG)
def test_invalid_documents_are_rejected(name: str, change: Change) -> None:
    value = copy.deepcopy(DOCUMENTS[name])
    change(value)

    assert faults(name, value) != []


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("manifest", at(**{"x-team": 1})),
        ("registry", at(generator="skillpm")),
        ("registry", at("skills", 0, icon="x")),
        ("index", at(homepage="https://acme.example")),
        ("index", at("skills", 0, icon="x")),
        ("skill-versions", at(homepage="https://acme.example")),
        ("skill-versions", at("versions", 0, signature="x")),
    ],
)
def test_unknown_keys_are_allowed_where_readers_ignore_them(name: str, change: Change) -> None:
    value = copy.deepcopy(DOCUMENTS[name])
    change(value)

    assert faults(name, value) == []


# The schema and the reader


PIECES = st.sampled_from(
    [
        *("", "*", "^1", ">=1 <2", "1.2.3-1", "v1", "main", "a..b", "-x", COMMIT, DIGEST, "./a", "../a", "a/b", "/"),
        *("https://h.example/x", "https://h.example", "https://ann@h/x", "git@h:x", "h::x", "ext::sh", "file:///x"),
        *("ssh://git@h/x", "ssh://git:pw@h/x", "a b", "a\nb", ".", "..", "a.lock", "a/.git", "pdf", "con", "git@h:/-x"),
    ]
)
KINDS = ["git", "path", "link", "rev", "tag", "branch", "version", "index", "url", "digest", "bundled", "skill", "x"]
TABLES = st.dictionaries(st.sampled_from(KINDS), PIECES | st.booleans(), min_size=1, max_size=3)


def complaint(value: Any) -> str:
    try:
        read_requirement(SkillName("pdf"), JsonNode(value, "skills.json", ("skills", "pdf")))
    except DocumentError as error:
        return error.message
    return ""


@settings(max_examples=250)
@given(TABLES)
def test_a_requirement_allowed_by_the_schema_is_parsed(table: dict[str, Any]) -> None:
    """Except for the rules for paths that need a list of names."""
    if not faults("manifest", {"skills": {"pdf": table}}):
        finer = {"the path is a .git folder or file", "the path has a name that Windows reserves"}
        assert complaint(table) in {"", *finer}
