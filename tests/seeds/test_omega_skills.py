"""omega-skills, "Tests": its thirty tests, in its order and under its names."""

from pathlib import Path

import pytest
from kit import Sandbox
from kit.registry import create_service, write_files

from skillpm import Registry, SkillService
from skillpm.serving.availability import Environment
from skillpm.serving.projects import get_project_instructions, load_projects
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

TOML = """\
---
name = "gog"
description = "Google Workspace CLI."
requires = ["gog"]
homepage = "https://gogcli.sh"
---

# Gog
"""
YAML = """\
---
name: playwright-mcp
description: Browser automation via Playwright MCP.
requires: [npx, playwright-mcp]
homepage: https://playwright.dev
---

# Playwright
"""
TOML_MCP = """\
---
name = "playwright-mcp"
description = "Browser automation via Playwright MCP."
requires = ["npx"]
trigger = "browse|website|click|screenshot|navigate|scrape|web page"

[mcp.playwright]
command = "npx"
args = ["@playwright/mcp", "--headless"]
---
"""
YAML_MCP = """\
---
name: browser-tool
description: Browser automation.
requires: [npx]
trigger: browse|website
mcp-playwright: npx @playwright/mcp --headless
---
"""
PLAYWRIGHT = ("playwright", "npx", ("@playwright/mcp", "--headless"))


def browsing(tmp_path: Path, *texts: str, programs: tuple[str, ...] = ("npx",)) -> SkillService:
    """Serve skills on a machine with some programs installed."""
    for number, text in enumerate(texts):
        write_files(tmp_path / "skills", {f"s{number}/SKILL.md": text})
    for program in programs:
        write_files(tmp_path / "bin", {program: "#!/bin/sh\n"})
        (tmp_path / "bin" / program).chmod(0o755)
    return create_service(tmp_path / "skills", environ={"PATH": str(tmp_path / "bin")})


def servers(service: SkillService, message: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(server.name, server.command, server.args) for server in service.match(message).servers]


def test_valid_toml_frontmatter_parsing() -> None:
    found = read_skill(TOML.encode())

    assert (found.declared, found.description) == ("gog", "Google Workspace CLI.")
    assert (found.requires.bins, found.homepage) == (("gog",), "https://gogcli.sh")


def test_valid_yaml_frontmatter_parsing() -> None:
    found = read_skill(YAML.encode())

    assert (found.declared, found.description) == ("playwright-mcp", "Browser automation via Playwright MCP.")
    assert (found.requires.bins, found.homepage) == (("npx", "playwright-mcp"), "https://playwright.dev")


def test_yaml_with_openclaw_metadata_json_extracts_bins() -> None:
    text = '---\nname: a\ndescription: b\nmetadata: {"openclaw":{"requires":{"bins":["gh","jq"]}}}\n---\n'

    assert read_skill(text.encode()).requires.bins == ("gh", "jq")


@pytest.mark.parametrize("quote", ['"', "'"])
def test_yaml_with_quoted_values_single_and_double_quotes(quote: str) -> None:
    text = f"---\nname: {quote}a{quote}\ndescription: {quote}b: c{quote}\nrequires: [{quote}npx{quote}]\n---\n"
    found = read_skill(text.encode())

    assert (found.declared, found.description, found.requires.bins) == ("a", "b: c", ("npx",))


def test_missing_frontmatter_returns_none() -> None:
    with pytest.raises(NotLoadable) as caught:
        read_skill(b"# Just a heading\n")

    assert caught.value.finding.code == "no-frontmatter"


def test_empty_requires_defaults_to_empty_vec() -> None:
    assert read_skill(b"---\nname: a\ndescription: b\n---\n").requires.bins == ()
    assert read_skill(b'---\nname = "a"\ndescription = "b"\n---\n').requires.bins == ()


def test_empty_skill_list_produces_empty_prompt(tmp_path: Path) -> None:
    assert create_service(tmp_path, style="omega").prompt().text == ""


def test_prompt_format_with_installed_and_not_installed_status(tmp_path: Path) -> None:
    service = browsing(tmp_path, TOML, YAML_MCP)

    assert service.prompt(style="omega").text.splitlines()[-2:] == [
        f"- s0 [not installed]: Google Workspace CLI. -> Read {tmp_path}/skills/s0/SKILL.md",
        f"- s1 [installed]: Browser automation. -> Read {tmp_path}/skills/s1/SKILL.md",
    ]


def test_which_detection_for_known_and_unknown_tools(tmp_path: Path) -> None:
    browsing(tmp_path)
    here = Environment({"PATH": str(tmp_path / "bin")})

    assert here.has_program("npx")
    assert not here.has_program("no-such-tool-of-anybody")


def test_missing_skills_directory_returns_empty_vec(tmp_path: Path) -> None:
    assert list(Registry.load(tmp_path / "nothing")) == []


def test_valid_skill_directory_with_toml_skill_md_loads_correctly(tmp_path: Path) -> None:
    write_files(tmp_path, {"google-workspace/SKILL.md": TOML})

    card = Registry.load(tmp_path).get("gog")

    assert card is not None
    assert (card.declared, card.description, card.requires) == ("gog", "Google Workspace CLI.", ("gog",))
    assert card.location == f"{tmp_path}/google-workspace/SKILL.md"


