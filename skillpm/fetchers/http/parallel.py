"""Run the fetches of several skills at once."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from skillpm.core.names import SkillName
from skillpm.errors import concerning
from skillpm.fetchers.http.errors import ServerUnreachable

MAX_PARALLEL = 8
Result = TypeVar("Result")


def run_parallel(
    origins: Mapping[SkillName, str], work: Callable[[SkillName], Result], interrupt: Callable[[], object]
) -> dict[SkillName, Result]:
    """Call `work` for each name in parallel threads. The first error cancels the others and is raised.

    `origins` are the servers of the names: one that fails concerns all of its names. `interrupt` ends the
    requests that are under way.
    """

    def run(name: SkillName) -> Result:
        try:
            with concerning(name):
                return work(name)
        except ServerUnreachable as error:
            error.skills = tuple(sorted(other for other in origins if origins[other] == origins[name]))
            raise

    if len(origins) < 2:  # noqa: PLR2004  (needs no threads)
        return {name: run(name) for name in origins}
    with ThreadPoolExecutor(MAX_PARALLEL) as pool:
        jobs = {name: pool.submit(run, name) for name in origins}
        try:
            return {name: job.result() for name, job in jobs.items()}
        except BaseException:
            interrupt()
            pool.shutdown(cancel_futures=True)
            raise
