"""Serving the skills of a scope: its registry, and the rules of the manifest and of the user's configuration."""

import os
from collections.abc import Collection, Sequence

from skillpm.documents.manifest import Manifest
from skillpm.operations.permitting import manifest_of, rules_of
from skillpm.operations.scope import Scope, find_scope
from skillpm.serving.answers import Loaded
from skillpm.serving.modes import Mode
from skillpm.serving.registry import Registry
from skillpm.serving.service import Ask, SkillService
from skillpm.settings import Settings, current_settings
from skillpm.values import Value


class Eyes(Value):
    """Through whose eyes skills are seen: a profile of rules, the agent for whom some are disabled, a host."""

    profile: str = ""
    agent: str = ""
    host: str = ""


def open_service(
    directory: "str | os.PathLike[str] | None" = None,
    *,
    profile: str = "",
    agent: str = "",
    host: str = "",
    style: str = "default",
    ask: Ask | None = None,
) -> SkillService:
    """Serve the skills that the working directory sees: its project's, else the user's own.

    With a `directory` it is the skills of that project folder. The permissions of the manifest and of `config.toml`
    count, with those of a `profile` if one is named; what is disabled (for everybody, or for `agent`) is not there.
    With a `host` it is what `discover` finds for it, under the host's own permissions, too.
    """
    settings = current_settings()
    scope = find_scope(settings, project="" if directory is None else os.path.expanduser(os.fspath(directory)))
    return service_of(scope, settings, Eyes(profile=profile, agent=agent, host=host), style=style, ask=ask)


def load_skill(
    name: str,
    *,
    mode: Mode | None = None,
    style: str = "default",
    arguments: str | Sequence[str] | None = None,
    directory: "str | os.PathLike[str] | None" = None,
) -> Loaded:
    """Load one skill that the working directory sees; see `open_service` and `SkillService.load`."""
    return open_service(directory, style=style).load(name, mode=mode, arguments=arguments)


def service_of(
    scope: Scope, settings: Settings, eyes: Eyes, *, style: str = "default", ask: Ask | None = None
) -> SkillService:
    """Serve the skills of a scope, or with a host those that it would see."""
    manifest = manifest_of(scope)
    rules = rules_of(manifest, settings, eyes.profile)
    if eyes.host:
        from skillpm.operations.discovering import discover  # noqa: PLC0415  (who serves a scope need not find it)
        from skillpm.serving.host_registry import registry_of  # noqa: PLC0415
        from skillpm.serving.host_rules import host_rules  # noqa: PLC0415

        registry = registry_of(discover(eyes.host, settings=settings).skills)
        rules = rules.but(layers=(*rules.layers, *host_rules(eyes.host, settings).layers))
    else:
        registry = Registry.load(scope.layout.directory)
    return SkillService(
        registry,
        rules=rules,
        disabled=disabled_for(manifest, eyes.agent or eyes.host),
        style=style,
        ask=ask,
        environ=settings.environ,
    )


def disabled_for(manifest: Manifest, agent: str) -> Collection[str]:
    """Give the names that a manifest switches off, for everybody or for one agent."""
    return {name for name, agents in manifest.disabled.items() if agents is True or agent in agents}
