"""The settings in effect in a scope, and where each is set: command line, environment, manifest, or user config."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.manifest import Manifest
from skillpm.formats.user_config import ENVIRONMENT_SETTINGS
from skillpm.kinds.base import Pin
from skillpm.scope.effective_settings import (
    REPLACE_VARIABLE,
    find_strictest_cutoff,
    load_manifest,
    split_replacement,
)
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import configured_indexes
from skillpm.scope.scope_permissions import visible_scopes
from skillpm.settings import Settings

COMMAND_LINE, ENVIRONMENT, USER, DEFAULT = "command line", "environment", "user config", "default"
CLAUDE_PATH_VARIABLES = ("SKILLPM_DISABLE_CLAUDE_PATHS", "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS")


class EffectiveSetting(Value):
    """A setting in effect."""

    key: str
    value: Any  # None: not set
    origin: str
    location: str = ""  # file, variable or option
    skills: tuple[str, ...] | None = None  # of a table of `[[trust]]`: the locked skills here whose sources it covers


# Settings that only config.toml sets, with their defaults. Without a mode, that of the style applies.
USER_SETTINGS: dict[str, Any] = {
    "audit.block": ["high"],
    "audit.trust-project": False,
    "audit.warn": ["high", "medium"],
    "discovery.additional-paths": [],
    "skills.enabled": True,
    "serving.max-length": 50_000,
    "serving.mode": None,
}


class SettingOrigins(Value):
    """The settings of all origins, combined with the precedence that commands apply."""

    scope: Scope
    manifest: Manifest
    config: JsonNode
    settings: Settings
    command_line_keys: Sequence[str]
    # The sources of the locked skills of the scope.
    pins: Mapping[SkillName, Pin]

    def all(self) -> Iterator[EffectiveSetting]:
        """Yield every setting."""
        yield self._agents()
        yield self._exclude_newer()
        yield from self._indexes()
        yield self._claude_paths()
        for key, default in USER_SETTINGS.items():
            yield self._find_user_setting(key) or EffectiveSetting(key=key, value=default, origin=DEFAULT)
        if self.manifest.audit is not None and self.manifest.audit.block:
            yield EffectiveSetting(
                key="audit.block",
                value=list(self.manifest.audit.block),
                origin=self._manifest_origin,
                location=self.scope.manifest,
            )
        yield self._link_mode()
        yield self._replace()
        yield from self._permissions()
        yield from self._trust()
        if (profiles := self.config.get("profiles")) is not None:
            for name, node in profiles.items():
                yield _user_setting(f"profiles.{name}", node)
        yield from self._environment()

    @property
    def _manifest_origin(self) -> str:
        return f"{self.scope.kind} manifest"

    def _find_user_setting(self, key: str) -> EffectiveSetting | None:
        node: JsonNode | None = self.config
        for part in key.split("."):
            node = None if node is None else node.get(part)
        return None if node is None else _user_setting(key, node)

    def _agents(self) -> EffectiveSetting:
        if self.manifest.agents is not None:
            origin, location = self._manifest_origin, self.scope.manifest
            return EffectiveSetting(key="agents", value=list(self.manifest.agents), origin=origin, location=location)
        return self._find_user_setting("agents") or EffectiveSetting(key="agents", value=[], origin=DEFAULT)

    def _exclude_newer(self) -> EffectiveSetting:
        key = "exclude-newer"
        if self.settings.exclude_newer:
            is_option = key in self.command_line_keys
            location = "--exclude-newer" if is_option else "SKILLPM_EXCLUDE_NEWER"
            origin = COMMAND_LINE if is_option else ENVIRONMENT
            return EffectiveSetting(key=key, value=self.settings.exclude_newer, origin=origin, location=location)
        node, _ = find_strictest_cutoff(self.manifest, self.settings)
        if node is None:
            return EffectiveSetting(key=key, value=None, origin=DEFAULT)
        origin = self._manifest_origin if node.file == self.manifest.file else USER
        return EffectiveSetting(key=key, value=node.value, origin=origin, location=node.file)

    def _link_mode(self) -> EffectiveSetting:
        key = "link-mode"
        if self.settings.link_mode:
            return EffectiveSetting(
                key=key, value=self.settings.link_mode, origin=ENVIRONMENT, location="SKILLPM_LINK_MODE"
            )
        if self.manifest.link_mode:
            origin, location = self._manifest_origin, self.scope.manifest
            return EffectiveSetting(key=key, value=self.manifest.link_mode, origin=origin, location=location)
        return self._find_user_setting(key) or EffectiveSetting(key=key, value=None, origin=DEFAULT)

    def _replace(self) -> EffectiveSetting:
        key, text = "replace", self.settings.environ.get(REPLACE_VARIABLE)
        if text:
            addresses = split_replacement(text, self.settings)
            return EffectiveSetting(key=key, value=addresses, origin=ENVIRONMENT, location=REPLACE_VARIABLE)
        return self._find_user_setting(key) or EffectiveSetting(key=key, value=None, origin=DEFAULT)

    def _indexes(self) -> Iterator[EffectiveSetting]:
        for index in configured_indexes(self.scope, self.settings):
            origin = self._manifest_origin if index.defined_in.startswith(f"{self.scope.manifest}:") else USER
            location = index.defined_in.rpartition(": ")[0]
            yield EffectiveSetting(key=f"indexes.{index.name}.url", value=index.url, origin=origin, location=location)

    def _claude_paths(self) -> EffectiveSetting:
        key = "discovery.disable-claude-paths"
        for name in CLAUDE_PATH_VARIABLES:
            if text := self.settings.environ.get(name, "").lower():
                return EffectiveSetting(
                    key=key, value=text in {"1", "true", "yes", "on"}, origin=ENVIRONMENT, location=name
                )
        return self._find_user_setting(key) or EffectiveSetting(key=key, value=False, origin=DEFAULT)

    def _permissions(self) -> Iterator[EffectiveSetting]:
        for scope in visible_scopes(self.scope, self.settings):
            for pattern, action in load_manifest(scope).permissions.items():
                key, origin = f"permissions.{pattern}", f"{scope.kind} manifest"
                yield EffectiveSetting(key=key, value=action, origin=origin, location=scope.manifest)
        general, profiles = self.config.get("permissions"), self.config.get("permissions-for")
        for pattern, node in () if general is None else general.items():
            yield _user_setting(f"permissions.{pattern}", node)
        for profile, rules in () if profiles is None else profiles.items():
            for pattern, node in rules.items():
                yield _user_setting(f"permissions-for.{profile}.{pattern}", node)

    def _trust(self) -> Iterator[EffectiveSetting]:
        tables = self.config.get("trust")
        if tables is None:
            return
        # Few users trust signers.
        from skillpm.formats.trust.trust_rules import read_trust  # noqa: PLC0415
        from skillpm.vetting.applied_rules import apply_rule  # noqa: PLC0415

        for number, (node, rule) in enumerate(zip(tables.elements(), read_trust(tables), strict=True)):
            skills = tuple(name for name, pin in sorted(self.pins.items()) if apply_rule(rule, pin) is not None)
            yield _user_setting(f"trust.{number}", node).replace(skills=skills)

    def _environment(self) -> Iterator[EffectiveSetting]:
        """Yield the settings that only environment variables can set."""
        settings = self.settings
        values = {
            "cache-dir": os.path.dirname(settings.cache_dir),
            "config-dir": settings.config_dir,
            "home": settings.skills_home,
            "idle-timeout": _seconds(settings.idle_timeout),
            "lock-timeout": _seconds(settings.lock_timeout),
            "network-timeout": _seconds(settings.network_timeout),
            "offline": settings.offline,
        }
        for key, value in values.items():
            variable = ENVIRONMENT_SETTINGS[key].partition("=")[0]
            is_set = bool(settings.environ.get(variable))
            yield EffectiveSetting(
                key=key, value=value, origin=ENVIRONMENT if is_set else DEFAULT, location=variable if is_set else ""
            )


def _user_setting(key: str, node: JsonNode) -> EffectiveSetting:
    return EffectiveSetting(key=key, value=node.value, origin=USER, location=node.file)


def _seconds(seconds: float) -> float | int:
    return int(seconds) if seconds.is_integer() else seconds
