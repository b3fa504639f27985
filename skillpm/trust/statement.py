"""OpenSSF Model Signing: the statement that names the SHA-256 of each file of a skill.

An in-toto statement (v1) with the predicate `https://model_signing/signature/v1.0`. Its files are checked without
knowing who signed it, and without a library: a skill that does not match the statement it ships is damaged.
"""

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256

from skillpm.core.file_tree import FileTree
from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json
from skillpm.core.names import SIGNATURE_FILE
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SignatureError
from skillpm.trust.bundle import Bundle, read_bundle

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://model_signing/signature/v1.0"
# Patterns for git, which model-signing never signs. They may be in a skill unsigned where its statement says so; it
# leaves out the folders `.git` and `.github`, too, and others that a signer names, but these may contain anything.
UNSIGNED_FILES = {".gitattributes", ".gitignore"}
MAX_NAMED = 3
# What messages call a signature that the skill does not ship.
BESIDE = "a signature beside it"


class Statement(Value):
    """The signed files of a skill, by path: the SHA-256 of each in hex."""

    subject: str
    files: Mapping[str, str]
    ignored: tuple[str, ...] = ()


def read_signature(data: bytes, where: str = SIGNATURE_FILE) -> tuple[Bundle, Statement]:
    """Return the bundle of a signature, and its statement. Raises `SignatureError`, in which `where` names it."""
    bundle = read_bundle(data, where)
    if bundle.payload_type != PAYLOAD_TYPE:
        got = sanitize(bundle.payload_type, 80)
        raise SignatureError(f"{where} signs a payload of type {got}, not {PAYLOAD_TYPE}")
    return bundle, read_statement(bundle.payload)


def find_mismatch(tree: FileTree) -> str:
    """Return how the files of a skill differ from those that the signature it ships names; empty if they do not."""
    data = tree.read(SIGNATURE_FILE)
    try:
        if data is not None:
            check_files(tree, read_signature(data)[1])
    except SignatureError as error:
        return error.message
    return ""


def read_statement(payload: bytes) -> Statement:
    """Parse the payload of a bundle. Raises `SignatureError`."""
    where = "its statement"
    try:
        return _read_statement(parse_json(payload.decode(), where))
    except UnicodeDecodeError as error:
        raise SignatureError(f"{where} is not UTF-8") from error
    except DocumentError as error:
        raise SignatureError(f"{error.where}: {error.message}") from error


def _read_statement(top: JsonNode) -> Statement:
    for key, expected in (("_type", STATEMENT_TYPE), ("predicateType", PREDICATE_TYPE)):
        if (node := top.require(key)).text() != expected:
            node.raise_expected(expected)
    subjects = list(top.require("subject").elements())
    if len(subjects) != 1:
        raise DocumentError(f"expected one subject, got {len(subjects)}", where=top.where)
    predicate = top.require("predicate")
    serialization = predicate.require("serialization")
    for key, expected in (("method", "files"), ("hash_type", "sha256")):
        if (node := serialization.require(key)).text() != expected:
            node.raise_expected(f"`{expected}`, the only one that is supported")
    files: dict[str, str] = {}
    for node in predicate.require("resources").elements():
        path, algorithm = node.require("name").text(), node.require("algorithm")
        if algorithm.text() != "sha256":
            algorithm.raise_expected("sha256")
        if path in files:
            raise DocumentError(f"duplicate file '{sanitize(path, 80)}'", where=node.where)
        files[path] = node.require("digest").content_hash()
    digest = subjects[0].require("digest").require("sha256")
    if digest.content_hash() != _combine(files.values()):
        raise DocumentError("the digest is not that of the files listed", where=digest.where)
    return Statement(
        subject=subjects[0].text_or("name"), files=files, ignored=serialization.texts_or_empty("ignore_paths")
    )


def write_statement(tree: FileTree, name: str) -> bytes:
    """Return the statement over all files of a skill, apart from an old signature, under its name."""
    files = [file for file in tree.files if file.path not in {*UNSIGNED_FILES, SIGNATURE_FILE}]
    # model-signing combines the digests in the order of paths, part by part, and reads files in this order.
    files.sort(key=lambda file: file.path.split("/"))
    resources = [{"name": file.path, "algorithm": "sha256", "digest": file.content_hash} for file in files]
    subject = {"name": name, "digest": {"sha256": _combine(file.content_hash for file in files)}}
    serialization = {
        "method": "files",
        "hash_type": "sha256",
        "allow_symlinks": False,
        "ignore_paths": [*sorted(UNSIGNED_FILES), SIGNATURE_FILE],
    }
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [subject],
        "predicateType": PREDICATE_TYPE,
        "predicate": {"serialization": serialization, "resources": resources},
    }
    return dump_json(statement).encode()


def check_files(tree: FileTree, statement: Statement) -> None:
    """Raise `SignatureError` for files that differ from a statement, are missing, or that it does not cover."""
    actual = {file.path: file.content_hash for file in tree.files if file.path != SIGNATURE_FILE}
    unsigned = actual.keys() - statement.files.keys() - (UNSIGNED_FILES & {*statement.ignored})
    problems = [
        _count(
            "differs", "differ", {path for path in actual if statement.files.get(path, actual[path]) != actual[path]}
        ),
        _count("is missing", "are missing", statement.files.keys() - actual.keys()),
        _count("is not signed", "are not signed", unsigned),
    ]
    if found := [problem for problem in problems if problem]:
        raise SignatureError(f"its files do not match its signature: {'; '.join(found)}", is_mismatch=True)


def _count(singular: str, plural: str, paths: Collection[str]) -> str:
    named = list_some([sanitize(path, 80) for path in sorted(paths)], MAX_NAMED)
    return f"{named} {singular if len(paths) == 1 else plural}" if paths else ""


def _combine(digests: Iterable[str]) -> str:
    return sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()
