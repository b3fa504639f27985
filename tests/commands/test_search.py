"""`search`: what is installed, every index, what ships with the tool; servers that are slow to be asked, or silent."""

import gzip
import json
import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output, nested_keys
from kit import GitServer, Response, make_skill, prefix_paths

from skillpm import Registry, SkillService

SCHEMA = "urn:skillpm:schema:index:1"
SITE = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
ETAG = {"ETag": '"one"'}


def entry(name: str, description: str, *tags: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "category": "work", "tags": tags, "latest": "1.0.0", **more}


PDF = entry("pdf-tools", "Splits PDF files.", "acrobat")
BREW = entry("chai-brewing", "Brews chai, green or black.", "kettle")


def catalogue(*entries: Mapping[str, Any], **more: Any) -> bytes:
    return json.dumps({"$schema": SCHEMA, "name": "acme", "skills": entries, **more}).encode()


def use(scene: CommandSandbox, **indexes: str) -> None:
    places = [{"name": name, "url": url} for name, url in indexes.items()]
    scene.write("skills.json", json.dumps({"skills": {}, "indexes": places}))


def publish(server: GitServer, *entries: Mapping[str, Any], etag: str = "one", path: str = "/index.json") -> None:
    server.publish(path, Response(200, {"ETag": f'"{etag}"'}, catalogue(*entries)))


def asked(server: GitServer) -> list[tuple[str, str, int]]:
    found = [(request.method, request.path, request.status) for request in server.requests]
    server.clear_requests()
    return found


def names(scene: CommandSandbox, *words: str) -> list[str]:
    return [found["name"] for found in scene.json_output("search", *words)["results"]]


def later(scene: CommandSandbox, seconds: float) -> None:
    """Make the catalogs look as if they were fetched some seconds ago."""
    for head in (scene.cache / "v1/search").glob("*.json"):
        output = json.loads(head.read_text())
        head.write_text(json.dumps({**output, "heard": output["heard"] - seconds}))


@pytest.fixture
def acme(project: CommandSandbox, server: GitServer) -> CommandSandbox:
    """Return a project with an index of two skills."""
    publish(server, PDF, BREW)
    use(project, acme=server.address)
    project.placeholders = {server.address: "SERVER", **project.placeholders}
    return project


# Results and their presentation


def test_installed_indexed_and_bundled_skills_are_one_list(acme: CommandSandbox) -> None:
    acme.write_files(prefix_paths(".agent-skills/chai-cups", make_skill("chai-cups", "Cups for chai.")))

    assert acme.output("search", "chai") == expected_output("""\
chai-cups            installed  Cups for chai.
chai-brewing  1.0.0  acme       Brews chai, green or black.
! next: skillpm install chai-brewing
""")
    assert acme.output("search", "rest", "apis") == expected_output("""\
api-design  1.0.0  bundled  Designs and reviews HTTP/JSON APIs before they are …
! next: skillpm install api-design
""")


def test_an_installed_skill_of_an_index_is_marked_and_listed_once(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("drafts/chai", make_skill("chai", "Brews.", metadata={"version": "1.0.0"})))
    scene.run("index", "build", "drafts", "--out", "public", "--name", "acme", check=True)
    use(scene, acme="./public", other="./copy")
    assert scene.run("search", "chai").code == 1
    scene.run("index", "build", "drafts", "--out", "copy", "--name", "other", check=True)
    scene.run("install", "chai", check=True)

    found = scene.json_output("search", "chai")["results"]

    assert [(it["name"], it["index"], it["installed"], it["spec"]) for it in found] == [
        ("chai", "acme", True, ""),
        ("chai", "other", False, "chai --index other"),
    ]
    assert scene.output("search", "chai") == expected_output("""\
chai  1.0.0  installed  Brews.
chai  1.0.0  other      Brews.
""")


def test_lines_fit_the_terminal_also_with_wide_characters(acme: CommandSandbox, server: GitServer) -> None:
    publish(server, entry("wide", "茶" * 100), entry("long", "chai " * 100 + "wide"))

    lines = acme.run("search", "wide", env={"COLUMNS": "70"}).stdout.splitlines()

    assert lines == [
        "wide  1.0.0  acme  " + "茶" * 25 + "…",
        "long  1.0.0  acme  " + ("chai " * 100)[:50] + "…",
    ]


