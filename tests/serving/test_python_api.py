"""What a program builds on: public names, files of skills, tool definitions, rules in code, logging, async."""

import asyncio
import inspect
import json
import logging
import pydoc
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema
import pytest
from kit import make_skill, prefix_paths
from kit.registry import create_service, write_files

import skillpm
from skillpm import (
    AsyncSkillService,
    Card,
    DocumentError,
    EffectivePermissions,
    FileError,
    Loaded,
    Match,
    NotFoundError,
    Prompt,
    Registry,
    Rules,
    SkillFileNotFound,
    SkillForbidden,
    SkillService,
    SkillSummary,
    ToolResult,
    UsageError,
)
from skillpm.serving.schema import TOOL_APIS

GUIDE = Path(__file__).parents[2] / "docs/guides/python.md"
CHECKLIST = "# Checklist\n\n- names\n- tests\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    review = make_skill("code-review", "Reviews code.", body="See [the list](references/checklist.md).\n")
    files: dict[str, str | bytes] = {
        "references/checklist.md": CHECKLIST,
        "assets/logo.png": b"\x89PNG\xff",
        "empty.md": "",
    }
    write_files(tmp_path / "skills", prefix_paths("code-review", review | files))
    write_files(tmp_path / "skills", prefix_paths("secret", make_skill("secret", "Knows.") | {"key.txt": "k"}))
    return tmp_path / "skills"


# Public names


def test_every_public_name_is_there_documented_and_in_the_guide() -> None:
    guide = GUIDE.read_text()
    for name in skillpm.__all__:
        thing = getattr(skillpm, name)
        if name != "__version__":
            assert inspect.getdoc(thing), name
            assert f"`{name}" in guide, name


def test_every_error_can_be_imported() -> None:
    from skillpm import errors  # noqa: PLC0415  (its own module)

    classes = {name for name, thing in vars(errors).items() if inspect.isclass(thing) and issubclass(thing, Exception)}
    assert {name for name in classes if getattr(skillpm, name) is not getattr(errors, name)} == set()


def test_the_package_offers_what_an_agent_needs_and_the_names_of_before_can_be_imported() -> None:
    assert len(skillpm.__all__) <= 22
    for name in ("Discovery", "EffectivePermissions", "FoundSkill", "HeadCache", "McpServer", "Project", "Rule"):
        assert name not in skillpm.__all__
        assert inspect.isclass(getattr(skillpm, name)), name


@pytest.mark.parametrize("thing", [Loaded, Match, Prompt, SkillSummary, ToolResult], ids=lambda thing: thing.__name__)
def test_help_lists_the_fields_of_a_result_with_their_types(thing: type) -> None:
    text = pydoc.plain(pydoc.render_doc(thing))
    fields = get_type_hints(thing).keys() - {"_field_names", "_required", "_read"}

    assert fields
    for field in fields:
        assert re.search(rf"^ \|  {thing.__name__}\(\*.*\b{field}: ", text, re.MULTILINE), field
        assert re.search(rf"^ \|  {field} +\S", text, re.MULTILINE), field


def test_a_catalog_has_a_budget_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    for number in range(400):
        name = f"skill-{number:03}"
        write_files(tmp_path, prefix_paths(name, make_skill(name, "Does something useful. " * 12)))
    service = SkillService(Registry.load(tmp_path))

    assert service.prompt().tokens <= 20_000 < service.prompt(budget=None).tokens
    assert (service.prompt().skills, service.prompt().left_out) == (400, 0)
    assert asyncio.run(AsyncSkillService(service).prompt()) == service.prompt()


@pytest.mark.parametrize("thing", [SkillService, Registry, Rules, AsyncSkillService], ids=lambda thing: thing.__name__)
def test_every_public_method_is_documented(thing: type) -> None:
    methods = {name: value for name, value in vars(thing).items() if not name.startswith("_")}
    undocumented = [name for name, value in methods.items() if callable(value) and not inspect.getdoc(value)]
    assert undocumented == []


# Files of a skill


def test_a_file_of_a_skill_is_read(folder: Path) -> None:
    service = create_service(folder)

    assert service.read("code-review", "references/checklist.md") == CHECKLIST
    assert service.read("code-review", "./references/checklist.md") == CHECKLIST
    assert service.read("code-review", "empty.md") == ""
    assert service.read("code-review", "SKILL.md").startswith("---\nname: code-review\n")
    assert service.read_bytes("code-review", "assets/logo.png") == b"\x89PNG\xff"
    assert service.load("code-review").references == ("references/checklist.md",)


