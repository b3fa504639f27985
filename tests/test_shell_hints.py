"""Commands in messages are for a shell: each word of them that comes from elsewhere is quoted.

A repository may have a skill named `$(touch PWNED)`, a project a folder of that name, and people paste what hints say.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from skillpm.cli.main import COMMANDS

PACKAGE = Path(__file__).parent.parent / "skillpm"
# The text before a value that makes it a word of a command: `skillpm install …`, `--keep …`, `git log …`.
PROGRAMS = rf"skillpm\0? (?:{'|'.join(COMMANDS)})|git (?:ls-remote|log|show|add)|uv add|pip install|rm"
COMMAND = re.compile(rf"(?:^|[\s`'\"(])(?:(?:{PROGRAMS})\b[^`;,]*|--[a-z][a-z-]* )$")
QUOTED = re.compile(r"^(shell_words?|join)\(|(^|\.)(scope_)?flag$|^g$|^' -g' if ")
# Values that are valid words by their type: names of skills, IDs of hosts and rules, numbers, words of the program.
VALID = {
    "cli/commands/agents.py": {"present or 'AGENT'"},
    "cli/commands/completion.py": {"'|'.join(SHELLS)"},
    "cli/commands/import_.py": {"agent"},
    "cli/commands/index.py": {"subcommand"},
    "cli/commands/install.py": {"spec"},  # of `format_skill_spec`, which quotes
    "cli/commands/new.py": {"path"},  # quoted one line above
    "cli/reports/search_output.py": {"min(results.total, 1000)"},
    "cli/commands/show.py": {"error.example"},  # of `format_skill_spec`, which quotes
    "core/exclude_newer.py": {"name"},
    "core/suggestions.py": {"requirement"},  # quoted one line above
    "errors.py": {"name", "names"},
    "fetchers/bundled.py": {"name", "source.name"},
    "fetchers/git/fetch_strategies.py": {"' '.join(names)"},
    "fetchers/packages/package_fetcher.py": {"name"},
    "indexes/client/access.py": {"name"},
    "vetting/incoming.py": {"WIDENS"},
    "operations/doctor/agent_checks.py": {"skill.name"},
    "operations/doctor/directory_checks.py": {"skill.name"},
    "operations/fit.py": {"agent"},
    "operations/host_listing.py": {"agent"},
    "adopt/conversion.py": {"flags"},
    "adopt/flat_files.py": {"typed"},
    "change/blockers.py": {"action.name"},
    "change/edit_merge.py": {"blocked[0].name", "name"},
    "kinds/oci.py": {"after"},
    "locking/index_policy.py": {"index_name or 'NAME'"},
    "publishing/oci_page.py": {"skill"},
    "requirements/repository_url.py": {"spec"},  # quoted one line above
    "resolver/conflict_report.py": {"name"},
}


def words_of_commands(path: Path) -> Iterator[str]:
    """Yield the values that f-strings put into a command, as they are written in the source."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        before = ""
        for part in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(part, ast.FormattedValue):
                if COMMAND.search(before):
                    yield ast.unparse(part.value)
                before += "\0"
            elif isinstance(part, ast.Constant):
                before += str(part.value)


def test_each_word_of_a_command_is_quoted() -> None:
    unquoted: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for word in words_of_commands(path):
            if not QUOTED.search(word):
                unquoted.setdefault(path.relative_to(PACKAGE).as_posix(), set()).add(word)

    assert unquoted == VALID