def test_as_json(acme: CommandSandbox) -> None:
    output = acme.json_output("search", "pdf", "--index", "acme")

    assert nested_keys(output) == [
        "query",
        {"results": ["name", "description", "category", "version", "source", "installed", "index", "tags", "spec"]},
        "total",
        "matched",
        "meant",
        "near",
        "suggested",
        {"indexes": ["name", "url", "skills", "ageSeconds", "fault"]},
        "warnings",
    ]
    assert output["results"] == [
        {
            "name": "pdf-tools",
            "description": "Splits PDF files.",
            "category": "work",
            "version": "1.0.0",
            "source": "SERVER/",
            "installed": False,
            "index": "acme",
            "tags": ["acrobat"],
            "spec": "pdf-tools",
        }
    ]
    assert output["indexes"] == [
        {"name": "acme", "url": "SERVER/", "skills": 2, "ageSeconds": 0, "fault": ""},
    ]


def test_the_correction_of_a_misspelled_word_is_shown(acme: CommandSandbox) -> None:
    assert acme.output("search", "kettel", "--index", "acme") == expected_output("""\
chai-brewing  1.0.0  acme  Brews chai, green or black.
! showing results for kettle (instead of kettel)
! next: skillpm install chai-brewing
""")


def test_if_no_skill_has_all_words_some_are_enough(acme: CommandSandbox) -> None:
    assert acme.output("search", "green", "acrobat", "--index", "acme").splitlines()[-2:] == [
        "! no skill has all of these words; these have some of them",
        "! next: skillpm install pdf-tools",
    ]


def test_without_results_similar_names_and_the_searched_catalogs_are_shown(acme: CommandSandbox) -> None:
    assert acme.output("search", "quux") == expected_output("""\
! no results for `quux`
! searched 0 installed, 2 in acme, 9 bundled
""")
    assert acme.output("search", "pdftools") == expected_output("""\
! no results for `pdftools`; similar names: pdf-tools
! searched 0 installed, 2 in acme, 9 bundled
""")


def test_a_limit_shows_how_many_more_results_exist(acme: CommandSandbox, server: GitServer) -> None:
    publish(server, *(entry(f"chai-{number:02}", "Chai.") for number in range(30)))

    result = acme.run("search", "chai", "--limit", "3")

    assert len(result.stdout.splitlines()) == 3
    assert result.stderr.splitlines()[0] == "3 of 30; `--limit 30` shows more"
    assert len(acme.run("search", "chai").stdout.splitlines()) == 20


def test_one_index_can_be_searched_and_an_unknown_one_is_an_error(acme: CommandSandbox) -> None:
    assert names(acme, "code", "--index", "acme") == []
    assert acme.output("search", "code", "--index", "acne") == expected_output("""\
! error: no index named `acne` is configured
!   hint: configured indexes: acme
[1]
""")
    assert acme.run("search", "code", "--index", "acme", "--installed").code == 2


# Permissions


def test_denied_skills_are_hidden_in_indexes_too(acme: CommandSandbox, server: GitServer) -> None:
    publish(server, entry("secret-plans", "Draws the plans of the vault."), entry("plans", "Draws plans."))
    rules = {**json.loads(acme.read("skills.json")), "permissions": {"secret-*": "deny", "api-design": "deny"}}
    acme.write("skills.json", json.dumps(rules))

    for words in (["plans"], ["vualt"], ["secret-plan"], ["apis", "contract"], ["api-desing"]):
        output = acme.output("search", *words) + acme.output("search", *words, "--json")
        assert "secret-plans" not in output
        assert not re.search(r"(?<![\w-])api-design(?![\w-])", output)
        assert "vault (" not in output
    assert names(acme, "plans", "--index", "acme") == ["plans"]
    assert acme.json_output("search", "plans", "--index", "acme")["total"] == 1


def test_a_denied_skill_is_neither_suggested_nor_counted(acme: CommandSandbox, server: GitServer) -> None:
    publish(server, entry("secretfoo", "Hidden wurzel."), entry("secretfop", "Shown."))
    rules = {**json.loads(acme.read("skills.json")), "permissions": {"secretfoo": "deny"}}
    acme.write("skills.json", json.dumps(rules))

    assert acme.output("search", "secretfoq", "--index", "acme") == expected_output("""\
secretfop  1.0.0  acme  Shown.
! showing results for secretfop (instead of secretfoq)
! next: skillpm install secretfop
""")
    assert acme.json_output("search", "secretfoq", "--index", "acme")["meant"] == {"secretfoq": ["secretfop"]}
    assert names(acme, "secretfoo", "--index", "acme") == ["secretfop"]
    assert acme.output("search", "quux", "--index", "acme") == expected_output("""\
! no results for `quux`
! searched 1 in acme
""")


