"""The documents of a scope, read: manifest, lockfile, the agents to link."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from skillpm.core.decoder import parse_toml
from skillpm.core.names import SkillName
from skillpm.core.suggestions import closest_matches
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentChanged
from skillpm.files import read_text
from skillpm.formats.lockfile import Lockfile, read_lockfile
from skillpm.formats.manifest import EMPTY_MANIFEST, KNOWN_KEYS, Manifest, read_manifest
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.requirements.manifest_requirements import read_overrides, read_requirements
from skillpm.requirements.source import Source

MAX_TRIES = 3
Result = TypeVar("Result")


class ProjectFiles(Value):
    """What is written down in a scope. The texts are None where there is no such file yet.

    `manifest_read` is the manifest as it lay there, `manifest_text` as it is to be. `is_seeded`: the lockfile is not
    the one that was read; another tool's knowledge was put into it.
    """

    manifest: Manifest
    requirements: Mapping[SkillName, Source]
    lockfile: Lockfile
    manifest_text: str | None
    lockfile_text: str | None
    original_manifest_text: str | None = None
    overrides: Mapping[SkillName, Source] = EMPTY_MAPPING
    default_agents: tuple[str, ...] = ()
    config_path: str = ""
    is_lockfile_imported: bool = False

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents to link: the manifest's, else the user's."""
        return self.default_agents if self.manifest.agents is None else self.manifest.agents

    @property
    def agents_location(self) -> str:
        """Where the agents stand, for messages."""
        return f"{self.config_path if self.manifest.agents is None else self.manifest.file}: agents"

    @property
    def disabled(self) -> set[SkillName]:
        """The skills that the manifest switches off for everybody."""
        return self.manifest.disabled_for_all

    @property
    def original_texts(self) -> dict[str, str | None]:
        """The texts that were read, by role: what is decided by them holds only while they are what lies there."""
        return {"manifest": self.original_manifest_text, "lockfile": self.lockfile_text}

    @property
    def editable_manifest(self) -> str:
        """The manifest's text, to edit: a new one where there is none."""
        return EMPTY_MANIFEST if self.manifest_text is None else self.manifest_text

    def with_manifest_text(self, text: str) -> "ProjectFiles":
        """Give the same papers with another manifest."""
        manifest = read_manifest(text, self.manifest.file)
        return self.replace(
            manifest=manifest,
            requirements=read_requirements(manifest),
            overrides=read_overrides(manifest),
            manifest_text=text,
        )


def read_project_files(scope: Scope, context: Context) -> ProjectFiles:
    """Read the documents of a scope."""
    text, lock_text = read_text(scope.manifest), read_text(scope.lockfile)
    manifest = Manifest(file=scope.manifest) if text is None else read_manifest(text, scope.manifest)
    config = os.path.join(context.settings.config_dir, "config.toml")
    for key in manifest.unknown_keys:
        meant = f"; did you mean `{similar[0]}`?" if (similar := closest_matches(key, KNOWN_KEYS)) else "; it is kept"
        context.reporter.warn(f"{scope.manifest}: `{key}` is no key that skillpm knows{meant}")
    return ProjectFiles(
        manifest=manifest,
        requirements=read_requirements(manifest),
        overrides=read_overrides(manifest),
        lockfile=Lockfile() if lock_text is None else read_lockfile(lock_text, scope.lockfile),
        manifest_text=text,
        lockfile_text=lock_text,
        original_manifest_text=text,
        default_agents=_read_user_agents(config) if manifest.agents is None else (),
        config_path=config,
    )


def check_unchanged(scope: Scope, files: ProjectFiles) -> None:
    """Raise `DocumentMoved` where a document is not what was read."""
    for path, text in ((scope.manifest, files.original_manifest_text), (scope.lockfile, files.lockfile_text)):
        if read_text(path) != text:
            raise DocumentChanged(path)


def retry_if_changed(operation: Callable[[], Result]) -> Result:
    """Do what reads the documents and decides by them; do it again where somebody saved one meanwhile.

    An editor knows no lock. What was fetched is at hand the second time. Raises `DocumentMoved` when that goes on.
    """
    for _ in range(MAX_TRIES - 1):
        with suppress(DocumentChanged):
            return operation()
    return operation()


def _read_user_agents(path: str) -> tuple[str, ...]:
    """Give `agents` of config.toml."""
    text = read_text(path)
    if text is None:
        return ()
    agents = parse_toml(text, path).get("agents")
    return () if agents is None else agents.texts()
