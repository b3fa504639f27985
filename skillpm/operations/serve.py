"""Serve the skills visible from a scope, under the permissions of the manifests and of `config.toml`.

In a project these are the project's skills, those of the projects around it up to the git root, and then the user's:
the precedence that agent hosts apply.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from skillpm.core.values import Value
from skillpm.formats.manifest import Manifest
from skillpm.registry.directory_registry import LayeredRegistry, Registry
from skillpm.scope.effective_settings import load_manifest, user_config_path
from skillpm.scope.scope import Scope, find_scope
from skillpm.scope.scope_permissions import (
    blocked_name_layer,
    combine_rules,
    load_serving_settings,
    visible_scopes,
)
from skillpm.scope.scope_policy import (
    find_copy_files,
    find_policy_files,
    load_policies,
    require_current,
)
from skillpm.serving.approval import Ask
from skillpm.serving.live_permissions import EffectivePermissions, WatchedPermissions
from skillpm.serving.renderers.body_modes import Mode
from skillpm.serving.results import Loaded
from skillpm.serving.service import SkillService
from skillpm.settings import Settings, current_settings
from skillpm.vetting.load_check import LoadValidator


class Viewer(Value):
    """For whom skills are served."""

    agent: str = ""  # the agent host whose own discovery and permissions apply
    profile: str = ""  # an agent of that host, or a profile of permission rules


def open_service(
    directory: "str | os.PathLike[str] | None" = None,
    *,
    profile: str = "",
    agent: str = "",
    host: str = "",
    style: str = "default",
    ask: Ask | None = None,
) -> SkillService:
    """Serve the skills visible from the working directory: its project's, those of the projects around it up to the git
    root, nearest first, then the user's; the first of a name wins.

    With `directory`, that folder is the project. The permissions of the manifests and of `config.toml` apply, and those
    of `profile` if given; disabled skills are left out. Changes to these documents take effect at once; published
    policies are refreshed in the background. With `agent`, serve what `discover` finds for that agent host, without
    what is disabled for it, under the host's own permissions as well; `host` is the old name of `agent`.
    """
    settings = current_settings()
    scope = find_scope(settings, project="" if directory is None else os.path.expanduser(os.fspath(directory)))
    viewer = Viewer(agent=agent or host, profile=profile)
    return make_service(scope, settings, viewer, style=style, ask=ask, is_refreshed=True)


def load_skill(
    name: str,
    *,
    mode: Mode | None = None,
    style: str = "default",
    arguments: str | Sequence[str] | None = None,
    directory: "str | os.PathLike[str] | None" = None,
) -> Loaded:
    """Load one skill visible from the working directory; see `open_service` and `SkillService.load`."""
    return open_service(directory, style=style).load(name, mode=mode, arguments=arguments)


def make_service(  # noqa: PLR0913  (each has a default that is right for most)
    scope: Scope,
    settings: Settings,
    viewer: Viewer,
    *,
    style: str = "default",
    ask: Ask | None = None,
    registry: Registry | None = None,
    is_refreshed: bool = False,
) -> SkillService:
    """Serve the skills visible from a scope or, if the viewer is a host, those that the host would see.

    `registry` replaces these skills by others, under the same permissions. With `is_refreshed`, published policies are
    refreshed in the background as long as the service exists.
    """
    scopes = visible_scopes(scope, settings)
    manifests = [each.manifest for each in scopes]
    documents = [*manifests, *(file.path for file in find_policy_files(scopes, settings))]
    files = [user_config_path(settings), *documents]
    # Given skills were checked where they come from.
    inspect = LoadValidator(scope, settings, [*documents, scope.root_manifest]) if registry is None else None
    find_host_files: Callable[[], Iterable[str]] = tuple
    if viewer.agent:
        from skillpm.serving.host_rules.loader import find_permission_files  # noqa: PLC0415  (for a host alone)

        registry = _make_host_registry(viewer.agent, settings) if registry is None else registry
        find_host_files = partial(find_permission_files, viewer.agent, settings)
    elif registry is None:
        layers = [Registry.load(each.layout.directory, boundary=each.layout.boundary) for each in scopes]
        registry = layers[0] if len(layers) == 1 else LayeredRegistry(layers)
    watched = WatchedPermissions(
        lambda: (*files, *find_host_files(), *find_copy_files(scopes, settings)),
        lambda: _effective_permissions(scopes, settings, viewer),
    )

    def permits() -> EffectivePermissions:
        permissions = watched()
        if is_refreshed and permissions.policies is not None and permissions.policies.copies and not settings.offline:
            from skillpm.operations.policy.refresher import REFRESHER  # noqa: PLC0415  (few users have any)

            REFRESHER.keep_refreshed(watched, settings)
        require_current(permissions.policies, time.time())
        return permissions

    permits()  # raises for a document that cannot be read, before anything is served
    return SkillService(registry, permits=permits, style=style, ask=ask, environ=settings.environ, inspect=inspect)


def _make_host_registry(agent: str, settings: Settings) -> Registry:
    from skillpm.agent_hosts.discover import discover  # noqa: PLC0415  (not needed to serve a scope)
    from skillpm.agent_hosts.host_registry import HostRegistry  # noqa: PLC0415
    from skillpm.registry.frontmatter_cache import HeadCache  # noqa: PLC0415

    heads = HeadCache()
    return HostRegistry(lambda: discover(agent, settings=settings, cache=heads))


def _effective_permissions(scopes: Sequence[Scope], settings: Settings, viewer: Viewer) -> EffectivePermissions:
    """Combine rules and disabled names: those of the nearest scope apply to all scopes, others to their own."""
    manifests = [load_manifest(each) for each in scopes]
    if viewer.agent:
        from skillpm.serving.host_rules.loader import load_host_rules  # noqa: PLC0415

        host_rules = load_host_rules(viewer.agent, settings, viewer.profile)
        rules = combine_rules(manifests, settings, viewer.profile, host_rules.agents)
        host_layers = host_rules.layers
    else:
        rules, host_layers = combine_rules(manifests, settings, viewer.profile), ()
    policies = load_policies(scopes, settings)
    rules = rules.replace(host_layers=(*host_layers, blocked_name_layer(policies)))
    disabled = [find_disabled(manifest, viewer.agent) for manifest in manifests]
    others = zip(scopes[1:], disabled[1:], strict=True)
    return EffectivePermissions(
        rules=rules,
        disabled=disabled[0],
        disabled_in={each.layout.directory: names for each, names in others},
        priority=tuple(pattern for manifest in manifests for pattern in manifest.priority),
        serving=load_serving_settings(settings),
        policies=policies,
    )


def find_disabled(manifest: Manifest, agent: str) -> Collection[str]:
    """Return the names that a manifest disables, for all agents or for this one."""
    return {name for name, agents in manifest.disabled.items() if agents is True or agent in agents}
