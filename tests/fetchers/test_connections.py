"""The open connection to a git server, and when `git fetch` takes its place."""

import json
import socket
from pathlib import Path

import pytest
from fetchers.world import Project, take_requests, use_git_without_connections
from kit import GitServer, Repository, Response, make_skill, prefix_paths
from kit.faults import render_head


@pytest.mark.parametrize("command", ["install", "sync", "update"])
def test_a_helper_that_cannot_stay_connected_is_replaced_by_git_fetch(
    project: Project,
    server: GitServer,
    upstream: Repository,
    command: str,
    tmp_path: Path,
) -> None:
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    url = server.serve("acme/skills", upstream)
    env = use_git_without_connections(tmp_path / "bin")
    if command != "install":
        project.run("install", f"{url}@pdf", check=True)
        project = project.clone(tmp_path / "twin")
        upstream.write({"skills/pdf/notes.md": "New.\n"}).commit()
        take_requests(server)

    project.run(command, *([f"{url}@pdf"] if command == "install" else []), env=env, check=True)

    assert take_requests(server).count("info") == 2  # each `git fetch` connects again
    revision = "HEAD~1" if command == "sync" else "HEAD"
    assert project.installed_files("pdf") == upstream.read_files("skills/pdf", revision=revision)


def test_more_servers_than_connections_may_wait(project: Project, server: GitServer, tmp_path: Path) -> None:
    urls = []
    for number in range(20):
        repository = Repository.create(tmp_path / f"r{number}")
        repository.write(make_skill(f"skill-{number}")).commit()
        urls.append(server.serve(f"acme/r{number}", repository))

    project.run("install", *urls, check=True)

    for number in range(20):
        assert project.exists(f".agent-skills/skill-{number}/SKILL.md")


def test_all_commits_without_parents_are_remembered(project: Project, server: GitServer, upstream: Repository) -> None:
    """Git would take a missing parent of any other commit for damage."""
    for number in range(260):
        upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body=f"{number}\n"))).commit()
        upstream.tag(f"1.0.{number}")
    url = server.serve("acme/skills", upstream)
    source = {"git": url, "path": "skills/pdf", "version": ">=1.0"}
    project.write("skills.json", json.dumps({"skills": {"pdf": source}, "exclude-newer": "2030-01-01"}))
    project.run("sync", check=True)  # which fetches the commits of all tags, for their dates
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="new\n"))).commit()
    upstream.tag("1.1.0")

    project.run("update", check=True)

    commits = (project.git_cache / "shallow").read_text().splitlines()
    assert (len(commits), {len(commit) for commit in commits}) == (261, {40})


def claim_many_parents_left_out(client: socket.socket, response: Response) -> None:
    """Claim that many commits have no parents here, which nobody asked for."""
    title = b"0011shallow-info\n"
    more = b"".join(b"0034shallow %040x" % number for number in range(5000))
    body = response.body.replace(title, title + more)
    client.sendall(render_head(response, length=len(body)) + body)


def test_a_server_cannot_fill_the_list_of_commits_without_parents(
    project: Project, server: GitServer, upstream: Repository
) -> None:
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    url = server.serve("acme/skills", upstream)
    server.add_fault("POST .* fetch", claim_many_parents_left_out)

    project.run("install", f"{url}@pdf", check=True)

    assert len((project.git_cache / "shallow").read_text().splitlines()) == 1
