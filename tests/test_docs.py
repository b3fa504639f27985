"""The documentation is complete: links have targets; commands, options, error codes and variables are documented."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

import click
import pytest

from skillpm import errors
from skillpm.cli.main import ALIASES, COMMANDS, load_command

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^```.*?^```$|^<!-- before$.*?^-->$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
DECISIONS = sorted((ROOT / "docs/adr").glob("*.md"))
RECORD = r"\[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)"
RECORDS = re.compile(r"\]\((\d{4}-[a-z0-9-]+)\.md\)")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(page: Path) -> str:
    """Return a page without its code blocks, whose links and headings are not Markdown."""
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges generate them."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(prose(page))}


def relative_links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the links of a page within this repository: a path, and an anchor or an empty text."""
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = unquote(target).partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def commands() -> dict[str, click.Command]:
    """Return every command by name, those of groups as `backup list`."""
    by_name: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = load_command(name)
        by_name[name] = command
        if isinstance(command, click.Group):
            by_name |= {f"{name} {inner}": part for inner, part in command.commands.items()}
    return by_name


def read_decision(page: Path) -> tuple[str, str, str]:
    """Return the title of a decision record, its status, and which earlier ones it changes (`Amends …`), if any."""
    title, _, status, _, change = page.read_text(encoding="utf-8").splitlines()[:5]
    change = change if re.match("Amends|Supersedes", change) else ""
    return title.removeprefix(f"# {page.name[:4]} "), status.removeprefix("Status: "), change


def decision_groups() -> dict[str, list[str]]:
    """Return the rows of the page of decisions by the heading above their table."""
    _, *groups = (ROOT / "docs/decisions.md").read_text(encoding="utf-8").split("\n## ")
    return {group.splitlines()[0]: re.findall(r"^\| \d.*", group, re.MULTILINE) for group in groups}


def test_decisions_are_numbered_without_gaps() -> None:
    assert [page.name[:4] for page in DECISIONS] == [f"{number:04}" for number in range(1, len(DECISIONS) + 1)]
    assert [page.name for page in DECISIONS if page.read_text(encoding="utf-8")[:7] != f"# {page.name[:4]} "] == []


def test_both_decisions_say_that_one_changes_the_other() -> None:
    """The status of the earlier one is `accepted; amended by …` or `superseded by …`, and the later one names it."""
    earlier, later = set[tuple[str, str, str]](), set[tuple[str, str, str]]()
    for page in DECISIONS:
        _, status, change = read_decision(page)
        assert re.fullmatch(rf"accepted|(accepted; amended|superseded) by {RECORD}(, {RECORD})*", status), page.name
        earlier |= {("Supersedes" if status[0] == "s" else "Amends", page.stem, by) for by in RECORDS.findall(status)}
        later |= {(change.split()[0], record, page.stem) for record in RECORDS.findall(change)}

    assert earlier == later
    assert [change for change in earlier if change[1] >= change[2]] == []


def test_every_decision_is_listed_with_its_status() -> None:
    groups = decision_groups()
    decisions = [(page, *read_decision(page)) for page in DECISIONS]

    assert sorted(row for rows in groups.values() for row in rows) == [
        f"| {page.name[:4]} | [{title}](adr/{page.name}) | {status.replace('](', '](adr/')} |"
        for page, title, status, _ in decisions
    ]
    assert [group for group, rows in groups.items() if rows != sorted(rows)] == []


def test_every_number_of_a_decision_is_that_of_its_record() -> None:
    """In pages, the number and the target of a link agree; in code, a record has the number."""
    links = [link for page in PAGES for link in re.findall(r"\[(?:ADR )?(\d+)\]\([^)]*\b(\d{4})-", prose(page))]
    modules = [module for part in ("skillpm", "tests") for module in (ROOT / part).rglob("*.py")]
    code = {number for module in modules for number in re.findall(r"\bADR (\d+)", module.read_text(encoding="utf-8"))}

    assert [link for link in links if int(link[0]) != int(link[1])] == []
    assert [number for number in code if not 1 <= int(number) <= len(DECISIONS)] == []


def pages_of(navigation: object) -> list[str]:
    """Return the pages that a navigation of the site names, in its order."""
    if isinstance(navigation, str):
        return [navigation]
    inner = navigation.values() if isinstance(navigation, dict) else navigation
    assert isinstance(inner, Iterable)
    return [page for part in inner for page in pages_of(part)]


def test_every_page_is_once_in_the_navigation_of_the_site() -> None:
    """A page that is missing is built all the same. Records of decisions are on the page of decisions alone."""
    navigation = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    docs = ROOT / "docs"
    pages = [page for page in docs.rglob("*.md") if page not in DECISIONS]

    assert [part for each in navigation for part in each] == ["Start", "Guides", "Concepts", "Reference"]
    assert sorted(pages_of(navigation)) == sorted(str(page.relative_to(docs)) for page in pages)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_has_a_target(page: Path) -> None:
    for path, anchor in relative_links(page):
        assert path.exists(), f"{named(page)} links to {path}, which does not exist"
        assert path.is_relative_to(ROOT), f"{named(page)} links out of the repository"
        if anchor:
            assert anchor in anchors(path), f"{named(page)} links to #{anchor}, which {named(path)} does not have"


