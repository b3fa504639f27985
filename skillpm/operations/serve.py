"""Serving the skills that are seen from a scope: registries, and the rules of manifests and of the configuration.

In a project these are the project's skills and the user's own, the project's first, as agent hosts do it.
"""

import os
from collections.abc import Collection, Sequence

from skillpm.core.values import Value
from skillpm.formats.manifest import Manifest
from skillpm.operations.context.scope import Scope, find_scope
from skillpm.operations.context.scope_permissions import combine_rules, load_manifest, visible_scopes
from skillpm.operations.context.scope_settings import user_config_path
from skillpm.registry.directory_registry import Registry
from skillpm.registry.layered_registry import LayeredRegistry
from skillpm.serving.body_modes import Mode
from skillpm.serving.live_permissions import EffectivePermissions, WatchedPermissions
from skillpm.serving.results import Loaded
from skillpm.serving.service import Ask, SkillService
from skillpm.settings import Settings, current_settings


class Viewer(Value):
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
    """Serve the skills that the working directory sees: its project's, then the user's own; the first of a name counts.

    With a `directory` the project is that folder. The permissions of the manifests and of `config.toml` count, with
    those of a `profile` if one is named; what is disabled (for everybody, or for `agent`) is not there. What changes
    in these documents holds at once. With a `host` it is what `discover` finds for it, under the host's own
    permissions, too.
    """
    settings = current_settings()
    scope = find_scope(settings, project="" if directory is None else os.path.expanduser(os.fspath(directory)))
    return make_service(scope, settings, Viewer(profile=profile, agent=agent, host=host), style=style, ask=ask)


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


def make_service(
    scope: Scope, settings: Settings, viewer: Viewer, *, style: str = "default", ask: Ask | None = None
) -> SkillService:
    """Serve the skills that are seen from a scope, or with a host those that it would see."""
    seen = visible_scopes(scope, settings)
    files = [user_config_path(settings), *(each.manifest for each in seen)]
    registry: Registry
    if viewer.host:
        from skillpm.agent_hosts.host_registry import HostRegistry  # noqa: PLC0415
        from skillpm.operations.discover import discover  # noqa: PLC0415  (who serves a scope need not find it)
        from skillpm.registry.frontmatter_cache import HeadCache  # noqa: PLC0415
        from skillpm.serving.host_permissions import find_permission_files  # noqa: PLC0415

        heads = HeadCache()
        registry = HostRegistry(lambda: discover(viewer.host, settings=settings, cache=heads).skills)
        files += find_permission_files(viewer.host, settings)
    else:
        layers = [Registry.load(each.layout.directory, fence=each.layout.boundary) for each in seen]
        registry = layers[0] if len(layers) == 1 else LayeredRegistry(layers)
    permits = WatchedPermissions(files, lambda: _effective_permissions(seen, settings, viewer))
    permits()  # what cannot be read is told before anything is served
    return SkillService(registry, permits=permits, style=style, ask=ask, environ=settings.environ)


def _effective_permissions(scopes: Sequence[Scope], settings: Settings, viewer: Viewer) -> EffectivePermissions:
    """Give what the documents say: what the nearest scope switches off is off everywhere, else only in its own."""
    manifests = [load_manifest(each) for each in scopes]
    rules = combine_rules(manifests, settings, viewer.profile)
    if viewer.host:
        from skillpm.serving.host_permissions import load_host_rules  # noqa: PLC0415

        rules = rules.replace(layers=(*rules.layers, *load_host_rules(viewer.host, settings).layers))
    off = [find_disabled(manifest, viewer.agent or viewer.host) for manifest in manifests]
    others = zip(scopes[1:], off[1:], strict=True)
    return EffectivePermissions(
        rules=rules, disabled=off[0], disabled_in={each.layout.directory: names for each, names in others}
    )


def find_disabled(manifest: Manifest, agent: str) -> Collection[str]:
    """Give the names that a manifest switches off, for everybody or for one agent."""
    return {name for name, agents in manifest.disabled.items() if agents is True or agent in agents}
