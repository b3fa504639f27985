"""Passwords and tokens reach only their own server, and are stored and printed nowhere."""

import base64
import json
import socket
from collections.abc import Iterator, Mapping

import pytest
from fetchers.world import Project, find_git_processes
from kit import GitServer, Repository, Result, make_skill, wait_for

from skillpm.errors import UsageError
from skillpm.fetchers.git.program.gitconfig import GitConfig
from skillpm.fetchers.git.program.logins import VARIABLES, GitLogin, find_login
from skillpm.settings import read_settings

PASSWORD = "s3cr3t-Pa55"  # noqa: S105  (of the test's own server)
TOKEN = "ghp_0123456789abcdefToken"  # noqa: S105


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(make_skill("pdf")).commit()
    server.required_login = ("ann", PASSWORD)
    return server.serve("acme/pdf", upstream)


def assert_secret(project: Project, *results: Result, allowed: tuple[str, ...] = ()) -> None:
    """Assert that neither the output nor any file that skillpm wrote contains the password."""
    for needle in (PASSWORD, base64.b64encode(f"ann:{PASSWORD}".encode()).decode(), TOKEN):
        for result in results:
            assert needle not in result.stdout + result.stderr
        for path in project.root.rglob("*"):
            if path.is_file() and path.name not in allowed:
                assert needle.encode() not in path.read_bytes(), path


def test_without_credentials_the_message_says_what_to_do(project: Project, url: str) -> None:
    result = project.run("install", url)

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: no access to {url}, or the repository does not exist\n"
            "  hint: check that git can read it (`git ls-remote`) with a credential helper or an SSH key\n"
        ),
    )
    assert project.is_untouched


def test_credentials_in_a_url_are_dropped_with_a_warning(project: Project, url: str) -> None:
    result = project.run("install", url.replace("//", f"//ann:{PASSWORD}@"))

    assert result.code == 1
    assert result.stderr.splitlines()[0] == (
        "warning: the credentials in the URL are ignored; use a git credential helper"
    )
    assert_secret(project, result)


def test_credentials_in_a_manifest_are_dropped(project: Project, url: str) -> None:
    inside = url.replace("//", f"//ann:{PASSWORD}@")
    project.write("skills.json", json.dumps({"skills": {"pdf": {"git": inside}}}))

    result = project.run("sync")

    assert result.code == 1
    assert_secret(project, result, allowed=("skills.json",))


@pytest.mark.parametrize("where", ["credential.helper", "for its host"])
def test_a_credential_helper_is_used(
    project: Project, upstream: Repository, server: GitServer, url: str, where: str
) -> None:
    (project.home / ".git-credentials").write_text(server.address.replace("//", f"//ann:{PASSWORD}@") + "\n")
    section = "credential" if where == "credential.helper" else f'credential "{server.address}"'
    project.git_config(f"[{section}]\n\thelper = store")

    result = project.run("install", url, "-v", check=True)

    assert project.installed_files("pdf") == upstream.read_files()
    assert_secret(project, result, allowed=(".git-credentials",))


def test_an_insteadof_with_a_token_works_and_stays_secret(
    project: Project, upstream: Repository, server: GitServer, url: str
) -> None:
    assert url
    project.redirect_git("https://github.com/", server.address.replace("//", f"//ann:{PASSWORD}@"))
    works = project.run("install", "acme/pdf", "-v", check=True)
    assert project.installed_files("pdf") == upstream.read_files()

    server.fail_next(9, 500)
    broken = project.run("install", "acme/other")
    server.fail_next(0, 500)
    missing = project.run("install", "acme/missing", "--json")

    assert (broken.code, missing.code) == (1, 1)
    assert_secret(project, works, broken, missing, allowed=(".gitconfig",))


def test_a_password_with_an_at_sign_is_hidden_completely(project: Project, server: GitServer, url: str) -> None:
    assert url
    project.redirect_git("https://github.com/", server.address.replace("//", f"//ann:p@{PASSWORD}@"))
    server.fail_next(9, 500)

    result = project.run("install", "acme/pdf")

    assert result.code == 1
    assert_secret(project, result, allowed=(".gitconfig",))