def test_no_page_has_conflict_markers() -> None:
    marker = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
    assert [named(page) for page in PAGES if marker.search(prose(page))] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page not in seen:
            seen.add(page)
            todo.extend(path for path, _ in relative_links(page) if path.suffix == ".md")
    assert [named(page) for page in PAGES if page not in seen] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_with_its_usage_and_is_in_the_table(name: str) -> None:
    command = commands()[name]
    usage = command.get_usage(click.Context(command, info_name=f"skillpm {name}", terminal_width=200))
    page = (ROOT / f"docs/commands/skillpm-{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# skillpm {name}\n\n```text\n{' '.join(usage.split()).removeprefix('Usage: ')}\n```\n")
    assert f"| [`{name}`](commands/skillpm-{name}.md) |" in prose(ROOT / "docs/commands.md")


def test_every_alias_is_documented() -> None:
    table = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for alias, name in ALIASES.items():
        row = next(line for line in table.splitlines() if line.startswith(f"| [`{name.partition(' ')[0]}`]"))
        assert f"`{alias}`" in row


@pytest.mark.parametrize("name", commands())
def test_every_help_has_examples(name: str) -> None:
    command = commands()[name]
    text = command.get_help(click.Context(command, info_name=name))
    assert re.search(rf"Examples?:\n +skillpm {name}\b", text), text


@pytest.mark.parametrize("name", commands())
def test_every_option_and_argument_has_a_help_text(name: str) -> None:
    visible = [each for each in commands()[name].params if each.metavar != "" and not getattr(each, "hidden", False)]
    assert [parameter.name for parameter in visible if not parameter.help] == []


@pytest.mark.parametrize("name", commands())
def test_every_help_fits_a_terminal_of_80_columns(name: str) -> None:
    command = commands()[name]
    text = command.get_help(click.Context(command, info_name=f"skillpm {name}", terminal_width=80))
    assert [line for line in text.splitlines() if len(line) > 80] == []


def options_in(text: str) -> set[str]:
    """Return the options that a text names in code."""
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?![\w-])", " ".join(re.findall(r"`([^`\n]+)`", text))))


def shared_options(text: str) -> list[set[str]]:
    """Return the options that several commands have, one set for each table of them."""
    return [options_in(table) for table in re.findall(r"(?:^\| `-.*\n)+", text, re.MULTILINE)]


def test_every_option_is_documented_for_its_command() -> None:
    common, *others = shared_options((ROOT / "docs/commands.md").read_text(encoding="utf-8"))
    pages = {
        page.stem.partition("-")[2]: page.read_text(encoding="utf-8") for page in (ROOT / "docs/commands").glob("*.md")
    }
    assert {"--json", "--quiet"} <= common
    missing = []
    for name, command in commands().items():
        has = {
            option
            for parameter in command.params
            if isinstance(parameter, click.Option) and not parameter.hidden
            for option in parameter.opts
        }
        # A command with only one option of such a table documents it on its own page.
        shared = common.union(*(table for table in others if len(table) == 1 or len(table & has) > 1))
        documented = options_in(pages.get(name.split()[0], "")) | shared
        missing += [f"{option} of `skillpm {name}`" for option in sorted(has - documented)]
    assert missing == []


def test_every_error_code_is_documented() -> None:
    known = {value for value in vars(errors).values() if isinstance(value, type)}
    codes = {error.code for error in known if issubclass(error, errors.SkillpmError)} | {"usage", "defect"}
    page = ROOT / "docs" / "errors.md"
    assert {code for code in codes if f"`{code}`" not in page.read_text(encoding="utf-8")} == set()
    assert codes - {"error"} <= anchors(page)


def test_every_finding_is_documented() -> None:
    """The codes are found in the source, where findings are created."""
    made = re.compile(r"""(?:(?:not_loadable|error|warning)\(\s*"([a-z0-9-]+)"|code="([a-z0-9-]+)")""")
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    modules = [
        *(ROOT / "skillpm" / "core" / "json_text").glob("*.py"),
        *(ROOT / "skillpm" / "foreign_formats").glob("*.py"),
        *(ROOT / "skillpm" / "formats").glob("*.py"),
        *(ROOT / "skillpm" / "requirements").glob("*.py"),
        *(ROOT / "skillpm" / "skillmd").glob("*.py"),
        ROOT / "skillpm" / "operations" / "validate.py",
    ]
    codes = {"".join(match.groups("")) for path in modules for match in made.finditer(path.read_text(encoding="utf-8"))}
    assert len(codes) > 30
    assert {code for code in codes if f"`{code}`" not in page} == set()


# Not for users: set for git's credential helper, and used by click for completion.
INTERNAL = {"SKILLPM_GIT_USER", "SKILLPM_GIT_PASSWORD", "SKILLPM_COMPLETE"}


OCI_LOGIN = {"SKILLPM_OCI_HOST_USERNAME", "SKILLPM_OCI_HOST_PASSWORD"}


def test_every_variable_is_documented() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "skillpm").rglob("*.py")))
    named = {*re.findall(r"SKILLPM_[A-Z_]*[A-Z](?![A-Z_])", code)} - INTERNAL
    text = (ROOT / "docs" / "layout-on-disk.md").read_text(encoding="utf-8")
    text = text.replace("<NAME>", "NAME").replace("<HOST>", "HOST")
    rows = "".join(line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    documented = {*re.findall(r"`(SKILLPM_[A-Z_]+)`", rows)}

    assert named - documented == set()
    assert documented - named == {"SKILLPM_INDEX_NAME_URL", *OCI_LOGIN}  # the code joins their parts


def test_every_page_that_the_code_refers_to_exists() -> None:
    for module in sorted((ROOT / "skillpm").rglob("*.py")):
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", module.read_text(encoding="utf-8")):
            assert (ROOT / name).is_file(), f"{named(module)} refers to {name}"