def test_only_corrections_with_results_are_shown(acme: CommandSandbox, server: GitServer) -> None:
    publish(server, entry("kettle", "Brews chai."), entry("kettla", "Draws plans."))

    output = acme.json_output("search", "kettlx", "plans", "--index", "acme")

    assert [found["name"] for found in output["results"]] == ["kettla"]
    assert output["meant"] == {"kettlx": ["kettla"]}


# How an index is asked


def test_an_index_is_requested_at_most_once_a_minute(acme: CommandSandbox, server: GitServer) -> None:
    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == [("GET", "/index.json", 200)]

    assert names(acme, "pdf")[0] == "pdf-tools"
    assert asked(server) == []

    later(acme, 61)
    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == [("GET", "/index.json", 304)]
    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == []


def test_a_changed_catalog_is_read_again_and_the_old_database_removed(acme: CommandSandbox, server: GitServer) -> None:
    assert names(acme, "coffee") == []
    publish(server, entry("coffee", "Brews."), etag="two")
    later(acme, 61)

    assert names(acme, "coffee") == ["coffee"]
    assert names(acme, "chai") == []
    assert len([*(acme.cache / "v1/search").glob("*.sqlite")]) == 3  # of acme, of the bundled and of the public skills


def test_a_server_without_etags_works_too(acme: CommandSandbox, server: GitServer) -> None:
    server.publish("/index.json", Response(200, {}, catalogue(BREW)))
    assert names(acme, "chai") == ["chai-brewing"]
    before = sorted((acme.cache / "v1/search").glob("*.sqlite"))
    later(acme, 61)
    server.clear_requests()

    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == [("GET", "/index.json", 200)]
    assert sorted((acme.cache / "v1/search").glob("*.sqlite")) == before


def test_a_timestamp_in_the_future_is_not_fresh(acme: CommandSandbox, server: GitServer) -> None:
    names(acme, "chai")
    later(acme, -3600)
    server.clear_requests()

    names(acme, "chai")

    assert asked(server) == [("GET", "/index.json", 304)]


def test_offline_the_cached_catalog_is_searched_and_its_age_shown(acme: CommandSandbox, server: GitServer) -> None:
    assert acme.output("search", "chai", "--offline") == expected_output("""\
! warning: acme was not searched: it is not cached, and the network is disabled
! no results for `chai`
! searched 0 installed, 9 bundled
[1]
""")
    names(acme, "chai")
    later(acme, 3 * 3600)
    server.clear_requests()

    assert acme.output("search", "chai", "--offline") == expected_output("""\
chai-brewing  1.0.0  acme  Brews chai, green or black.
! acme as of 3 hours ago
! next: skillpm install chai-brewing
""")
    assert acme.json_output("search", "chai", "--offline")["indexes"][0]["ageSeconds"] // 60 == 180
    assert asked(server) == []


def test_of_an_unreachable_index_the_cached_catalog_is_searched(acme: CommandSandbox, server: GitServer) -> None:
    names(acme, "chai")
    later(acme, 120)
    server.fail_next(1, 403)

    assert acme.output("search", "chai") == expected_output("""\
chai-brewing  1.0.0  acme  Brews chai, green or black.
! warning: showing results for acme as cached 2 minutes ago: cannot read the index acme: SERVER/index.json: access \
denied (HTTP 403); add a user and password for 127.0.0.1 to ~/.netrc; for a token: \
skillpm config set indexes.acme.url SERVER/, and set SKILLPM_INDEX_ACME_TOKEN
! next: skillpm install chai-brewing
""")


def test_an_unreachable_index_without_a_cache_sets_the_exit_code(acme: CommandSandbox, server: GitServer) -> None:
    server.publish("/index.json", Response(403, {}, b""))
    use(acme, silent=server.address, other=f"{server.address}/other")
    publish(server, BREW, path="/other/index.json")

    result = acme.run("search", "chai")

    assert result.stdout == "chai-brewing  1.0.0  other  Brews chai, green or black.\n"
    assert result.code == 1
    assert acme.add_placeholders(result.stderr).startswith(
        "warning: silent was not searched: cannot read the index silent: "
    )


