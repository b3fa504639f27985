"""Dependencies of a site's skills: looked up in that site, and in no other index unless the manifest says so."""

import json
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer


@pytest.fixture
def consumer(tmp_path: Path) -> IndexConsumer:
    return IndexConsumer(tmp_path / "consumer")


@pytest.fixture
def site(publisher: IndexPublisher, server: GitServer) -> str:
    """Serve `release-notes`, which requires `base-style`, which requires `words`; return the URL of the site."""
    publisher.write_draft("words", "1.0.0")
    publisher.write_draft("base-style", "1.0.0", **{"skill-dependencies": "words"})
    publisher.write_draft("release-notes", "1.0.0", **{"skill-dependencies": "base-style>=1"})
    return serve(publisher, server, "/skills")


def serve(publisher: IndexPublisher, server: GitServer, prefix: str) -> str:
    publisher.build()
    serve_index(server, publisher.index_folder, prefix)
    return f"{server.address}{prefix}/"


def origins(consumer: IndexConsumer) -> dict[str, str]:
    skills = {name: it for name, it in consumer.lockfile["skills"].items() if "index" in it["source"]}
    return {name: f"{it['version']} {it['source']['index']}" for name, it in skills.items()}


def serve_company(server: GitServer, tmp_path: Path) -> str:
    """Serve the index of a company: its own `base-style`, and `mail`, which requires it."""
    company = IndexPublisher(tmp_path / "company")
    company.write_draft("base-style", "7.0.0")
    company.write_draft("mail", "1.0.0", **{"skill-dependencies": "base-style"})
    return serve(company, server, "/company")


@pytest.mark.parametrize("arguments", [["@release-notes"], ["", "--all"]])
def test_dependencies_come_from_the_site_of_the_skill(
    consumer: IndexConsumer, site: str, arguments: list[str], tmp_path: Path
) -> None:
    consumer.run("install", f"{site}{arguments[0]}", *arguments[1:], check=True)

    assert origins(consumer) == dict.fromkeys(["base-style", "release-notes", "words"], f"1.0.0 {site}")
    assert consumer.manifest["indexes"] == []
    for policy in ("--frozen", "--locked"):
        twin = consumer.clone(tmp_path / policy.strip("-"))
        twin.run("sync", policy, check=True)
        assert twin.exists(".agent-skills/words/SKILL.md")
    assert consumer.run("lock", "--check").code == 0
    again = IndexConsumer(tmp_path / "again")
    again.write("skills.json", consumer.read("skills.json"))
    again.run("lock", check=True)
    assert again.read("skills.lock") == consumer.read("skills.lock")


def test_updates_of_dependencies_come_from_the_site(
    consumer: IndexConsumer, site: str, publisher: IndexPublisher, server: GitServer
) -> None:
    consumer.run("install", f"{site}@release-notes", check=True)
    publisher.write_draft("words", "1.1.0")
    serve(publisher, server, "/skills")

    assert consumer.run("outdated").stdout == "skill  current  wanted  latest\nwords  1.0.0    1.1.0   1.1.0\n"
    consumer.run("install", "testing", check=True)
    assert origins(consumer)["words"] == f"1.0.0 {site}"
    consumer.run("install", f"{site}@words", check=True)
    assert consumer.manifest["skills"]["words"] == {"version": "^1.0.0", "index": site}
    assert origins(consumer)["words"] == f"1.0.0 {site}"
    consumer.run("update", check=True)
    assert origins(consumer)["words"] == f"1.1.0 {site}"


def test_a_site_and_a_configured_index_never_replace_a_skill_of_the_other(
    consumer: IndexConsumer, site: str, server: GitServer, tmp_path: Path
) -> None:
    consumer.set_indexes(company=serve_company(server, tmp_path))

    consumer.run("install", f"{site}@release-notes", check=True)
    assert origins(consumer)["base-style"] == f"1.0.0 {site}"
    before = consumer.snapshot(ignore=[".agent-skills"])
    refused = consumer.run("install", "mail@1.0.0")

    assert (refused.code, refused.error_output) == (
        1,
        "error: `mail` 1.0.0 (you require `mail` 1.0.0) requires `base-style` and `release-notes` 1.0.0 "
        f"(skills.json requires `release-notes` ^1.0.0 from {site}) requires `base-style` >=1 from {site}; a skill can "
        "have only one source\n"
        "  hint: allow other versions of `mail` and `release-notes` in skills.json, or override what the skills "
        'require: "overrides": {"base-style": {…}} in skills.json\n',
    )
    assert consumer.snapshot(ignore=[".agent-skills"]) == before