def test_valid_skill_directory_with_yaml_skill_md_loads_correctly(tmp_path: Path) -> None:
    write_files(tmp_path, {"playwright-mcp-1.0.0/SKILL.md": YAML})

    card = Registry.load(tmp_path).get("playwright-mcp")

    assert card is not None
    assert (card.declared, card.requires) == ("playwright-mcp", ("npx", "playwright-mcp"))


def test_flat_skill_migration_moves_md_and_skips_existing_dirs(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    skills = sandbox.home / ".omega/skills"
    write_files(skills, {"gog.md": TOML, "taken.md": YAML, "taken/SKILL.md": YAML_MCP})

    sandbox.run("migrate", str(skills), check=True)

    assert (skills / "gog/SKILL.md").read_text() == TOML
    assert not (skills / "gog.md").exists()
    assert (skills / "taken/SKILL.md").read_text() == YAML_MCP
    assert (skills / "taken.md").read_text() == YAML


def test_bundled_skills_deploy_and_never_overwrite_existing_files(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.run("install", "-g", "--bundled", check=True)
    skills = sandbox.home / ".agent-skills"
    for name in ("claude-code", "google-workspace", "playwright-mcp"):
        assert (skills / name / "SKILL.md").is_file()

    (skills / "claude-code/SKILL.md").write_text("---\nname: claude-code\ndescription: Mine.\n---\nMine.\n")
    sandbox.run("install", "-g", "--bundled")

    assert (skills / "claude-code/SKILL.md").read_text().endswith("\nMine.\n")


def test_toml_frontmatter_with_trigger_and_mcp_parses_correctly() -> None:
    found = read_skill(TOML_MCP.encode())

    assert found.triggers == ("browse", "website", "click", "screenshot", "navigate", "scrape", "web page")
    assert [(server.name, server.command, server.args) for server in found.mcp_servers] == [PLAYWRIGHT]


def test_yaml_frontmatter_with_mcp_keys_parses_correctly() -> None:
    found = read_skill(YAML_MCP.encode())

    assert found.triggers == ("browse", "website")
    assert [(server.name, server.command, server.args) for server in found.mcp_servers] == [PLAYWRIGHT]


def test_skill_without_trigger_or_mcp_has_none_or_empty_defaults() -> None:
    found = read_skill(YAML.encode())

    assert (found.triggers, found.mcp_servers) == ((), ())


def test_trigger_matching_basic_keyword_match(tmp_path: Path) -> None:
    assert servers(browsing(tmp_path, TOML_MCP), "please browse the news") == [PLAYWRIGHT]


def test_trigger_matching_no_match_returns_empty(tmp_path: Path) -> None:
    assert servers(browsing(tmp_path, TOML_MCP), "what is the weather") == []


def test_trigger_matching_case_insensitive(tmp_path: Path) -> None:
    assert servers(browsing(tmp_path, TOML_MCP), "BROWSE the Web Page") == [PLAYWRIGHT]


def test_trigger_matching_skips_unavailable_skills(tmp_path: Path) -> None:
    assert servers(browsing(tmp_path, TOML_MCP, programs=()), "browse") == []


def test_trigger_matching_deduplicates_by_server_name(tmp_path: Path) -> None:
    assert servers(browsing(tmp_path, TOML_MCP, YAML_MCP), "browse") == [PLAYWRIGHT]


def test_trigger_matching_no_trigger_field_returns_empty(tmp_path: Path) -> None:
    text = YAML_MCP.replace("trigger: browse|website\n", "")

    assert servers(browsing(tmp_path, text), "browse") == []


def test_trigger_matching_no_mcp_servers_returns_empty(tmp_path: Path) -> None:
    service = browsing(tmp_path, "---\nname: a\ndescription: b\ntrigger: browse\n---\n")

    assert servers(service, "browse") == []


def test_load_skills_with_trigger_and_mcp_from_filesystem(tmp_path: Path) -> None:
    write_files(tmp_path, {"playwright-mcp/SKILL.md": TOML_MCP})

    card = Registry.load(tmp_path).cards["playwright-mcp"]

    assert "screenshot" in card.triggers
    assert [(server.name, server.command, server.args) for server in card.mcp_servers] == [PLAYWRIGHT]


def test_missing_projects_directory_returns_empty_vec(tmp_path: Path) -> None:
    assert load_projects(str(tmp_path)) == ()


def test_valid_project_with_role_md_loads_correctly(tmp_path: Path) -> None:
    write_files(tmp_path, {"projects/real-estate/ROLE.md": "\nYou are a real estate analyst.\n"})

    (project,) = load_projects(str(tmp_path))

    assert (project.name, project.instructions) == ("real-estate", "You are a real estate analyst.")
    assert project.path == f"{tmp_path}/projects/real-estate/ROLE.md"


def test_empty_role_md_is_skipped(tmp_path: Path) -> None:
    write_files(tmp_path, {"projects/empty/ROLE.md": " \n\n"})

    assert load_projects(str(tmp_path)) == ()


def test_directory_without_role_md_is_skipped(tmp_path: Path) -> None:
    write_files(tmp_path, {"projects/none/README.md": "words"})

    assert load_projects(str(tmp_path)) == ()


def test_get_project_instructions_returns_correct_instructions_or_none(tmp_path: Path) -> None:
    write_files(tmp_path, {"projects/stocks/ROLE.md": "You track.", "projects/a/ROLE.md": "You."})
    projects = load_projects(str(tmp_path))

    assert get_project_instructions(projects, "stocks") == "You track."
    assert get_project_instructions(projects, "nobody") is None