def test_a_compressed_catalog_is_decompressed(acme: CommandSandbox, server: GitServer) -> None:
    packed = gzip.compress(catalogue(*(entry(f"chai-{number}", "Chai. " * 50) for number in range(500))))
    server.publish("/index.json", Response(200, {**ETAG, "Content-Encoding": "gzip"}, packed))

    assert acme.json_output("search", "chai")["total"] == 500
    assert server.bytes_out == len(packed) < 10_000


def test_an_invalid_compression_is_refused(acme: CommandSandbox, server: GitServer) -> None:
    packed, cut = gzip.compress(catalogue(BREW)), 9
    for body in (packed[:-cut], packed[:12] + b"\xff" * cut + packed[12:], packed + b"x" * cut, catalogue(BREW)):
        server.publish("/index.json", Response(200, {"Content-Encoding": "gzip"}, body))
        result = acme.run("search", "chai")
        assert (result.code, result.stdout) == (1, "")
        assert "warning: acme was not searched: cannot read the index acme" in result.stderr


def test_a_decompression_bomb_ends_at_the_limit(acme: CommandSandbox, server: GitServer) -> None:
    bomb = gzip.compress(b" " * 30_000_000, 1)
    server.publish("/index.json", Response(200, {"Content-Encoding": "gzip"}, bomb))

    assert acme.add_placeholders(acme.run("search", "chai").stderr).splitlines()[0] == (
        "warning: acme was not searched: cannot read the index acme: SERVER/index.json sends more than "
        "20000000 bytes; if you trust it, raise SKILLPM_MAX_CATALOG"
    )


def test_a_site_is_searched_and_its_location_remembered(project: CommandSandbox, server: GitServer) -> None:
    one = {"name": "chai", "type": "skill-md", "description": "Brews.", "url": "chai", "digest": "sha256:" + "0" * 64}
    path = "/.well-known/agent-skills/index.json"
    server.publish(path, Response(200, ETAG, json.dumps({"$schema": SITE, "skills": [one]}).encode()))
    use(project, site=f"{server.address}/team/")

    assert names(project, "chai") == ["chai"]
    assert asked(server) == [
        ("GET", "/team/index.json", 404),
        ("GET", f"/team{path}", 404),
        ("GET", path, 200),
    ]
    later(project, 61)
    assert names(project, "chai") == ["chai"]
    assert asked(server) == [("GET", path, 304)]


def test_an_old_site_is_searched_too(project: CommandSandbox, server: GitServer) -> None:
    old = {"skills": [{"name": "chai", "description": "Brews.", "files": ["SKILL.md"]}]}
    server.publish("/.well-known/skills/index.json", json.dumps(old).encode())
    use(project, site=server.address)

    assert project.output("search", "chai") == "chai  site  Brews.\n! next: skillpm install chai\n"


def test_a_local_index_is_read_each_time(project: CommandSandbox) -> None:
    project.write("public/index.json", catalogue(BREW))
    use(project, acme="./public")
    assert names(project, "chai") == ["chai-brewing"]

    project.write("public/index.json", catalogue(entry("chai", "Brews."), BREW))

    assert names(project, "chai") == ["chai", "chai-brewing"]
    assert names(project, "chai", "--offline") == ["chai", "chai-brewing"]


def test_an_url_that_is_not_an_index_is_reported(project: CommandSandbox, server: GitServer) -> None:
    use(project, acme=server.address, here="./nowhere")
    project.placeholders = {server.address: "SERVER", **project.placeholders}

    assert project.output("search", "zzz") == expected_output("""\
! warning: acme was not searched: no index found at SERVER/: neither index.json nor\
 .well-known/agent-skills/index.json exists (WORK/skills.json: indexes)
! warning: here was not searched: cannot read the index here: ./nowhere/ is not a folder (WORK/skills.json: indexes)
! no results for `zzz`
! searched 0 installed, 9 bundled
[1]
""")


# Hostile catalogues


