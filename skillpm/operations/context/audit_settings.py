"""The audit settings of a scope: those of the user, and what the manifests of the project add."""

import os

from skillpm.core.decoder import parse_json
from skillpm.files import is_below, read_text
from skillpm.formats.manifest import document_kind
from skillpm.formats.trust.audit_settings import AuditSettings, read_audit_settings
from skillpm.operations.context.scope import Scope, workspace_scope
from skillpm.operations.context.scope_permissions import load_manifest
from skillpm.operations.context.scope_policy import load_scope_policies
from skillpm.operations.context.scope_settings import read_user_setting
from skillpm.settings import Settings


def load_audit_settings(scope: Scope, settings: Settings) -> AuditSettings:
    """Return the settings of the user, with the rules that manifests block, and their exceptions if they are trusted.

    A manifest can only add to what blocks: it may come from an attacker who wants a skill installed. Raises
    `DocumentError` for an invalid document.
    """
    audit = read_audit_settings(read_user_setting(settings, "audit"))
    policies = load_scope_policies(scope, settings)
    if policies is not None:
        block = tuple(dict.fromkeys([*audit.block, *policies.audit_block]))
        trust_project = audit.trust_project if policies.trust_project else False
        audit = audit.replace(block=block, required=policies.audit_block, trust_project=trust_project)
    is_trusted = trusts_project(audit, scope, settings)
    for each in (scope, workspace_scope(scope, settings)) if scope.member else (scope,):
        if not _is_foreign(each) and (added := load_manifest(each).audit) is not None:
            audit = audit.replace(
                block=tuple(dict.fromkeys([*audit.block, *added.block])),
                allow=(*audit.allow, *(added.allow if is_trusted else ())),
            )
    return audit


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
