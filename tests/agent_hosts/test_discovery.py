"""Discovery from Python: precedence, caching, and warnings."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import get_args

import pytest
from agent_hosts.world import HostWorkspace

import skillpm
from skillpm import Discovery, HeadCache, Registry, SkillpmError, discover
from skillpm.formats.host_profile import ScopeName


def mine(world: HostWorkspace, *folders: str, **profile: str) -> None:
    """Define a custom host in config.toml with these folders, highest precedence first."""
    lines = [f'{key} = "{value}"\n' for key, value in profile.items()]
    roots = [f'[[profiles.mine.roots]]\nscope = "user"\npaths = ["{folder}"]\n' for folder in folders]
    world.write("home/.config/skillpm/config.toml", "".join(["[profiles.mine]\n", *lines, *roots]))


def look(world: HostWorkspace, agent: str = "mine", cache: HeadCache | None = None) -> Discovery:
    return discover(agent, settings=world.settings(), cache=cache)


def test_first_skill_with_a_name_wins_and_others_are_reported(world: HostWorkspace) -> None:
    """Reported are the name, the hidden and the winning path, and the reason."""
    for folder in ("one", "two", "three"):
        world.write_skill(f"home/{folder}/pdf", description=f"From {folder}.")
    mine(world, "~/two", "~/one", "~/three")
    found = look(world)
    assert [(skill.name, skill.description) for skill in found.skills] == [("pdf", "From two.")]
    assert [tuple(world.shorten_paths(part) for part in hidden) for hidden in found.shadowed] == [
        ("pdf", "~/one/pdf/SKILL.md", "~/two/pdf/SKILL.md", "~/two (user) takes precedence over ~/one (user)"),
        ("pdf", "~/three/pdf/SKILL.md", "~/two/pdf/SKILL.md", "~/two (user) takes precedence over ~/three (user)"),
    ]


def test_first_path_wins_within_one_folder(world: HostWorkspace) -> None:
    """In whatever order the file system lists them."""
    for folder in ("b", "a", "c"):
        world.write_skill(f"home/one/{folder}", "pdf", description=f"From {folder}.")
    mine(world, "~/one")
    found = look(world)
    assert [skill.description for skill in found.skills] == ["From a."]
    assert {hidden.why for hidden in found.shadowed} == {
        "both are in the same skills folder, and the first by path wins"
    }


def test_skillpm_and_claude_code_name_a_skill_by_folder_and_other_hosts_by_frontmatter(world: HostWorkspace) -> None:
    for folder in (".agent-skills", ".claude/skills"):
        world.write_skill(f"home/{folder}/review", "My Review!")

    assert "review" in look(world, "skillpm").names
    assert look(world, "claude-code").names == ("review",)
    assert look(world, "opencode").names == ("My Review!",)
    assert Registry.load(world.home / ".agent-skills").names == ("review",)


def test_host_may_show_duplicates(world: HostWorkspace) -> None:
    """As Codex does: a warning, and nothing is hidden."""
    for folder in ("one", "two"):
        world.write_skill(f"home/{folder}/pdf")
    mine(world, "~/one", "~/two", duplicates="both")
    found = look(world)
    assert (found.names, found.shadowed) == (("pdf", "pdf"), ())
    assert [world.shorten_paths(str(warning)) for warning in found.warnings] == [
        "~/two/pdf/SKILL.md: duplicate name `pdf`; mine shows both, the other is ~/one/pdf/SKILL.md"
    ]


@pytest.mark.parametrize(
    ("agent", "folder", "message"),
    [
        ("brutus", ".claude/skills", "no name; brutus ignores skills without one"),
        ("opencode", ".claude/skills", "no name; opencode ignores skills without one"),
        ("glm", ".glm/skills", "no name; glm ignores skills without one"),
        ("omega", ".omega/skills", "no name; omega ignores skills without one"),
        ("codex", ".agents/skills", "no description; codex ignores skills without one"),
        ("agentskills", ".agents/skills", "no description; agentskills ignores skills without one"),
    ],
)
def test_host_ignores_skills_without_required_keys(world: HostWorkspace, agent: str, folder: str, message: str) -> None:
    """With a warning; skillpm itself falls back to the folder's name."""
    for name, key in (("no-name", "description"), ("no-description", "name")):
        world.write(f"home/{folder}/{name}/SKILL.md", f"---\n{key}: x\n---\n")
        world.write(f"home/.agent-skills/{name}/SKILL.md", f"---\n{key}: x\n---\n")
    found = look(world, agent)
    place = "no-name" if "name" in message.partition(",")[0] else "no-description"
    assert f"~/{folder}/{place}/SKILL.md: {message}" in [
        world.shorten_paths(str(warning)) for warning in found.warnings
    ]
    assert world.shorten_paths(str([skill.path for skill in found.skills])).count(place) == 0

    everything = look(world, "skillpm")
    own = [(skill.name, skill.description) for skill in everything.skills if skill.scope == "user"]
    assert own == [("no-description", ""), ("no-name", "x")]