def test_control_characters_of_a_catalog_are_escaped(acme: CommandSandbox, server: GitServer) -> None:
    publish(server, entry("chai", "\x1b[2J\x1b]0;x\x07 chai \u202e\u200b\x00 hidden", "\x1b[31m", category="\x1b[1m"))

    result = acme.run("search", "chai")

    assert result.stdout == r"chai  1.0.0  acme  \x1b[2J\x1b]0;x\x07 chai \u202e\u200b\x00 hidden" + "\n"
    assert "\x1b" not in acme.run("search", "chai", "--json").stdout


def test_an_invalid_entry_does_not_hide_others(acme: CommandSandbox, server: GitServer) -> None:
    bad: list[Any] = [
        entry("../chai", "Chai."), entry("Chai", "Chai."), entry("chai-x", "Chai.", latest="$(x)"), "chai", None,
        {"name": "chai-y"}, entry("chai-z", 3), entry("chai-v", "Chai.", tags="no list"),  # type: ignore[arg-type]
        entry("chai-two", "Chai."), entry("chai-two", "Chai."), entry("chai-huge", "chai " * 10_000),
        entry("chai-half", "Chai \ud83d."),
    ]  # fmt: skip
    publish(server, *bad, BREW)

    result = acme.run("search", "chai", "--limit", "9")

    assert [line.split()[0] for line in result.stdout.splitlines()] == ["chai-huge", "chai-half", "chai-brewing"]
    assert result.code == 0
    warnings = [line for line in acme.add_placeholders(result.stderr).splitlines() if line.startswith("warning:")]
    assert warnings[0] == "warning: SERVER/index.json: skills.0.name: invalid skill name `../chai`; skipped this entry"
    assert (
        warnings[-1] == "warning: SERVER/index.json: skills.9: duplicate skill `chai-two`; skipped all of its entries"
    )
    assert len(warnings) == 9


def test_an_invalid_catalog_is_reported_in_one_line(acme: CommandSandbox, server: GitServer) -> None:
    server.publish("/index.json", b"<html>")

    assert acme.output("search", "chai", "--index", "acme") == expected_output("""\
! warning: acme was not searched: invalid catalog: Expecting value: line 1 column 1 (char 0)\
 (SERVER/index.json); report it to the index maintainer
! no results for `chai`
! searched nothing
[1]
""")


# The cache


