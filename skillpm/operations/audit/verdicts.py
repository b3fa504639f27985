"""Findings by the digest of a skill and the rule set, remembered in the cache.

An entry counts only in the file that it was written to: it names the file's device and inode, which neither git nor an
archive nor a restored CI cache carries over. If an entry is invalid in any other way, the skill is audited again.
"""

import os
from contextlib import suppress
from functools import cache
from typing import Any

from skillpm.audit import __file__ as audit_package
from skillpm.audit.auditor import audit_tree
from skillpm.audit.finding import SEVERITIES, AuditFinding
from skillpm.audit.rules import RULE_SET, RULES
from skillpm.cachedir import read_bound_file, record_use, retry_if_emptied, write_bound_file
from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.text import sanitize
from skillpm.operations.context.runtime import Context

BUCKET = "verdicts"
FIELDS = ("rule", "severity", "path", "line", "message")
# Of an entry: a hundred findings of each rule and severity are far less.
MAX_ENTRY_SIZE = 5_000_000


def read_or_audit(context: Context, tree: FileTree, digest: Digest) -> tuple[AuditFinding, ...]:
    """Return the findings of `audit_tree`, from the cache if these bytes were audited by these rules before.

    `digest` is that of the tree. A cache that cannot be read or written is ignored.
    """
    folder = os.path.join(context.settings.cache_dir, BUCKET)
    path = os.path.join(folder, _entry_name(digest))
    findings = _read_entry(path)
    if findings is not None:
        record_use(path)
        return findings
    findings = audit_tree(tree)
    with suppress(OSError):
        retry_if_emptied(lambda: _write_entry(path, findings, context.settings.cache_dir), folder)
    return findings


def _entry_name(digest: Digest) -> str:
    from hashlib import sha256  # noqa: PLC0415  (2 ms that most commands save)

    return sha256(f"{RULE_SET} {_code_digest()} {digest}".encode()).hexdigest()


@cache
def _code_digest() -> str:
    """Return a digest of the modules that apply the rules: a checkout changes them without a new version."""
    from hashlib import sha256  # noqa: PLC0415

    code = sha256()
    with suppress(OSError):  # in a zip file, the version has to do
        for folder, _, names in sorted(os.walk(os.path.dirname(audit_package))):
            for name in sorted(name for name in names if name.endswith(".py")):
                with open(os.path.join(folder, name), "rb") as file:
                    code.update(file.read())
    return code.hexdigest()


def _read_entry(path: str) -> tuple[AuditFinding, ...] | None:
    """Return the findings of an entry; None if there is none, or if anything about it is wrong."""
    entry = read_bound_file(path, MAX_ENTRY_SIZE)
    try:
        return None if entry is None else tuple(_read_finding(row) for row in entry["findings"])
    except (ValueError, TypeError, KeyError):
        return None


def _read_finding(row: Any) -> AuditFinding:
    """Return a finding. Raises `ValueError` or `KeyError` for a row that no audit has written."""
    if row["rule"] not in RULES or row["severity"] not in SEVERITIES or type(row["line"]) is not int:
        raise ValueError(row)
    texts = {key: sanitize(str(row[key])) for key in ("path", "message")}
    return AuditFinding(rule=row["rule"], severity=row["severity"], line=row["line"], **texts)


def _write_entry(path: str, findings: tuple[AuditFinding, ...], cache_dir: str) -> None:
    rows = [{field: getattr(finding, field) for field in FIELDS} for finding in findings]
    write_bound_file(path, {"findings": rows}, cache_dir)
