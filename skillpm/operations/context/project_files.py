"""The documents of a scope, read: manifest, lockfile, the agents to link."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from skillpm.core.decoder import parse_toml
from skillpm.core.names import SkillName
from skillpm.core.suggestions import near
from skillpm.core.values import NOTHING, Value
from skillpm.errors import DocumentMoved
from skillpm.files import read_text
from skillpm.formats.lockfile import Lockfile, read_lockfile
from skillpm.formats.manifest import EMPTY, KNOWN, Manifest, read_manifest
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.requirements.manifest_requirements import overriding, wanted
from skillpm.requirements.source import Source

MOST_TRIES = 3
Result = TypeVar("Result")


class Paperwork(Value):
    """What is written down in a scope. The texts are None where there is no such file yet.

    `manifest_read` is the manifest as it lay there, `manifest_text` as it is to be. `is_seeded`: the lockfile is not
    the one that was read; another tool's knowledge was put into it.
    """

    manifest: Manifest
    requirements: Mapping[SkillName, Source]
    lockfile: Lockfile
    manifest_text: str | None
    lockfile_text: str | None
    manifest_read: str | None = None
    overrides: Mapping[SkillName, Source] = NOTHING
    default_agents: tuple[str, ...] = ()
    config: str = ""
    is_seeded: bool = False

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents to link: the manifest's, else the user's."""
        return self.default_agents if self.manifest.agents is None else self.manifest.agents

    @property
    def agents_written_in(self) -> str:
        """Where the agents stand, for messages."""
        return f"{self.config if self.manifest.agents is None else self.manifest.file}: agents"

    @property
    def disabled(self) -> set[SkillName]:
        """The skills that the manifest switches off for everybody."""
        return self.manifest.switched_off

    @property
    def read(self) -> dict[str, str | None]:
        """The texts that were read, by role: what is decided by them holds only while they are what lies there."""
        return {"manifest": self.manifest_read, "lockfile": self.lockfile_text}

    @property
    def text(self) -> str:
        """The manifest's text, to edit: a new one where there is none."""
        return EMPTY if self.manifest_text is None else self.manifest_text

    def edited(self, text: str) -> "Paperwork":
        """Give the same papers with another manifest."""
        manifest = read_manifest(text, self.manifest.file)
        return self.but(
            manifest=manifest, requirements=wanted(manifest), overrides=overriding(manifest), manifest_text=text
        )


def read_paperwork(scope: Scope, tools: Tools) -> Paperwork:
    """Read the documents of a scope."""
    text, lock_text = read_text(scope.manifest), read_text(scope.lockfile)
    manifest = Manifest(file=scope.manifest) if text is None else read_manifest(text, scope.manifest)
    config = os.path.join(tools.settings.config_dir, "config.toml")
    for key in manifest.unknown:
        meant = f"; did you mean `{similar[0]}`?" if (similar := near(key, KNOWN)) else "; it is kept"
        tools.reporter.warning(f"{scope.manifest}: `{key}` is no key that skillpm knows{meant}")
    return Paperwork(
        manifest=manifest,
        requirements=wanted(manifest),
        overrides=overriding(manifest),
        lockfile=Lockfile() if lock_text is None else read_lockfile(lock_text, scope.lockfile),
        manifest_text=text,
        lockfile_text=lock_text,
        manifest_read=text,
        default_agents=_agents_of_user(config) if manifest.agents is None else (),
        config=config,
    )


def refuse_moved(scope: Scope, papers: Paperwork) -> None:
    """Raise `DocumentMoved` where a document is not what was read."""
    for path, text in ((scope.manifest, papers.manifest_read), (scope.lockfile, papers.lockfile_text)):
        if read_text(path) != text:
            raise DocumentMoved(path)


def again_where_moved(work: Callable[[], Result]) -> Result:
    """Do what reads the documents and decides by them; do it again where somebody saved one meanwhile.

    An editor knows no lock. What was fetched is at hand the second time. Raises `DocumentMoved` when that goes on.
    """
    for _ in range(MOST_TRIES - 1):
        with suppress(DocumentMoved):
            return work()
    return work()


def _agents_of_user(path: str) -> tuple[str, ...]:
    """Give `agents` of config.toml."""
    text = read_text(path)
    if text is None:
        return ()
    agents = parse_toml(text, path).get("agents")
    return () if agents is None else agents.texts()