def test_a_damaged_database_is_rebuilt(acme: CommandSandbox, server: GitServer) -> None:
    """For the kinds of damage see indexes/test_database_cache.py."""
    names(acme, "chai")
    for file in (acme.cache / "v1/search").glob("*.sqlite"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    server.clear_requests()

    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == [("GET", "/index.json", 200)]
    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == []


def test_parallel_searches_do_not_disturb_each_other(acme: CommandSandbox, server: GitServer) -> None:
    with ThreadPoolExecutor(6) as pool:
        output = [*pool.map(lambda _: acme.run("search", "chai"), range(6))]

    assert [(it.code, it.stdout) for it in output] == [
        (0, "chai-brewing  1.0.0  acme  Brews chai, green or black.\n")
    ] * 6
    server.clear_requests()
    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == []
    assert [path.name for path in (acme.cache / "v1/search").iterdir() if path.suffix == ".tmp"] == []


def test_search_works_without_a_writable_cache(acme: CommandSandbox, server: GitServer) -> None:
    (acme.cache / "v1").mkdir(parents=True, exist_ok=True)
    (acme.cache / "v1/search").write_text("in the way")

    assert names(acme, "chai") == ["chai-brewing"]
    assert names(acme, "chai") == ["chai-brewing"]
    assert asked(server) == [("GET", "/index.json", 200)] * 2


def test_leftovers_of_a_killed_process_are_removed_by_the_next_write(acme: CommandSandbox) -> None:
    names(acme, "chai")
    head = next((acme.cache / "v1/search").glob("*.json"))
    left = head.with_name(f"{head.stem}.1.tmp")
    left.write_bytes(b"half")
    later(acme, 61)
    for file in (acme.cache / "v1/search").glob("*.sqlite"):
        file.unlink()

    names(acme, "chai")

    assert not left.exists()


def test_prune_removes_old_catalogs_and_they_are_fetched_again(acme: CommandSandbox) -> None:
    names(acme, "chai")
    old = time.time() - 40 * 86_400
    for file in (acme.cache / "v1/search").iterdir():
        os.utime(file, (old, old))

    acme.run("cache", "prune", check=True)

    assert [path.name for path in (acme.cache / "v1/search").iterdir() if path.suffix in {".json", ".sqlite"}] == []
    assert names(acme, "chai") == ["chai-brewing"]


def test_an_index_with_another_url_has_another_catalog(project: CommandSandbox, tmp_path: Path) -> None:
    for place in ("one", "two"):
        project.write(f"{place}/public/index.json", catalogue(entry(f"chai-{place}", "Chai.")))
        project.write(f"{place}/skills.json", '{"skills": {}, "indexes": [{"name": "acme", "url": "./public"}]}')

    for place in ("one", "two"):
        output = project.run("search", "chai", "--json", cwd=place).json
        assert [found["name"] for found in output["results"]] == [f"chai-{place}"]


def test_without_an_index_search_shows_how_to_add_one(project: CommandSandbox) -> None:
    assert project.output("search", "zzzz") == expected_output("""\
! no results for `zzzz`
! searched 0 installed, 9 bundled
! no index is configured; to add one: skillpm config set indexes.NAME.url URL
! to list the skills of a repository: skillpm install OWNER/REPO --list
""")
    assert project.output("search", "zzzz", "--installed") == expected_output("""\
! no results for `zzzz`
! searched 0 installed
""")


# Agents search as people do


@pytest.mark.parametrize(
    ("query", "kind", "expected"),
    [
        ("pdf", "all", ["pdf", "pdf-forms"]),
        ("fill in a pdf form", "all", ["pdf-forms"]),
        ("reveiw code", "alike", ["code-review"]),
        ("odf to pdf or review, which language is best", "some", ["code-review", "pdf", "pdf-forms"]),
        ("orm", "all", ["pdf-forms"]),
        ("nothing-of-all-this", "all", []),
    ],
)
def test_shell_python_and_tool_find_the_same(
    project: CommandSandbox, query: str, kind: str, expected: list[str]
) -> None:
    for name, description in {
        "pdf": "Reads PDF files.",
        "pdf-forms": "Fills in the form of a document.",
        "code-review": "Gives a review of code.",
    }.items():
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, description)))
    service = SkillService(Registry.load(project.work / ".agent-skills"))

    in_shell = project.json_output("search", "--installed", query)
    answer = service.call({"query": query}).text

    assert [result["name"] for result in in_shell["results"]] == expected
    assert [found.card.name for found in service.search(query)] == expected
    assert re.findall(r"^- \*\*(.*?)\*\*", answer, re.MULTILINE) == expected
    assert in_shell["matched"] == service.find_by_words(query).kind == kind


def test_the_tool_says_how_its_results_match(project: CommandSandbox) -> None:
    for number in range(25):
        name = f"pdf-{number:02}"
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, "Reads PDF files.")))
    service = SkillService(Registry.load(project.work / ".agent-skills"))

    def first_line(query: str) -> str:
        return service.call({"query": query}).text.splitlines()[0]

    assert first_line("pdf-07") == "Found 1 skill(s):"
    assert first_line("pdf") == "Found 25 skill(s), the best 20:"
    assert first_line("raeds") == "Found 25 skill(s) with similar words, the best 20:"
    assert first_line("pdf opera") == "Found 25 skill(s) with some of these words, the best 20:"


def test_a_task_in_the_words_of_a_user_finds_the_skill_whose_body_has_them(project: CommandSandbox) -> None:
    bodies = {"brew": "Boil the kettle first.\n", "bake": "Heat the oven.\n", "hidden": "Boiling kettles.\n"}
    for name, body in bodies.items():
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, "Makes it.", body=body)))
    project.write("skills.json", '{"skills": {}, "permissions": {"hidden": "deny"}}')

    assert names(project, "--installed", "my kettles never boil properly") == ["brew"]
    # A word is searched in names, labels and descriptions first; one word alone is not searched in bodies unless
    # nothing else has it.
    assert names(project, "--installed", "kettle") == ["brew"]
    assert project.json_output("search", "--installed", "kettle")["matched"] == "some"


def test_an_edited_body_is_found_at_once(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/brew", make_skill("brew", "Makes it.", body="Old.\n")))
    service = SkillService(Registry.load(project.work / ".agent-skills"))
    assert service.search("samovar") == ()

    project.write_files(prefix_paths(".agent-skills/brew", make_skill("brew", "Makes it.", body="A samovar.\n")))
    service.list()  # which checks the files

    assert [found.name for found in service.search("samovar")] == ["brew"]