def test_the_manifest_decides_where_a_dependency_of_a_site_comes_from(
    consumer: IndexConsumer, site: str, server: GitServer, tmp_path: Path
) -> None:
    company = serve_company(server, tmp_path)
    consumer.set_indexes(company=company)

    consumer.run("install", f"{site}@release-notes", check=True)
    consumer.run("install", "base-style", "mail", check=True)

    assert origins(consumer) == {
        "base-style": f"7.0.0 {company}",
        "mail": f"1.0.0 {company}",
        "release-notes": f"1.0.0 {site}",
    }
    consumer.run("sync", "--frozen", check=True)


def test_a_dependency_that_the_site_lacks_is_not_searched_elsewhere(
    consumer: IndexConsumer, publisher: IndexPublisher, server: GitServer, tmp_path: Path
) -> None:
    publisher.write_draft("release-notes", "1.0.0", **{"skill-dependencies": "base-style>=1; testing"})
    site = serve(publisher, server, "/skills")
    host = site.removeprefix("http://").partition("/")[0]
    company = serve_company(server, tmp_path)
    consumer.set_indexes(company=company)

    refused = consumer.run("install", f"{site}@release-notes")

    assert (refused.code, refused.error_output) == (
        1,
        f"error: `release-notes` 1.0.0 (you require `release-notes` from {site}) requires "
        f"`base-style` >=1 from {site}, which was not found: `base-style` was not found in the index {host} ({site})\n"
        "  hint: report it to its author, or install `base-style` from elsewhere: "
        "skillpm install owner/repo@base-style\n",
    )
    consumer.run("install", "base-style", check=True)
    consumer.run("install", f"{site}@release-notes", check=True)
    assert origins(consumer) == {"base-style": f"7.0.0 {company}", "release-notes": f"1.0.0 {site}"}
    # The site does not have it, and skillpm bundles it.
    assert consumer.locked_source("testing") == {"bundled": "testing"}


@pytest.mark.parametrize("name", ["base-style", "words"])
def test_a_forged_lockfile_takes_a_dependency_from_no_other_site(
    consumer: IndexConsumer, site: str, server: GitServer, tmp_path: Path, name: str
) -> None:
    consumer.run("install", f"{site}@release-notes", check=True)
    elsewhere = serve_company(server, tmp_path)
    lockfile = consumer.lockfile
    lockfile["skills"][name]["source"]["index"] = elsewhere
    twin = consumer.clone(tmp_path / "twin")
    twin.write("skills.lock", json.dumps(lockfile))

    refused = twin.run("sync", "--frozen")

    assert (refused.code, refused.error_output.splitlines()[0]) == (1, unconfigured(name, elsewhere))


def unconfigured(name: str, url: str) -> str:
    return f"error: `{name}` is locked to the index {url}, which neither the manifest nor your config.toml configures"


@pytest.mark.parametrize("decision", ["skills", "overrides"])
def test_a_forged_lockfile_takes_nothing_from_a_site_that_the_manifest_takes_from_an_index(
    consumer: IndexConsumer, site: str, server: GitServer, tmp_path: Path, decision: str
) -> None:
    consumer.set_indexes(company=serve_company(server, tmp_path))
    consumer.run("install", f"{site}@release-notes", check=True)
    from_site = consumer.lockfile["skills"]["base-style"] | {"dependencies": {}}
    manifest = consumer.manifest
    manifest.setdefault(decision, {})["base-style"] = {"version": "*", "index": "company"}
    consumer.write("skills.json", json.dumps(manifest))
    consumer.run("lock", check=True)
    lockfile = consumer.lockfile
    assert lockfile["skills"]["base-style"]["version"] == "7.0.0"
    lockfile["skills"]["base-style"] = from_site
    twin = consumer.clone(tmp_path / "twin")
    twin.write("skills.lock", json.dumps(lockfile))

    refused = twin.run("sync", "--frozen")

    assert (refused.code, refused.error_output.splitlines()[0]) == (1, unconfigured("base-style", site))


def test_a_configured_site_is_one_of_the_indexes(
    consumer: IndexConsumer, site: str, publisher: IndexPublisher, server: GitServer
) -> None:
    publisher.write_draft("mail", "1.0.0", **{"skill-dependencies": "base-style"})
    serve(publisher, server, "/skills")
    consumer.set_indexes(acme=site)

    consumer.run("install", f"{site}@release-notes", check=True)
    consumer.run("install", "mail", check=True)

    assert origins(consumer) == dict.fromkeys(["base-style", "mail", "release-notes", "words"], f"1.0.0 {site}")
