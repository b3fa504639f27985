"""Tests of the test kit."""

import gzip
import http.client
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kit import (
    CommandFailedError,
    Entry,
    GitError,
    GitServer,
    Repository,
    Request,
    Sandbox,
    git,
    make_skill,
    prefix_paths,
    render_tree,
    snapshot,
    wait_for,
)

LS_REFS = b"0014command=ls-refs\n0000"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "upstream")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    return repository


class Python(Sandbox):
    """A sandbox whose command is a line of Python."""

    command = (sys.executable, "-c")


@pytest.fixture
def sandbox(tmp_path: Path) -> Python:
    return Python(tmp_path / "sandbox")


def clone(url: str, to: Path, *options: str) -> Path:
    git("clone", "-q", *options, url, str(to))
    return to


def missing_objects(clone: Path) -> int:
    listing = git("rev-list", "--objects", "--all", "--missing=print", cwd=clone)
    return sum(line.startswith("?") for line in listing.splitlines())


def post(url: str, body: bytes | Iterable[bytes], **headers: str) -> bytes:
    """Request the refs over protocol v2, without git."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc)
    kind = {"Content-Type": "application/x-git-upload-pack-request", "Git-Protocol": "version=2"}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", f"{address.path}/git-upload-pack", body, kind | names)
    answer = connection.getresponse().read()
    connection.close()
    return answer


# Skills


def test_a_skill_is_one_file_and_more_can_be_added() -> None:
    files = make_skill("pdf", "Reads: all", "Body.\n", license="MIT", allowed_tools=["Read"], draft=True)

    assert files | {"run.sh": "true"} == {
        "SKILL.md": b'---\nname: pdf\ndescription: "Reads: all"\nlicense: MIT\n'
        b'allowed-tools: ["Read"]\ndraft: true\n---\nBody.\n',
        "run.sh": "true",
    }


def test_a_word_that_yaml_would_not_read_as_text_is_quoted() -> None:
    assert make_skill("on", "1.10", "")["SKILL.md"] == b'---\nname: "on"\ndescription: "1.10"\n---\n'


# Repository


def test_the_same_calls_give_the_same_commit_ids_on_any_machine(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Another Author")
    repository = Repository.create(tmp_path)

    assert repository.write({"a": "1"}).commit() == "3412efec8dabb4a12451224a9c67007eaff5ef25"
    assert repository.write({"a": "2"}).commit() == "97e40ebbe3372fba272547cce0d280fae7cb233d"
    assert git("log", "--format=%an %at %ct", cwd=repository.git_dir) == (
        "A. Tester 1767225602 1767225602\nA. Tester 1767225601 1767225601"
    )


def test_files_modes_links_and_odd_names_are_kept(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    repository.write(
        {"s/run.sh": "#!", 's/a "b"\\\n/é': b"\0\xff", ".gitattributes": "* eol=crlf\n"},
        executable=["s/run.sh"],
        symlinks={"s/link": "../elsewhere"},
    ).commit()

    assert repository.read_files("s") == {
        'a "b"\\\n/é': ("100644", b"\0\xff"),
        "link": ("120000", b"../elsewhere"),
        "run.sh": ("100755", b"#!"),
    }
    assert repository.read_blob("s/link") == b"../elsewhere"


def test_a_misspelled_executable_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"run\.py"):
        Repository.create(tmp_path).write({"run.sh": ""}, executable=["run.py"])


def test_remove_deletes_files_and_folders(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    first = repository.write({"a/b": "", "a/c": "", "d": "", "e": ""}).commit()
    repository.remove(["a", "d"]).commit()

    assert set(repository.read_files()) == {"e"}
    assert set(repository.read_files(revision=first)) == {"a/b", "a/c", "d", "e"}


def test_tags_and_branches_name_commits(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    first = repository.write({"a": "1"}).commit()
    second = repository.write({"a": "2"}).commit()

    repository.tag("v1", first)
    repository.tag("v2", annotated=True)
    repository.branch("next")
    third = repository.write({"a": "3"}).commit(branch="next")
    assert [repository.resolve(name) for name in ("v1", "main", "next")] == [first, second, third]
    assert repository.resolve("v2") != repository.resolve("v2^{commit}") == second

    with pytest.raises(GitError, match="already exists"):
        repository.tag("v1", second)
    repository.tag("v1", second, force=True)
    repository.delete_branch("next")
    assert git("for-each-ref", "--format=%(refname)", cwd=repository.git_dir).split() == [
        "refs/heads/main",
        "refs/tags/v1",
        "refs/tags/v2",
    ]
    assert repository.resolve("v1") == second


def test_an_invalid_tree_can_be_stored(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    blob = repository.hash_object("evil")
    folder = repository.store_tree([("100644", "x", blob)])
    rows: list[tuple[str, str | bytes, str]] = [
        ("100644", "..", blob),
        ("40000", ".git", folder),
        ("100644", "a/b", blob),
        ("100644", "z", blob),
        ("100644", b"z", blob),
        ("160000", "module", blob),
    ]
    tree = repository.store_tree(rows)
    commit = repository.commit_tree(tree)

    assert repository.tree_id(revision=commit) == repository.tree_id() == tree
    assert git("ls-tree", "--name-only", tree, cwd=repository.git_dir).split() == [
        *("..", ".git", "a/b", "z", "z", "module"),
    ]
    assert repository.read_files()["module"] == ("160000", blob.encode())


def test_a_repository_can_be_cloned_from_disk(upstream: Repository, tmp_path: Path) -> None:
    here = clone(upstream.file_url, tmp_path / "clone")

    assert (here / "skills/pdf/SKILL.md").read_bytes() == make_skill("pdf")["SKILL.md"]


# Server


def test_git_can_clone_and_the_server_records_the_requests(
    upstream: Repository,
    server: GitServer,
    tmp_path: Path,
) -> None:
    url = server.serve("acme/skills", upstream)
    here = clone(url, tmp_path / "clone")

    assert git("rev-parse", "HEAD", cwd=here) == upstream.resolve()
    path = "/acme/skills.git"
    assert [(seen.method, seen.path, seen.query, seen.command) for seen in server.requests] == [
        ("GET", f"{path}/info/refs", "service=git-upload-pack", None),
        ("POST", f"{path}/git-upload-pack", "", "ls-refs"),
        ("POST", f"{path}/git-upload-pack", "", "fetch"),
    ]
    assert server.bytes_out == sum(seen.bytes_out for seen in server.requests) > 300
    server.clear_requests()
    assert server.requests == []
    assert server.bytes_out == 0


def test_the_git_suffix_of_a_url_is_optional(
    upstream: Repository,
    server: GitServer,
) -> None:
    url = server.serve("acme/skills", upstream.git_dir)

    assert git("ls-remote", url.removesuffix(".git"), "HEAD").split()[0] == upstream.resolve()


def test_a_name_that_is_not_served_is_not_found(upstream: Repository, server: GitServer) -> None:
    url = server.serve("acme/skills", upstream)
    server.remove("acme/skills")

    with pytest.raises(GitError, match="not found"):
        git("ls-remote", url)
    assert [seen.status for seen in server.requests] == [404]


def test_a_push_is_rejected(upstream: Repository, server: GitServer, tmp_path: Path) -> None:
    here = clone(server.serve("s", upstream), tmp_path / "clone")

    with pytest.raises(GitError, match="403"):
        git("push", "origin", "HEAD:refs/heads/mine", cwd=here)


def test_protocol_v0_can_be_forced(upstream: Repository, server: GitServer, tmp_path: Path) -> None:
    url = server.serve("s", upstream)
    server.protocol_v0 = True
    clone(url, tmp_path / "clone")

    assert [(seen.method, seen.command) for seen in server.requests] == [
        ("GET", None),
        ("POST", None),
    ]


@pytest.mark.parametrize("protocol_v0", [False, True])
def test_partial_clone_is_a_setting_of_the_repository(
    server: GitServer,
    tmp_path: Path,
    *,
    protocol_v0: bool,
) -> None:
    able = Repository.create(tmp_path / "able")
    unable = Repository.create(tmp_path / "unable", partial_clone=False)
    server.protocol_v0 = protocol_v0

    missing = []
    for repository in (able, unable):
        repository.write({"a": "1"}).commit()
        url = server.serve(repository.path.name, repository)
        here = clone(url, tmp_path / f"{repository.path.name}-clone", "--bare", "--filter=blob:none")
        missing.append(missing_objects(here))
    assert missing == [1, 0]


def test_an_old_server_serves_only_the_tips_of_refs(server: GitServer, tmp_path: Path) -> None:
    server.protocol_v0 = True

    def fetch_the_first_commit(*, partial_clone: bool) -> None:
        path = tmp_path / str(partial_clone)
        repository = Repository.create(path / "there", partial_clone=partial_clone)
        first = repository.write({"a": "1"}).commit()
        repository.write({"a": "2"}).commit()
        here = Repository.create(path / "here").git_dir
        git("fetch", "-q", server.serve("s", repository), first, cwd=here)

    fetch_the_first_commit(partial_clone=True)
    with pytest.raises(GitError, match="unadvertised object"):
        fetch_the_first_commit(partial_clone=False)


def test_a_pruned_commit_cannot_be_fetched(
    upstream: Repository,
    server: GitServer,
    tmp_path: Path,
) -> None:
    url = server.serve("s", upstream)
    first = upstream.resolve()
    second = upstream.write({"a": "2"}).commit()
    upstream.reset(first)
    one, two = (Repository.create(tmp_path / name).git_dir for name in ("one", "two"))

    git("fetch", "-q", url, second, cwd=one)
    upstream.prune_unreachable()
    with pytest.raises(GitError, match="not our ref"):
        git("fetch", "-q", url, second, cwd=two)
    git("fetch", "-q", url, first, cwd=two)


def test_a_private_repository_requires_user_and_password(
    upstream: Repository,
    server: GitServer,
) -> None:
    url = server.serve("s", upstream)
    server.required_login = ("ann", "secret")

    with pytest.raises(GitError, match="could not read Username"):
        git("ls-remote", url)
    with pytest.raises(GitError, match="Authentication failed"):
        git("ls-remote", url.replace("//", "//ann:wrong@"))
    server.clear_requests()
    git("ls-remote", url.replace("//", "//ann:secret@"))
    assert [seen.status for seen in server.requests] == [401, 200, 200]


def test_failures_happen_as_often_as_requested(upstream: Repository, server: GitServer) -> None:
    url = server.serve("s", upstream)
    server.fail_next(2, 503)

    for _ in range(2):
        with pytest.raises(GitError, match="503"):
            git("ls-remote", url)
    git("ls-remote", url)
    assert [seen.status for seen in server.requests] == [503, 503, 200, 200]


def test_a_redirect_is_followed_to_another_server(upstream: Repository, server: GitServer) -> None:
    with GitServer() as other:
        other.serve("s", upstream)
        server.redirect_to = other.address

        assert git("ls-remote", server.url("s"), "HEAD").split()[0] == upstream.resolve()
        assert [seen.status for seen in server.requests] == [302]
        assert [seen.command for seen in other.requests] == [None, "ls-refs"]


def test_garbage_is_not_a_git_response(upstream: Repository, server: GitServer) -> None:
    url = server.serve("s", upstream)
    server.garbage = True

    with pytest.raises(GitError):
        git("ls-remote", url)
    assert {seen.status for seen in server.requests} == {200}


def test_a_response_can_be_truncated(upstream: Repository, server: GitServer) -> None:
    url = server.serve("s", upstream)
    server.truncate_after = 20

    with pytest.raises(GitError, match="transfer closed with"):
        git("ls-remote", url)
    assert server.bytes_out == 20


def test_a_stalled_request_is_recorded_and_dropped_at_the_end(server: GitServer) -> None:
    server.stall = True
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=0.05)
    connection.request("GET", "/s.git/info/refs")

    with pytest.raises(TimeoutError):
        connection.getresponse()
    wait_for(lambda: server.requests)
    assert server.requests == [Request(method="GET", path="/s.git/info/refs")]
    connection.close()


def test_closing_ends_every_connection_and_thread(upstream: Repository) -> None:
    threads = threading.active_count()
    with GitServer() as server:
        server.serve("s", upstream)
        address = urlsplit(server.address).netloc
        idle, stalled = (http.client.HTTPConnection(address) for _ in range(2))
        idle.request("GET", "/nothing")
        assert idle.getresponse().read()
        server.stall = True
        stalled.request("GET", "/nothing")

    assert threading.active_count() == threads
    with pytest.raises(ConnectionError):
        stalled.getresponse()
    idle.close()
    stalled.close()


@pytest.mark.parametrize(
    ("spelled", "headers"),
    [
        (lambda body: body, {}),
        (gzip.compress, {"Content_Encoding": "gzip"}),
        (lambda body: iter([body[:7], body[7:]]), {}),
    ],
    ids=["plain", "gzip", "chunked"],
)
def test_the_body_of_a_request_may_be_plain_compressed_or_chunked(
    upstream: Repository,
    server: GitServer,
    spelled: Callable[[bytes], bytes | Iterable[bytes]],
    headers: dict[str, str],
) -> None:
    url = server.serve("s", upstream)

    assert upstream.resolve().encode() in post(url, spelled(LS_REFS), **headers)
    assert [seen.command for seen in server.requests] == ["ls-refs"]


# Snapshot


def test_a_snapshot_contains_files_folders_modes_and_links(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir(mode=0o750)
    (tmp_path / "b/run.sh").write_text("#!")
    (tmp_path / "b/run.sh").chmod(0o755)
    (tmp_path / "a").symlink_to("nowhere")
    (tmp_path / "b.lock").touch()
    (tmp_path / "c").mkdir()
    (tmp_path / "c/temporary").touch()

    assert snapshot(tmp_path, ignore=["b.lock", "c"]) == {
        "a": Entry("link", 0o777, "nowhere"),
        "b": Entry("dir", 0o750, b""),
        "b/run.sh": Entry("file", 0o755, b"#!"),
    }
    assert render_tree(tmp_path) == "a -> nowhere\nb/\n  run.sh\nb.lock\nc/\n  temporary\n"


def test_a_snapshot_of_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        snapshot(tmp_path / "misspelt")


# Sandbox


def test_a_command_sees_only_the_sandbox(
    sandbox: Python,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")
    code = "import os, json; print(json.dumps([os.getcwd(), dict(os.environ)]))"
    here, environment = sandbox.run(code, env={"EXTRA": "1", "NO_COLOR": None}, check=True).json

    assert here == str(sandbox.work)
    for varying in ("PATH", "PYTHONPATH", "LC_CTYPE"):
        environment.pop(varying, None)
    assert environment == {
        "HOME": str(sandbox.home),
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
        "GIT_CONFIG_NOSYSTEM": "1",
        "SKILLPM_CACHE_DIR": str(sandbox.cache),
        "EXTRA": "1",
    }


def test_a_result_has_exit_code_stdout_and_stderr(sandbox: Python) -> None:
    code = "import sys; print(sys.stdin.read()); print('no', file=sys.stderr); sys.exit(3)"
    result = sandbox.run(code, stdin="yes")

    assert (result.code, result.stdout, result.stderr) == (3, "yes\n", "no\n")
    with pytest.raises(CommandFailedError, match=r"exit 3\n--- stdout\n\n--- stderr\nno\n"):
        sandbox.run(code, check=True)


def test_a_command_that_hangs_is_killed_with_its_children(sandbox: Python) -> None:
    code = (
        "import os, pathlib, signal, subprocess\n"
        "child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n"
        "pathlib.Path('group').write_text(f'{os.getpgid(child.pid)} {os.getpid()}')\n"
        "signal.pause()\n"
    )
    for timeout in (2, 20, 60):  # on a busy machine, it may not have started its child within two seconds
        with pytest.raises(subprocess.TimeoutExpired):
            sandbox.run(code, timeout=timeout)
        if sandbox.exists("group"):
            break

    group, parent = sandbox.read("group").split()
    assert group == parent


def test_a_spawned_command_can_be_killed(sandbox: Python) -> None:
    with sandbox.spawn("import signal; print('up', flush=True); signal.pause()") as process:
        assert process.stdout
        assert process.stdout.readline() == b"up\n"
        process.kill()

    assert process.returncode == -signal.SIGKILL


def test_the_users_git_can_be_redirected_to_the_server(
    sandbox: Python,
    server: GitServer,
    upstream: Repository,
) -> None:
    server.serve("acme/skills", upstream)
    sandbox.redirect_git("https://github.com/", server.address)
    sandbox.git_config("[color]\n\tui = never")
    asked = ["git", "ls-remote", "https://github.com/acme/skills", "HEAD"]

    result = sandbox.run(f"import subprocess; subprocess.run({asked!r}, check=True)", check=True)
    assert result.stdout.split()[0] == upstream.resolve()


def test_files_are_relative_to_the_working_directory(sandbox: Python) -> None:
    sandbox.write_files(prefix_paths("mine/pdf", make_skill("pdf", body="Body.\r\n")))
    sandbox.write("skills.json", json.dumps({}))
    (sandbox.work / "link").symlink_to("nowhere")

    assert sandbox.read("mine/pdf/SKILL.md").endswith("---\nBody.\r\n")
    assert [sandbox.exists(path) for path in ("mine", "link", "yours")] == [True, True, False]
    assert sandbox.render_tree(ignore=["mine/pdf"]) == "link -> nowhere\nmine/\nskills.json\n"
    assert set(sandbox.snapshot("mine")) == {"pdf", "pdf/SKILL.md"}
