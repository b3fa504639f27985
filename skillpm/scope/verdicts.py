"""Findings by the digest of a skill and the rule set, remembered in the cache.

An entry counts only in the file that it was written to: it names the file's device and inode, which neither git nor an
archive nor a restored CI cache carries over. All users may read it: in an image that root built, no user audits again
what root has audited. An entry of any other user does not count (`cachedir.is_own_entry`). If an entry is invalid in
any other way, the skill is audited again.
"""

import os
from contextlib import suppress
from typing import Any

from skillpm.audit.model import SEVERITIES, AuditFinding
from skillpm.audit.rule_set import RULE_IDS, RULE_SET
from skillpm.cachedir import VERDICTS, read_bound_file, record_use, retry_if_emptied, write_bound_file
from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.text import sanitize
from skillpm.scope.project import Session

FIELDS = ("rule", "severity", "path", "line", "message")
# Of an entry: a hundred findings of each rule and severity are far less.
MAX_ENTRY_SIZE = 5_000_000


def read_or_audit(session: Session, tree: FileTree, digest: Digest) -> tuple[AuditFinding, ...]:
    """Return the findings of `audit_tree`, from the cache if these bytes were audited by these rules before.

    `digest` is that of the tree. A cache that cannot be read or written is ignored.
    """
    if digest not in session.findings:  # a command asks several times
        session.findings[digest] = _read_or_audit(session, tree, digest)
    return session.findings[digest]


def _read_or_audit(session: Session, tree: FileTree, digest: Digest) -> tuple[AuditFinding, ...]:
    folder = os.path.join(session.settings.cache_dir, VERDICTS)
    path = os.path.join(folder, _entry_name(digest))
    findings = _read_entry(path)
    if findings is not None:
        record_use(path)
        return findings
    from skillpm.audit.auditor import audit_tree  # noqa: PLC0415  (the rules, which most commands do not need)

    findings = audit_tree(tree)
    with suppress(OSError):
        retry_if_emptied(lambda: _write_entry(path, findings, session.settings.cache_dir), folder)
    return findings


def find_manifests(tree: FileTree) -> tuple[AuditFinding, ...]:
    """Return the findings of the rule that blocks whatever the settings say."""
    from skillpm.audit.checks.host_manifests import check_host_manifests  # noqa: PLC0415  (as above)

    return tuple(check_host_manifests(tree))


def _entry_name(digest: Digest) -> str:
    from hashlib import sha256  # noqa: PLC0415  (2 ms that most commands save)

    return sha256(f"{RULE_SET} {digest}".encode()).hexdigest()


def _read_entry(path: str) -> tuple[AuditFinding, ...] | None:
    """Return the findings of an entry; None if there is none, or if anything about it is wrong."""
    entry = read_bound_file(path, MAX_ENTRY_SIZE)
    try:
        return None if entry is None else tuple(_read_finding(row) for row in entry["findings"])
    except (ValueError, TypeError, KeyError):
        return None


def _read_finding(row: Any) -> AuditFinding:
    """Return a finding. Raises `ValueError` or `KeyError` for a row that no audit has written."""
    if row["rule"] not in RULE_IDS or row["severity"] not in SEVERITIES or type(row["line"]) is not int:
        raise ValueError(row)
    texts = {key: sanitize(str(row[key])) for key in ("path", "message")}
    return AuditFinding(rule=row["rule"], severity=row["severity"], line=row["line"], **texts)


def _write_entry(path: str, findings: tuple[AuditFinding, ...], cache_dir: str) -> None:
    rows = [{field: getattr(finding, field) for field in FIELDS} for finding in findings]
    write_bound_file(path, {"findings": rows}, cache_dir, is_shared=True)
