"""The audit settings of a scope: those of the user, and what the manifests of the project add."""

import os
from collections.abc import Container, Iterable

from skillpm.audit.rule_set import GONE, RULE_IDS
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError
from skillpm.events import Reporter
from skillpm.files import is_below, read_text
from skillpm.formats.manifest import document_kind
from skillpm.formats.trust.audit_settings import (
    ALL_RULES,
    SEVERITIES,
    WIDENS,
    AuditSettings,
    read_audit_settings,
)
from skillpm.scope.effective_settings import load_manifest, read_user_setting, user_config_path
from skillpm.scope.scope import Scope, workspace_scope
from skillpm.scope.scope_policy import load_scope_policies
from skillpm.settings import Settings


def load_audit_settings(scope: Scope, settings: Settings) -> AuditSettings:
    """Return the settings of the user, with the rules that manifests block, and their exceptions if they are trusted.

    A manifest can only add to what blocks: it may come from an attacker who wants a skill installed. Raises
    `DocumentError` for an invalid document, and for a rule that does not exist: misspelled, it would block nothing.
    """
    audit = read_audit_settings(read_user_setting(settings, "audit"))
    for key, rules in (("block", audit.block), ("warn", audit.warn)):
        check_rule_names(rules, audit.scanners, f"{user_config_path(settings)}: audit.{key}")
    policies = load_scope_policies(scope, settings)
    if policies is not None:
        for layer in policies.layers:
            check_rule_names(layer.audit_block, audit.scanners, layer.locate("audit.block"))
        block = tuple(dict.fromkeys([*audit.block, *policies.audit_block]))
        trust_project = audit.trust_project if policies.trust_project else False
        audit = audit.replace(block=block, required=policies.audit_block, trust_project=trust_project)
    is_trusted = trusts_project(audit, scope, settings)
    for each in (scope, workspace_scope(scope, settings)) if scope.member else (scope,):
        if not _is_foreign(each) and (added := load_manifest(each).audit) is not None:
            check_rule_names(added.block, audit.scanners, f"{each.manifest}: audit.block")
            audit = audit.replace(
                block=tuple(dict.fromkeys([*audit.block, *added.block])),
                allow=(*audit.allow, *(added.allow if is_trusted else ())),
            )
    return audit


def check_rule_names(rules: Iterable[str], scanners: Container[str], where: str) -> None:
    """Raise `DocumentError` for a name that is neither a rule, nor a severity, nor a rule of one of these scanners."""
    known = {*RULE_IDS, *SEVERITIES, ALL_RULES, WIDENS}
    for rule in rules:
        scanner, is_foreign, _ = rule.partition("/")
        if rule not in known and rule not in GONE and not (is_foreign and scanner in scanners):
            hint = suggestion_hint(rule, known, "`skillpm audit --list-rules` lists all rules")
            raise DocumentError(f"the audit has no rule `{sanitize(rule, 80)}`", hint=hint, where=where)


def warn_of_gone_rules(audit: AuditSettings, allowed: Iterable[str], reporter: Reporter) -> None:
    """Report the rules of earlier versions that settings, exceptions or `--allow` name."""
    named = {*audit.block, *audit.warn, *allowed, *(each.rule for each in audit.allow)}
    for rule in sorted(named & GONE.keys()):
        reporter.warn(f"the audit has no rule `{rule}` any more, so naming it has no effect: {GONE[rule]}")


def _is_foreign(scope: Scope) -> bool:
    """Return whether skills.json is another tool's, which `import` is about to replace; it says nothing of an audit."""
    text = read_text(scope.manifest)
    return text is not None and document_kind(parse_json(text, scope.manifest)) == "foreign"


def trusts_project(audit: AuditSettings, scope: Scope, settings: Settings) -> bool:
    """Return whether exceptions and reviews beside the manifest apply: of user scope always, of a project if chosen."""
    if scope.kind == "user" or isinstance(audit.trust_project, bool):
        return scope.kind == "user" or audit.trust_project is True
    folders = (
        os.path.realpath(os.path.join(settings.home, folder.removeprefix("~/"))) for folder in audit.trust_project
    )
    root = os.path.realpath(scope.base)
    return any(is_below(root, folder) for folder in folders)