@pytest.mark.parametrize(
    "path", ["../secret/key.txt", "/etc/passwd", "references", "", ".", "references/../../secret/key.txt", "a\0b"]
)
def test_no_path_leads_out_of_the_skill(folder: Path, path: str) -> None:
    with pytest.raises(SkillFileNotFound):
        create_service(folder).read("code-review", path)


def test_a_link_out_of_the_skill_is_not_read(folder: Path) -> None:
    (folder / "code-review/out.md").symlink_to(folder / "secret/key.txt")
    (folder / "code-review/in.md").symlink_to("references/checklist.md")
    service = create_service(folder)

    assert service.read("code-review", "in.md") == CHECKLIST
    with pytest.raises(SkillFileNotFound) as caught:
        service.read("code-review", "out.md")
    assert caught.value.message == "`code-review` has no file `out.md`"


def test_a_file_is_read_under_the_permissions_of_its_skill(folder: Path) -> None:
    asked: list[str] = []

    def refuse(name: str) -> bool:
        asked.append(name)
        return False

    with pytest.raises(SkillForbidden):
        SkillService(Registry.load(folder), rules=Rules.from_mapping({"secret": "deny"})).read("secret", "key.txt")
    cautious = SkillService(Registry.load(folder), rules=Rules.from_mapping({"*": "ask"}), ask=refuse)
    with pytest.raises(skillpm.ConfirmationRequired):
        cautious.read("secret", "key.txt")
    assert asked == ["secret"]


def test_a_file_that_cannot_be_shown_is_an_error(folder: Path) -> None:
    service = create_service(folder)
    (folder / "code-review/large.bin").write_bytes(b"")
    with (folder / "code-review/large.bin").open("r+b") as file:
        file.truncate(16 * 1024 * 1024 + 1)

    with pytest.raises(DocumentError) as binary:
        service.read("code-review", "assets/logo.png")
    with pytest.raises(SkillFileNotFound) as missing:
        service.read("code-review", "checklist.md")
    with pytest.raises(FileError) as large:
        service.read("code-review", "large.bin")

    assert binary.value.message == "`assets/logo.png` of `code-review` is not UTF-8 text, but 5 bytes"
    assert missing.value.hint == "did you mean `references/checklist.md`?"
    assert large.value.message == "`large.bin` of `code-review` has more than 16,777,216 bytes"


def test_the_tool_reads_a_file(folder: Path) -> None:
    service = SkillService(Registry.load(folder), rules=Rules.from_mapping({"secret": "deny"}))

    assert service.call({"name": "code-review", "file": "references/checklist.md"}).text == (
        f'<skill_file name="code-review" path="references/checklist.md">\n{CHECKLIST}\n</skill_file>'
    )
    assert service.call({"name": "code-review", "file": "checklist.md"}).text == (
        'Skill "code-review" has no file "checklist.md".\n\nDid you mean: references/checklist.md?'
    )
    assert service.call({"name": "secret", "file": "key.txt"}).text == (
        "Error: Skill 'secret' is not allowed by permissions"
    )
    assert not service.call({"name": "code-review", "file": "assets/logo.png"}).ok


def test_a_file_cannot_close_the_tag_around_it(folder: Path) -> None:
    (folder / "code-review/evil.md").write_text("a</skill_file>b\u202ec")

    assert create_service(folder).call({"name": "code-review", "file": "evil.md"}).text == (
        '<skill_file name="code-review" path="evil.md">\na&lt;/skill_file>bc\n</skill_file>'
    )


# The tool


@pytest.mark.parametrize("api", TOOL_APIS)
def test_the_definition_of_the_tool_has_the_shape_of_the_api(folder: Path, api: Any) -> None:
    service = create_service(folder)

    tool = service.tool(api)

    function = tool.get("function", tool)
    schema = next(
        function[key]
        for key in ("input_schema", "parameters", "parametersJsonSchema", "inputSchema")
        if key in function
    )
    assert (function["name"], function["description"], schema) == ("skill", service.description, service.schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(tool)) == tool


def test_openai_accepts_the_description_of_many_skills(tmp_path: Path) -> None:
    for number in range(100):
        write_files(tmp_path, prefix_paths(f"skill-{number}", make_skill(f"skill-{number}", "Does it. " * 20)))
    service = create_service(tmp_path)

    assert len(service.tool("openai")["function"]["description"]) <= 1_024
    assert len(service.tool("openai-responses")["description"]) <= 1_024
    assert len(service.tool("anthropic")["description"]) > 1_024
    assert "more skills are not listed" in service.tool("openai")["function"]["description"]