def test_an_extra_header_of_the_user_is_sent(
    project: Project, upstream: Repository, server: GitServer, url: str
) -> None:
    basic = base64.b64encode(f"ann:{PASSWORD}".encode()).decode()
    project.git_config(f'[http "{server.address}/"]\n\textraHeader = Authorization: Basic {basic}')

    result = project.run("install", url, check=True)

    assert project.installed_files("pdf") == upstream.read_files()
    assert_secret(project, result, allowed=(".gitconfig",))


def basic(user: str, token: str) -> str:
    return "Authorization: Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()


@pytest.mark.parametrize(
    ("host", "environ", "expected"),
    [
        ("github.com", {"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}, [("github.com", basic("x-access-token", "a"))]),
        ("github.com", {"GH_TOKEN": "b", "GITLAB_TOKEN": "c"}, [("github.com", basic("x-access-token", "b"))]),
        ("gitlab.com", {"GITLAB_TOKEN": "c", "CI_JOB_TOKEN": "d"}, [("gitlab.com", basic("oauth2", "c"))]),
        ("gitlab.com", {"CI_JOB_TOKEN": "d"}, [("gitlab.com", basic("gitlab-ci-token", "d"))]),
        ("git.acme.example", {"CI_JOB_TOKEN": "d", "CI_SERVER_HOST": "git.acme.example"},
         [("git.acme.example", basic("gitlab-ci-token", "d"))]),
        ("gitlab.com", {"CI_JOB_TOKEN": "d", "CI_SERVER_HOST": "git.acme.example"}, []),
        ("github.com", {"GITLAB_TOKEN": "c"}, []),
        ("gitlab.com", {"GITHUB_TOKEN": "a"}, []),
        ("github.com.evil.example", {"GITHUB_TOKEN": "a"}, []),
        ("evil-github.com", {"GITHUB_TOKEN": "a"}, []),
        ("gist.github.com", {"GITHUB_TOKEN": "a"}, []),
        ("", {"GITHUB_TOKEN": "a", "GITLAB_TOKEN": "b", "CI_SERVER_HOST": ""}, []),
        ("github.com", {"GITHUB_TOKEN": ""}, []),
        ("github.com", {"GITHUB_TOKEN": " \n", "GH_TOKEN": "b"}, [("github.com", basic("x-access-token", "b"))]),
        # A runner of Gitea or GitHub Enterprise: the token is one of that server, and of no other one.
        ("github.com", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://github.com"},
         [("github.com", basic("x-access-token", "a"))]),
        ("github.com", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": ""}, [("github.com", basic("x-access-token", "a"))]),
        ("github.com", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://gitea.corp"}, []),
        ("gitea.corp", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://Gitea.Corp/"},
         [("gitea.corp", basic("x-access-token", "a"))]),
        ("gitea.corp:8443", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://gitea.corp:8443"},
         [("gitea.corp:8443", basic("x-access-token", "a"))]),
        ("gitea.corp", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://gitea.corp:443/git"},
         [("gitea.corp", basic("x-access-token", "a"))]),
        ("gitea.corp", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://gitea.corp:8443"}, []),
        ("gitea.corp:8443", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://gitea.corp"}, []),
        ("gitea.corp.evil.example", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://gitea.corp"}, []),
        ("evil.example", {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://evil.example@gitea.corp"}, []),
        *((host, {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": url}, [])
          for host in ("gitea.corp", "github.com", "")
          for url in ("http://gitea.corp", "gitea.corp", "//gitea.corp", "https://", "ssh://gitea.corp", "https:corp")),
        ("github.com", {"GH_TOKEN": "b", "GITHUB_SERVER_URL": "https://gitea.corp"},
         [("github.com", basic("x-access-token", "b"))]),
        ("gitea.corp", {"GH_TOKEN": "b", "GITHUB_SERVER_URL": "https://gitea.corp"}, []),
        ("git.acme.example:8443", {"CI_JOB_TOKEN": "d", "CI_SERVER_HOST": "git.acme.example",
                                   "CI_SERVER_URL": "https://git.acme.example:8443/gitlab"},
         [("git.acme.example:8443", basic("gitlab-ci-token", "d"))]),
        ("git.acme.example", {"CI_JOB_TOKEN": "d", "CI_SERVER_HOST": "git.acme.example",
                              "CI_SERVER_URL": "https://git.acme.example:8443/gitlab"}, []),
        ("git.acme.example", {"GITLAB_TOKEN": "c", "CI_SERVER_URL": "https://git.acme.example"},
         [("git.acme.example", basic("oauth2", "c"))]),
        ("git.acme.example", {"GITLAB_TOKEN": "c", "CI_SERVER_URL": "http://git.acme.example"}, []),
        ("gitlab.com", {"GITLAB_TOKEN": "c", "CI_SERVER_URL": "https://git.acme.example"}, []),
        *((host, {variable: " s3cret\r\n"}, [(host, basic(user, "s3cret"))])
          for host, variable, user in (
              ("github.com", "GITHUB_TOKEN", "x-access-token"), ("github.com", "GH_TOKEN", "x-access-token"),
              ("gitlab.com", "GITLAB_TOKEN", "oauth2"), ("gitlab.com", "CI_JOB_TOKEN", "gitlab-ci-token"))),
        # GitHub Enterprise as `gh` has it: exactly the host of GH_HOST, and no other one.
        *(("ghe.corp", {variable: "e", "GH_HOST": there}, [("ghe.corp", basic("x-access-token", "e"))])
          for variable in ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN") for there in ("ghe.corp", "GHE.corp")),
        ("ghe.corp:8443", {"GH_ENTERPRISE_TOKEN": "e", "GH_HOST": "ghe.corp:8443"},
         [("ghe.corp:8443", basic("x-access-token", "e"))]),
        *((host, {"GH_ENTERPRISE_TOKEN": "e", "GITHUB_ENTERPRISE_TOKEN": "e", "GH_HOST": there}, [])
          for host, there in (
              ("ghe.corp", ""), ("github.com", ""), ("", ""), ("ghe.corp:8443", "ghe.corp"), ("x.ghe.corp", "ghe.corp"),
              ("ghe.corp", "x.ghe.corp"), ("ghe.corp.evil.example", "ghe.corp"), ("github.com", "ghe.corp"),
              ("ghe.corp", "http://ghe.corp"), ("ghe.corp", "ghe.corp@evil.example"), ("ghe-corp", "ghe.corp"))),
        ("github.com", {"GH_ENTERPRISE_TOKEN": "e", "GH_TOKEN": "b", "GH_HOST": "ghe.corp"},
         [("github.com", basic("x-access-token", "b"))]),
        ("ghe.corp", {"GH_TOKEN": "b", "GITHUB_TOKEN": "a", "GH_HOST": "ghe.corp"}, []),
        # GitLab as `glab` has it; a job's own token stays with the job's server.
        *(("git.acme.example", {"GITLAB_TOKEN": "c", "GITLAB_HOST": there},
           [("git.acme.example", basic("oauth2", "c"))]) for there in ("git.acme.example", "https://git.acme.example")),
        ("gitlab.com", {"GITLAB_TOKEN": "c", "GITLAB_HOST": "git.acme.example"}, []),
        ("git.acme.example", {"GITLAB_TOKEN": "c", "GITLAB_HOST": "http://git.acme.example"}, []),
        ("git.acme.example", {"CI_JOB_TOKEN": "d", "GITLAB_HOST": "git.acme.example"}, []),
        ("ci.example", {"GITLAB_TOKEN": "c", "CI_JOB_TOKEN": "d", "GITLAB_HOST": "git.acme.example",
                        "CI_SERVER_HOST": "ci.example"}, [("ci.example", basic("gitlab-ci-token", "d"))]),
        # Gitea as `tea` has it, and Forgejo.
        *(("gitea.corp", {variable: "t", server: "https://gitea.corp"}, [("gitea.corp", basic("x-access-token", "t"))])
          for variable, server in (("GITEA_TOKEN", "GITEA_SERVER_URL"), ("GITEA_SERVER_TOKEN", "GITEA_SERVER_URL"),
                                   ("FORGEJO_TOKEN", "FORGEJO_SERVER_URL"))),
        *((host, {"GITEA_TOKEN": "t", "FORGEJO_TOKEN": "t", **there}, [])
          for host, there in (("gitea.corp", {}), ("codeberg.org", {}), ("", {}),
                              ("evil.example", {"GITEA_SERVER_URL": "https://gitea.corp"}),
                              ("gitea.corp", {"GITEA_SERVER_URL": "http://gitea.corp"}),
                              ("gitea.corp", {"GITEA_SERVER_URL": "gitea.corp"}))),
        ("github.com", {}, []),
    ],
)  # fmt: skip
def test_a_token_is_sent_to_its_host_only(
    host: str, environ: Mapping[str, str], expected: list[tuple[str, str]]
) -> None:
    config, settings = GitConfig(settings=(), file=""), read_settings({"HOME": "/", **environ})

    login = find_login(f"https://{host}/acme/x.git", config, settings)
    anonymous = find_login(f"https://{host}/acme/x.git", config.without_logins("/"), settings)
    plain = find_login(f"http://{host}/acme/x.git", config, settings)

    assert [*login.settings] == [(f"http.https://{there}/.extraHeader", header) for there, header in expected]
    assert (anonymous, plain) == (GitLogin(), GitLogin())


@pytest.mark.parametrize("variable", [variable.name for variable in VARIABLES])
@pytest.mark.parametrize("token", ["a b", "a\nb", "t\u00f6ken", "a\x00b", "a\tb"])
def test_a_malformed_token_is_not_sent(variable: str, token: str) -> None:
    servers = {name: "https://git.corp" for it in VARIABLES for name in it.server_variables}
    host = "github.com" if variable == "GH_TOKEN" else "git.corp"
    settings = read_settings({"HOME": "/", **servers, variable: token})

    with pytest.raises(UsageError) as caught:
        find_login(f"https://{host}/acme/x.git", GitConfig(settings=(), file=""), settings)

    assert (caught.value.message, caught.value.hint) == (
        f"{variable} is not a token: it has characters other than ASCII, or spaces or line breaks",
        "set it again; spaces around a token are ignored",
    )


@pytest.fixture
def silent_proxy() -> Iterator[str]:
    """A proxy that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def git_under_way(
    project: Project, spec: str, proxy: str, env: Mapping[str, str]
) -> tuple[str, list[Mapping[str, str]]]:
    """Return command lines and environments of the git processes that wait for a proxy."""
    with project.spawn("install", spec, env={"https_proxy": proxy, **env}) as process:
        try:
            children = wait_for(
                lambda: (
                    [c for c in find_git_processes(project).values() if "remote-https" in c[0]]
                    and find_git_processes(project)
                )
            )
        finally:
            process.terminate()
            process.communicate(timeout=60)
    return " ".join(line for line, _ in children.values()), [environment for _, environment in children.values()]


def extra_headers(environments: list[Mapping[str, str]]) -> set[str]:
    return {
        value
        for one in environments
        for key, value in one.items()
        if key.startswith("GIT_CONFIG_VALUE") and "Auth" in value
    }


def test_a_token_is_passed_in_variables_not_arguments(project: Project, silent_proxy: str) -> None:
    words, environments = git_under_way(project, "acme/pdf", silent_proxy, {"GITHUB_TOKEN": TOKEN})

    assert extra_headers(environments) == {basic("x-access-token", TOKEN)}
    assert TOKEN not in words
    assert basic("x-access-token", TOKEN).split()[-1] not in words
    assert_secret(project)


@pytest.mark.parametrize(
    "config",
    [
        "[credential]\n\thelper = store",
        '[http "https://github.com/"]\n\textraHeader = Authorization: Basic abc',
        '[url "https://ann:pw@github.com/"]\n\tinsteadOf = https://github.com/',
    ],
    ids=["helper", "header", "insteadof"],
)
def test_a_configured_login_takes_precedence_over_a_token(project: Project, silent_proxy: str, config: str) -> None:
    """Two `Authorization` headers are an error for GitHub."""
    project.git_config(config)

    _, environments = git_under_way(project, "acme/pdf", silent_proxy, {"GITHUB_TOKEN": TOKEN})

    assert basic("x-access-token", TOKEN) not in extra_headers(environments)


def test_a_token_is_not_sent_to_the_target_of_insteadof(project: Project, server: GitServer, url: str) -> None:
    assert url
    project.redirect_git("https://github.com/", server.address)

    result = project.run("install", "acme/pdf", env={"GITHUB_TOKEN": TOKEN})

    assert (result.code, [request.status for request in server.requests]) == (1, [401])