@pytest.mark.parametrize("word", ["glm-cli", "opencode", "'*'", "all"])
def test_glm_accepts_only_known_compatibilities(world: HostWorkspace, word: str) -> None:
    """Only GLM filters by compatibility."""
    world.write("home/.claude/skills/pdf/SKILL.md", f"---\nname: pdf\ndescription: d\ncompatibility: {word}\n---\n")
    world.write("home/.claude/skills/docx/SKILL.md", "---\nname: docx\ndescription: d\ncompatibility: other\n---\n")
    assert look(world, "glm").names == ("pdf",)
    assert look(world, "claude-code").names == ("docx", "pdf")


def test_only_frontmatter_is_read(world: HostWorkspace) -> None:
    """The body is not parsed until the skill is loaded, so its faults are not reported yet."""
    body = b"x" * 100_000 + b"\xff\0"
    world.write("home/one/pdf/SKILL.md", b"---\nname: pdf\ndescription: d\n---\n" + body)
    mine(world, "~/one")
    assert (look(world).names, look(world).warnings) == (("pdf",), ())


def test_long_frontmatter_is_read_completely(world: HostWorkspace) -> None:
    comments = "".join(f"# {number}\n" for number in range(5000))
    world.write("home/one/pdf/SKILL.md", f"---\nname: pdf\n{comments}description: At the end.\n---\nbody\n")
    mine(world, "~/one")
    assert [skill.description for skill in look(world).skills] == ["At the end."]


def test_unchanged_file_is_not_read_again(world: HostWorkspace) -> None:
    """The cache is keyed by path, size, times and inode."""
    path = world.write_skill("home/one/pdf", description="First.")
    world.write_skill("home/one/docx", description="Other.")
    mine(world, "~/one")
    cache = HeadCache(rest=0)

    def descriptions_and_reads() -> tuple[list[str], int]:
        before = cache.reads
        return [skill.description for skill in look(world, cache=cache).skills], cache.reads - before

    assert descriptions_and_reads() == (["Other.", "First."], 2)
    assert descriptions_and_reads() == (["Other.", "First."], 0)
    path.write_text(path.read_text().replace("First.", "Second."))
    assert descriptions_and_reads() == (["Other.", "Second."], 1)
    path.replace(world.home / "one/docx/SKILL.md")
    assert descriptions_and_reads() == (["Second."], 1)
    world.write_skill("home/one/new", description="New.")
    assert descriptions_and_reads() == (["New.", "Second."], 1)


def test_recently_changed_file_is_not_cached(world: HostWorkspace) -> None:
    """A second write of the same size within one clock tick leaves the same stat."""
    path = world.write_skill("home/one/pdf", description="First.")
    mine(world, "~/one")
    cache = HeadCache()
    assert [skill.description for skill in look(world, cache=cache).skills] == ["First."]
    path.write_text(path.read_text().replace("First.", "Other."))
    assert [skill.description for skill in look(world, cache=cache).skills] == ["Other."]
    assert cache.reads == 2