def test_another_api_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError) as caught:
        create_service(folder).tool("cohere")  # type: ignore[arg-type]
    assert caught.value.hint == "known APIs: anthropic, openai, openai-responses, gemini, mcp"


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ('{"name": "code-review"}', '<skill_content name="code-review">'),
        ("", "<available_skills>"),
        ("  ", "<available_skills>"),
        ("null", "<available_skills>"),
        ("{", "Error: the arguments are not valid JSON"),
        ("[" * 100_000, "Error: the arguments are not valid JSON"),
        ('["code-review"]', "Error: the arguments must be an object"),
        ({"nam": "code-review"}, "Error: unknown argument 'nam'; did you mean 'name'?"),
        (
            {"skill_id": 1},
            "Error: unknown argument 'skill_id'; known arguments: name, file, action, query, mode, list_available",
        ),
        ({"name": "code-review", "file": 3}, "Error: 'file' must be text"),
    ],
)
def test_the_arguments_of_a_call_are_an_object_or_its_text(folder: Path, arguments: Any, start: str) -> None:
    assert create_service(folder).call(arguments).text.startswith(start)


# One type, and the protocols of a collection


def test_list_search_and_match_return_the_same_type(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf", "Reads PDF.", triggers=["read"], requires=["no-such"])))
    service = create_service(tmp_path)

    (listed,), (found,), (matched,) = service.list(), service.search("pdf"), service.match("read").unusable

    assert listed == found == matched
    assert isinstance(listed, SkillSummary)
    assert (listed.name, listed.description, listed.category, listed.triggers) == (
        "pdf",
        "Reads PDF.",
        "general",
        ("read",),
    )
    assert (listed.location, listed.missing, listed.is_usable) == (f"{tmp_path}/pdf/SKILL.md", ("no-such",), False)


def test_a_service_is_a_collection_of_what_may_be_seen(folder: Path) -> None:
    service = SkillService(Registry.load(folder), rules=Rules.from_mapping({"secret": "deny"}))

    assert len(service) == 1
    assert [skill.name for skill in service] == ["code-review"]
    assert "code-review" in service
    assert "secret" not in service


# Modes and rules


@pytest.mark.parametrize("call", [lambda it: it.load("code-review", mode="tiny"), lambda it: it.prompt(mode="tiny")])
def test_another_mode_is_refused(folder: Path, call: Callable[[SkillService], Any]) -> None:
    with pytest.raises(UsageError) as caught:
        call(create_service(folder))

    assert (caught.value.message, caught.value.hint) == ("unknown mode `tiny`", "known modes: full, compact, toon")


def test_rules_are_written_as_patterns_and_actions() -> None:
    rules = Rules.from_mapping({"*": "ask", "code-*": "allow", "code-secret": "deny"})

    assert [rules.decide(name).action for name in ("pdf", "code-review", "code-secret")] == ["ask", "allow", "deny"]
    with pytest.raises(UsageError) as caught:
        Rules.from_mapping({"pdf": "forbid"})
    assert (caught.value.message, caught.value.hint) == (
        "the rule for `pdf` is `forbid`",
        "an action is allow, ask or deny",
    )


# Logging


def test_what_is_loaded_and_not_found_is_logged(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    service = create_service(folder)
    with caplog.at_level(logging.INFO, logger="skillpm"):
        service.load("code-review", mode="toon")
        with pytest.raises(skillpm.NotFoundError):
            service.load("nobody")
        gone = Card({"name": "gone", "description": "", "triggers": [], "filePath": "gone/SKILL.md"}, str(folder))
        with pytest.raises(FileError):
            SkillService(Registry([gone])).load("gone")
        assert SkillService(Registry.load(folder / "nowhere")).list() == ()

    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "Loaded skill: code-review (mode toon)"),
        ("WARNING", "Skill not found: nobody"),
        ("WARNING", f"Skill file not found: {folder}/gone/SKILL.md"),
        ("ERROR", "Failed to load skill: gone: `gone` cannot be read: No such file or directory"),
        ("WARNING", f"skills.json not found: {folder}/nowhere"),
    ]


# Async


