"""Which setting counts in a scope, and who said it: command line, environment, manifest, the user, or nobody."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from skillpm.core.decoder import Node
from skillpm.core.values import Value
from skillpm.formats.manifest import Manifest
from skillpm.formats.user_config import ELSEWHERE
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.scope_permissions import manifest_of, scopes_seen
from skillpm.operations.context.scope_settings import strictest
from skillpm.settings import Settings

COMMAND_LINE, ENVIRONMENT, USER, DEFAULT = "command line", "environment", "user config", "default"
CLAUDE = ("SKILLPM_DISABLE_CLAUDE_PATHS", "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS")


class Setting(Value):
    """A setting that counts: its value (None: not set), who said it, and in which file or variable."""

    key: str
    value: Any
    origin: str
    where: str = ""


class Origins:
    """What each of the places says, put together as the commands do."""

    def __init__(
        self, scope: Scope, manifest: Manifest, config: Node, settings: Settings, given: Sequence[str]
    ) -> None:
        self.scope, self.manifest, self.config, self.settings, self.given = scope, manifest, config, settings, given

    def all(self) -> Iterator[Setting]:
        """Give every setting."""
        yield self._agents()
        yield self._exclude_newer()
        yield from self._indexes()
        yield self._claude_paths()
        for key, default in (("discovery.additional-paths", []), ("skills.enabled", True)):
            yield self._users(key) or Setting(key=key, value=default, origin=DEFAULT)
        yield from self._permissions()
        if (profiles := self.config.get("profiles")) is not None:
            for name, node in profiles.items():
                yield Setting(key=f"profiles.{name}", value=node.value, origin=USER, where=node.file)
        yield from self._surroundings()

    @property
    def _manifest_origin(self) -> str:
        return f"{self.scope.kind} manifest"

    def _written(self, key: str, value: Any) -> Setting:
        return Setting(key=key, value=value, origin=self._manifest_origin, where=self.scope.manifest)

    def _users(self, key: str) -> Setting | None:
        node: Node | None = self.config
        for part in key.split("."):
            node = None if node is None else node.get(part)
        return None if node is None else Setting(key=key, value=node.value, origin=USER, where=node.file)

    def _agents(self) -> Setting:
        if self.manifest.agents is not None:
            return self._written("agents", list(self.manifest.agents))
        return self._users("agents") or Setting(key="agents", value=[], origin=DEFAULT)

    def _exclude_newer(self) -> Setting:
        key = "exclude-newer"
        if self.settings.exclude_newer:
            given = key in self.given
            where = "--exclude-newer" if given else "SKILLPM_EXCLUDE_NEWER"
            origin = COMMAND_LINE if given else ENVIRONMENT
            return Setting(key=key, value=self.settings.exclude_newer, origin=origin, where=where)
        node, _ = strictest(self.manifest, self.settings)
        if node is None:
            return Setting(key=key, value=None, origin=DEFAULT)
        origin = self._manifest_origin if node.file == self.manifest.file else USER
        return Setting(key=key, value=node.value, origin=origin, where=node.file)

    def _indexes(self) -> Iterator[Setting]:
        for place in configured_indexes(self.scope, self.settings):
            origin = self._manifest_origin if place.written_in.startswith(f"{self.scope.manifest}:") else USER
            where = place.written_in.rpartition(": ")[0]
            yield Setting(key=f"indexes.{place.name}.url", value=place.url, origin=origin, where=where)

    def _claude_paths(self) -> Setting:
        key = "discovery.disable-claude-paths"
        for name in CLAUDE:
            if text := self.settings.environ.get(name, "").lower():
                return Setting(key=key, value=text in {"1", "true", "yes", "on"}, origin=ENVIRONMENT, where=name)
        return self._users(key) or Setting(key=key, value=False, origin=DEFAULT)

    def _permissions(self) -> Iterator[Setting]:
        for scope in scopes_seen(self.scope, self.settings):
            for pattern, action in manifest_of(scope).permissions.items():
                key, origin = f"permissions.{pattern}", f"{scope.kind} manifest"
                yield Setting(key=key, value=action, origin=origin, where=scope.manifest)
        general, profiles = self.config.get("permissions"), self.config.get("permissions-for")
        for pattern, node in () if general is None else general.items():
            yield Setting(key=f"permissions.{pattern}", value=node.value, origin=USER, where=node.file)
        for profile, rules in () if profiles is None else profiles.items():
            for pattern, node in rules.items():
                key = f"permissions-for.{profile}.{pattern}"
                yield Setting(key=key, value=node.value, origin=USER, where=node.file)

    def _surroundings(self) -> Iterator[Setting]:
        """Give what only the environment says."""
        settings = self.settings
        values = {
            "cache-dir": os.path.dirname(settings.cache_dir),
            "config-dir": settings.config_dir,
            "home": settings.skills_home,
            "idle-timeout": _number(settings.idle_timeout),
            "link-mode": settings.link_mode or None,
            "lock-timeout": _number(settings.lock_timeout),
            "network-timeout": _number(settings.network_timeout),
            "offline": settings.offline,
        }
        for key, value in values.items():
            variable = ELSEWHERE[key].partition("=")[0]
            is_set = bool(settings.environ.get(variable))
            yield Setting(
                key=key, value=value, origin=ENVIRONMENT if is_set else DEFAULT, where=variable if is_set else ""
            )


def _number(seconds: float) -> float | int:
    return int(seconds) if seconds.is_integer() else seconds
