"""An unreadable repository ends a parallel fetch, but not the work after it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from skillpm.core.names import SkillName
from skillpm.errors import NotFoundError
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.git.repository_pool import RepositoryPool
from skillpm.scope.project import Session
from skillpm.settings import Settings


def test_work_after_a_failure_is_not_interrupted(tmp_path: Path) -> None:
    root = str(tmp_path)
    settings = Settings(
        home=root, working_directory=root, skills_home=root, config_dir=root, cache_dir=root, fsync=False
    )
    visits = RepositoryPool(settings, Session(settings=settings).reporter, f"{root}/git", Destinations())

    def fails(*_: object) -> dict[SkillName, str]:
        raise NotFoundError("gone")

    names: Sequence[str] = ("one", "two")
    with pytest.raises(NotFoundError):
        visits.run_each({SkillName(name): f"https://forge.example/{name}.git" for name in names}, fails)

    assert not visits.processes.stop_event.is_set()
