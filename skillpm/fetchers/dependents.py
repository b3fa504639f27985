"""Explain why a server was about to be contacted: which skill requires something from it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from skillpm.core.git_syntax import server_of
from skillpm.core.names import SkillName
from skillpm.errors import RefusedError, SkillpmError
from skillpm.fetchers.common.destinations import UnnamedServerError
from skillpm.kinds.base import Pin, Source
from skillpm.requirements.manifest_requirements import parse_locked_requirement


class Dependents:
    """The dependencies that a command has read, with the skills that declare them."""

    def __init__(self) -> None:
        self._declared: list[tuple[str, Mapping[str, Any]]] = []

    def add(self, owner: str, dependencies: Mapping[str, Any] | None) -> None:
        """Add the dependencies of a skill, in the value forms of a manifest."""
        if dependencies:
            self._declared.append((owner, dependencies))

    @contextmanager
    def explain(self, wanted: Mapping[SkillName, Source | Pin]) -> Iterator[None]:
        """Name the dependency whose server is refused while these are fetched, and the skill that requires it."""
        try:
            yield
        except UnnamedServerError as error:
            raise self._find_dependency(error, wanted) or error from None

    def _find_dependency(
        self, error: UnnamedServerError, wanted: Mapping[SkillName, Source | Pin]
    ) -> RefusedError | None:
        server = server_of(error.url)
        names = {name for name, source in wanted.items() if server_of(source.server_url()) == server}
        for owner, dependencies in self._declared:
            for name in sorted(names & dependencies.keys()):
                with suppress(SkillpmError):
                    url = parse_locked_requirement(name, dependencies[name]).server_url()
                    if server_of(url) == server:
                        return error.required_by(owner, name, url)
        return None