def test_threads_may_share_a_cache(world: HostWorkspace) -> None:
    """One search is sequential, which is faster, but several callers may run at once."""
    for number in range(100):
        world.write_skill(f"home/one/skill-{number}")
    mine(world, "~/one")
    cache = HeadCache()
    found: list[Discovery] = []
    threads = [threading.Thread(target=lambda: found.append(look(world, cache=cache))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert found == [look(world)] * 8
    assert len(found[0].skills) == 100


def test_found_skill_has_name_description_and_absolute_path(world: HostWorkspace) -> None:
    """Skills are looked up by name or iterated."""
    world.write_skill("home/one/pdf", description="Reads PDFs.")
    mine(world, "~/one")
    found = look(world)
    pdf = found.get("pdf")
    assert pdf is not None
    assert (pdf.name, pdf.description, pdf.path) == ("pdf", "Reads PDFs.", f"{world.home}/one/pdf/SKILL.md")
    assert found.get("docx") is None
    assert found.names == ("pdf",)


@pytest.mark.parametrize(
    ("config", "where", "message"),
    [
        ("skills =", "", "invalid TOML: Invalid value (at end of document)"),
        ("discovery = 1", ": discovery", "expected an object, got 1"),
        ("discovery.additional-paths = 'x'", ": discovery.additional-paths", 'expected an array, got "x"'),
        ("discovery.additional-paths = ['']", ": discovery.additional-paths.0", 'expected a path, got ""'),
        ("discovery.disable-claude-path = true", ": discovery.disable-claude-path",
         "unknown key `disable-claude-path`; did you mean `disable-claude-paths`?"),
        ("discovery.disable-claude-paths = 2026-01-01", ": discovery.disable-claude-paths",
         'expected true or false, got "2026-01-01"'),
        ("skills.enabled = 'no'", ": skills.enabled", 'expected true or false, got "no"'),
        ("profiles.mine = {}", ": profiles.mine", "`roots` is missing"),
        ("profiles.mine.roots = [{paths = ['x']}]", ": profiles.mine.roots.0", "`scope` is missing"),
        ("profiles.mine.roots = [{scope = 'all', paths = ['x']}]", ": profiles.mine.roots.0.scope",
         f'expected one of {", ".join(get_args(ScopeName))}, got "all"'),
        ("profiles.mine.roots = [{scope = 'project', paths = ['../x']}]", ": profiles.mine.roots.0.paths.0",
         'expected a path inside the project, got "../x"'),
        ("profiles.mine.roots = [{scope = 'project', paths = ['~/x']}]", ": profiles.mine.roots.0.paths.0",
         'expected a path inside the project, got "~/x"'),
        ("profiles.mine.roots = [{scope = 'user', paths = ['~/x'], depth = 7}]", ": profiles.mine.roots.0.depth",
         "expected a number from 1 to 6, got 7"),
        ("profiles.mine = {roots = [], requires = ['licence']}", ": profiles.mine.requires.0",
         'expected one of name, description, got "licence"'),
    ],
)  # fmt: skip
def test_invalid_settings_are_reported_with_their_location(
    world: HostWorkspace, config: str, where: str, message: str
) -> None:
    file = world.write("home/.config/skillpm/config.toml", config)
    with pytest.raises(SkillpmError) as caught:
        look(world, "skillpm")
    assert (caught.value.message, caught.value.where) == (message, f"{file}{where}")


def test_custom_host_may_replace_a_known_one(world: HostWorkspace) -> None:
    world.write_skill("home/one/pdf")
    mine(world, "~/one")
    path = world.home / ".config/skillpm/config.toml"
    path.write_text(path.read_text().replace("profiles.mine", "profiles.claude-code"))
    assert look(world, "claude-code").names == ("pdf",)


def test_unknown_host_is_reported_with_suggestions(world: HostWorkspace) -> None:
    with pytest.raises(SkillpmError) as caught:
        look(world, "claude")
    assert (caught.value.code, caught.value.message) == ("not-found", "unknown agent `claude`")
    assert caught.value.hint == "did you mean `claude-code`?"
    with pytest.raises(SkillpmError) as caught:
        look(world, "../../x")
    assert caught.value.hint == (
        "known agents: agentskills, brutus, claude-code, codex, glm, omega, opencode, skillpm, supercode, "
        "and those that `skillpm agents --all` lists"
    )


def test_missing_working_directory_is_an_error(world: HostWorkspace) -> None:
    with pytest.raises(SkillpmError) as caught:
        discover(directory="nowhere", settings=world.settings())
    assert caught.value.message == f"the folder {world.app}/nowhere does not exist"


def test_python_program_needs_one_import(world: HostWorkspace) -> None:
    world.write_skill("home/code/repo/app/.claude/skills/pdf")
    code = "from skillpm import discover; print(discover('claude-code').names)"
    environ = {"HOME": str(world.home), "PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=world.app, env=environ, capture_output=True, text=True, check=True
    )
    assert result.stdout == "('pdf',)\n"


def test_public_names_are_loaded_on_use_and_no_others_exist() -> None:
    stub = (Path(skillpm.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
    for name in skillpm.__all__:
        assert getattr(skillpm, name) is not None
        assert f" {name} as {name}\n" in stub or f"{name}: " in stub
    assert dir(skillpm) == sorted(skillpm.__all__)
    with pytest.raises(AttributeError, match="module 'skillpm' has no attribute 'nothing'"):
        skillpm.nothing  # type: ignore[attr-defined]  # noqa: B018


FIXTURES = {
    "valid-skill": "---\nname: valid-skill\ndescription: A valid one.\n---\nbody\n",
    "colon-in-value": "---\nname: colon-in-value\ndescription: Use this: it has a colon.\n---\n",
    "missing-name": "---\ndescription: It has no name.\n---\n",
    "nested/deep": "---\nname: deep\ndescription: Found at any depth.\n---\n",
    "in-toml": '---\nname = "in-toml"\ndescription = "TOML is not read."\n---\n',
    "git-release": "---\nname: git-release\ndescription: Release it.\nmetadata:\n  name: other\n---\n",
    "playwright-mcp-1.0.0": "---\nname: playwright-mcp\ndescription: Named otherwise.\n---\n",
}


def test_fixtures_named_in_host_specifications(world: HostWorkspace) -> None:
    """One invalid file affects no other, and a name may differ from its folder's."""
    for folder, content in FIXTURES.items():
        world.write(f"home/.claude/skills/{folder}/SKILL.md", content)
    found = look(world, "brutus")
    assert [(skill.name, skill.description) for skill in found.skills] == [
        ("colon-in-value", "Use this: it has a colon."),
        ("deep", "Found at any depth."),
        ("git-release", "Release it."),
        ("playwright-mcp", "Named otherwise."),
        ("valid-skill", "A valid one."),
    ]
    assert [world.shorten_paths(str(warning)) for warning in found.warnings] == [
        "~/.claude/skills/in-toml/SKILL.md: no name; brutus ignores skills without one (its frontmatter is TOML)",
        "~/.claude/skills/missing-name/SKILL.md: no name; brutus ignores skills without one",
    ]


# What hosts make of imperfect files, as `bench/host_discovery.py` measured it.


FORMS = {
    "plain": "---\nname: plain\ndescription: Does it.\n---\nBody.\n",
    "colon": "---\nname: colon\ndescription: Use when: asked\n---\nBody.\n",
    "no-description": "---\nname: no-description\n---\n# A title\n\nBody.\n",
    "empty-description": "---\nname: empty-description\ndescription:\n---\nBody.\n",
    "list": "---\nname: list\ndescription: [one, two]\n---\nBody.\n",
    "broken": "---\nname: broken\ndescription: [unclosed\n---\nBody.\n",
    "blank": "\n\n---\nname: blank\ndescription: Does it.\n---\nBody.\n",
    "bom": "\ufeff---\nname: bom\ndescription: Does it.\n---\nBody.\n",
    "toml": '---\nname = "toml"\ndescription = "Does it."\n---\nBody.\n',
    "fence": '+++\nname = "fence"\ndescription = "Does it."\n+++\nBody.\n',
    "none": "# Only text\n",
    "nothing": "",
    "node_modules/inner": "---\nname: inner\ndescription: Does it.\n---\nBody.\n",
}


def test_opencode_reads_only_what_is_valid(world: HostWorkspace) -> None:
    for folder, content in FORMS.items():
        world.write(f"home/.agents/skills/{folder}/SKILL.md", content)
    world.write("home/.agents/skills/lower/skill.md", FORMS["plain"])

    assert look(world, "opencode").names == ("bom", "colon", "inner", "no-description", "plain")


def test_claude_code_lists_every_file_and_describes_it_by_its_body(world: HostWorkspace) -> None:
    for folder, content in FORMS.items():
        world.write(f"home/.claude/skills/{folder}/SKILL.md", content)

    assert {skill.name: skill.description for skill in look(world, "claude-code").skills} == {
        "blank": "---",
        "bom": "---",
        "broken": "[unclosed",
        "colon": "Use when: asked",
        "empty-description": "Body.",
        "fence": "+++",
        "list": "Body.",
        "no-description": "A title",
        "none": "Only text",
        "nothing": "Skill",
        "plain": "Does it.",
        "toml": "Body.",
    }


@pytest.mark.parametrize("agent", ["opencode", "claude-code"])
def test_without_a_repository_the_search_goes_up_to_the_top(world: HostWorkspace, agent: str) -> None:
    world.write_skill("outside/.claude/skills/above", "above")
    world.write("outside/deep/er/notes.md", "")

    found = discover(agent, settings=world.settings("outside/deep/er"))

    assert "above" in found.names