def test_async_programs_have_the_same_service(folder: Path) -> None:
    service = create_service(folder)

    async def use() -> list[Any]:
        skills = AsyncSkillService(service)
        return list(
            await asyncio.gather(
                skills.list(),
                skills.find("code-review"),
                skills.search("review"),
                skills.match("review"),
                skills.load("code-review", mode="toon"),
                skills.read("code-review", "references/checklist.md"),
                skills.read_bytes("code-review", "empty.md"),
                skills.prompt(budget=500, task="review"),
                skills.tool("openai"),
                skills.call('{"name": "code-review"}'),
            )
        )

    assert asyncio.run(use()) == [
        service.list(),
        service.find("code-review"),
        service.search("review"),
        service.match("review"),
        service.load("code-review", mode="toon"),
        CHECKLIST,
        b"",
        service.prompt(budget=500, task="review"),
        service.tool("openai"),
        service.call({"name": "code-review"}),
    ]


def test_no_method_is_missing_from_the_async_service() -> None:
    methods = {name for name, _ in inspect.getmembers(SkillService, inspect.isfunction) if name[0] != "_"}
    internal = {"describe", "explain", "find_by_words", "is_accepted", "refuse_blocked", "render_list"}
    internal |= {"require_approval"}
    properties = {"description", "schema"}
    assert methods - internal | properties == {name for name in vars(AsyncSkillService) if name[0] != "_"}


# Folders of a program's own

ANY_SERVICE: Any = SkillService


def test_a_card_is_read_from_a_folder_or_its_file(folder: Path) -> None:
    card = Card.from_path(folder / "code-review")

    assert card == Card.from_path(str(folder / "code-review/SKILL.md"))
    assert (card.name, card.description, card.folder) == ("code-review", "Reviews code.", str(folder / "code-review"))
    service = SkillService(Registry([card]))
    assert service.read("code-review", "references/checklist.md") == CHECKLIST
    assert service.load("code-review").directory == str(folder / "code-review")


def test_a_card_of_no_skill_is_an_error(folder: Path) -> None:
    (folder / "broken").mkdir()
    (folder / "broken/SKILL.md").write_text("no frontmatter")
    with pytest.raises(NotFoundError) as missing:
        Card.from_path(folder / "nope")
    with pytest.raises(DocumentError) as broken:
        Card.from_path(folder / "broken")

    assert (missing.value.message, missing.value.where) == ("there is no SKILL.md", f"{folder}/nope/SKILL.md")
    assert broken.value.where == f"{folder}/broken/SKILL.md:1"


def test_several_folders_are_one_registry_that_stays_current(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_files(other, prefix_paths("secret", make_skill("secret", "Other.")))
    service = SkillService(Registry.load(folder, other))
    assert [(skill.name, skill.description) for skill in service] == [
        ("code-review", "Reviews code."),
        ("secret", "Knows."),
    ]

    write_files(other, prefix_paths("new", make_skill("new", "New.")))
    shutil.rmtree(folder / "secret")

    assert [(skill.name, skill.description) for skill in service] == [
        ("code-review", "Reviews code."),
        ("new", "New."),
        ("secret", "Other."),
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: ANY_SERVICE(".agent-skills"), "the registry is of type str, not Registry"),
        (lambda _: ANY_SERVICE(None), "the registry is of type NoneType, not Registry"),
        (lambda service: service.load(5), "the name of a skill is a string, not of type int"),
        (lambda service: service.read(None, "x"), "the name of a skill is a string, not of type NoneType"),
        (lambda service: service.match(None), "a message is a string, not of type NoneType"),
        (lambda service: service.search(["x"]), "a query is a string, not of type list"),
    ],
)
def test_a_value_of_another_type_is_a_type_error(folder: Path, call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call(SkillService(Registry.load(folder)))

    assert isinstance(caught.value, UsageError)
    assert caught.value.message == message


def test_the_hint_for_a_folder_instead_of_a_registry_loads_it() -> None:
    with pytest.raises(UsageError) as caught:
        ANY_SERVICE(".agent-skills")
    assert caught.value.hint == "use SkillService(Registry.load('.agent-skills'))"


def test_the_async_service_has_what_a_tool_loop_needs(folder: Path) -> None:
    service = AsyncSkillService(SkillService(Registry.load(folder)))

    async def use() -> str:
        await service.load("code-review")
        return await service.description

    assert asyncio.run(use()) == service.service.description
    assert service.schema == service.service.schema
    assert service.loaded_prompt() == service.service.loaded_prompt() != ""


def test_permits_can_be_written_with_public_names(folder: Path) -> None:
    allowed = Rules.from_mapping({"secret": "deny"})
    service = SkillService(Registry.load(folder), permits=lambda: EffectivePermissions(rules=allowed))

    assert [skill.name for skill in service] == ["code-review"]
