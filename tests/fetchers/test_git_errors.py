"""Messages of several git versions, and what skillpm makes of them."""

import pytest

from skillpm.fetchers.git.program.error_table import ErrorKind
from skillpm.fetchers.git.program.errors import GitFailed, classify, translate_error

URL = "https://git.example/acme/skills"
ACCESS = f"fatal: unable to access '{URL}/': "
COMMIT = "a" * 40
NO_ACCESS = "no access to {url}, or the repository does not exist"
PROXY = "proxy authentication required for {url}"
NO_REPOSITORY = "there is no git repository at {url}"
UNREACHABLE = "{url} could not be reached"
CONNECTION_LOST = "the connection to {url} was lost"
NOT_A_GIT_SERVER = "{url} did not answer like a git server"
SERVER_FAILED = "{url} was reached, but the server failed"
SSH = "\nfatal: Could not read from remote repository."
MESSAGES = [
    ("fatal: couldn't find remote ref refs/heads/dev", "{url} has no branch `dev`"),
    ("fatal: couldn't find remote ref refs/tags/v1/x", "{url} has no tag `v1/x`"),
    ("fatal: couldn't find remote ref HEAD", "{url} is empty: it has no commits yet"),
    (f"fatal: remote error: upload-pack: not our ref {COMMIT}", f"{{url}} has no commit `{COMMIT}`"),
    (f"error: Server does not allow request for unadvertised object {COMMIT}", f"{{url}} has no commit `{COMMIT}`"),
    (f"remote: Repository not found.\nfatal: repository '{URL}/' not found", NO_REPOSITORY),
    (ACCESS + "The requested URL returned error: 404", NO_REPOSITORY),
    (ACCESS + "The requested URL returned error: 403", NO_ACCESS),
    (ACCESS + "The requested URL returned error: 407", PROXY),
    (ACCESS + "CONNECT tunnel failed, response 407", PROXY),
    (f"fatal: Authentication failed for '{URL}/'", NO_ACCESS),
    (f"fatal: could not read Username for '{URL}': terminal prompts disabled", NO_ACCESS),
    ("git@git.example: Permission denied (publickey)." + SSH, NO_ACCESS),
    ("Host key verification failed." + SSH, "the host key of {url} could not be verified"),
    (ACCESS + "The requested URL returned error: 502", "the server failed (HTTP 502): {url}"),
    (ACCESS + "The requested URL returned error: 429", "too many requests (HTTP 429): {url}"),
    (ACCESS + "Could not resolve host: git.example", UNREACHABLE),
    (ACCESS + "Failed to connect to git.example port 40300 after 1 ms: Connection refused", UNREACHABLE),
    (ACCESS + "SSL certificate problem: self-signed certificate", "the certificate of {url} is not trusted"),
    ("fatal: early EOF\nfatal: fetch-pack: invalid index-pack output", CONNECTION_LOST),
    ("error: RPC failed; curl 18 transfer closed with 5 bytes remaining to read", CONNECTION_LOST),
    (ACCESS + "Operation too slow. Less than 1000 bytes/sec", "{url} did not respond (3 attempts)"),
    ("fatal: https://x/info/refs not valid: is this a git repository?", NOT_A_GIT_SERVER),
    ("fatal: protocol error: bad line length character: <!DO", NOT_A_GIT_SERVER),
    ("fatal: remote-curl: bad line length character:     ", NOT_A_GIT_SERVER),
    ("fatal: transport 'ext' not allowed", "{url} uses a transport that is not allowed"),
    (
        f"error: object {'b' * 40}: hasDot: contains '.'\nfatal: fsck error in packed object",
        "git rejected {url}: object bbbbbbbbbbbb: contains '.'",
    ),
    (
        "error: git upload-pack: git-pack-objects died with error.\nfatal: the remote end hung up unexpectedly",
        SERVER_FAILED,
    ),
    ("remote: fatal: empty filename in tree entry        \nfatal: the remote end hung up", SERVER_FAILED),
    (
        "fatal: mismatched algorithms: client sha1; server sha256",
        "{url} uses SHA-256 object ids, which skillpm does not support yet",
    ),
    (
        "fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output",
        "no space left for the git cache",
    ),
    (
        "fatal: sha1 file '/c/objects/pack/tmp_idx_1' write error. Out of diskspace\n"
        "fatal: fetch-pack: invalid index-pack output",
        "no space left for the git cache",
    ),
    ("fatal: could not write '/c/objects/pack/pack-1.promisor' promisor file", "cannot write to the git cache"),
    (
        "fatal: could not open '/c/objects/pack/pack-1.promisor' for writing: Permission denied",
        "cannot write to the git cache",
    ),
    ("fatal: write error: Disk quota exceeded", "no space left for the git cache"),
    (
        "fatal: write error: Permission denied\nfatal: fetch-pack: invalid index-pack output",
        "cannot write to the git cache",
    ),
    (
        "fatal: unable to write file /c/objects/pack/pack-1.promisor: Read-only file system",
        "cannot write to the git cache",
    ),
    (
        "error: cannot update ref 'refs/skillpm/1': couldn't write '/c/refs/skillpm/1.lock'",
        "cannot write to the git cache",
    ),
    ("error: couldn't set 'refs/skillpm/b5180223165af358'", "cannot write to the git cache"),
    ("usage: git cat-file (-t | -s)", "the installed git is too old for skillpm"),
]


@pytest.mark.parametrize(("stderr", "expected"), MESSAGES)
def test_translate_error(stderr: str, expected: str) -> None:
    error = translate_error(GitFailed(stderr), URL)

    message, _, quoted = error.message.partition("; git says: ")
    assert message == expected.format(url=URL)
    assert quoted in {"", stderr.splitlines()[0]}
    assert "git says" not in error.hint


@pytest.mark.parametrize(("stderr", "_"), MESSAGES)
def test_errors_of_the_server_are_not_cache_damage(stderr: str, _: str) -> None:
    assert ErrorKind.CACHE_DAMAGED not in classify(stderr)


@pytest.mark.parametrize(
    "stderr",
    [
        "fatal: loose object 0123 (stored in x) is corrupt",
        "error: inflate: data stream error (incorrect header check)\nerror: unable to unpack",
        "error: packfile ./objects/pack/pack-1.pack index unavailable",
        "error: index file ./objects/pack/pack-1.idx is too small",
        "fatal: not a git repository: '/home/x/.cache/skillpm/v1/git/y.git'",
        "fatal: bad config line 1 in file /home/x/.cache/skillpm/v1/git/y.git/config",
        "fatal: bad shallow line: 0123",
        "fatal: shallow file has changed since we read it",
        "error: cannot lock ref 'refs/skillpm/x': Unable to create '/x.lock': File exists.",
        "error: refs/skillpm/x does not point to a valid object!",
    ],
)
def test_cache_damage_is_recognized(stderr: str) -> None:
    assert ErrorKind.CACHE_DAMAGED in classify(stderr)


def test_a_damaged_cache_that_still_cannot_be_written_is_an_error_of_the_disk() -> None:
    stderr = "error: cannot lock ref 'refs/skillpm/1': Unable to create '/c/refs/skillpm/1.lock': Input/output error"

    assert ErrorKind.CACHE_DAMAGED in classify(stderr)
    assert translate_error(GitFailed(stderr), URL).message == f"cannot write to the git cache; git says: {stderr}"


def test_git_is_quoted_in_one_safe_line_without_credentials() -> None:
    error = translate_error(GitFailed("fatal: \x1b[2J https://ann:p@ss@x/y \u202e" + "z" * 999), URL)

    assert error.message.startswith(f"{URL} could not be reached; git says: fatal: \\x1b[2J https://***@x/y \\u202e")
    assert len(error.message) < 500
    assert error.hint == "check the URL and your network connection"


@pytest.mark.parametrize(
    "stderr", ["fatal: early EOF", "fatal: repository 'x' not found", "fatal: unable to access 'x': 500"]
)
def test_other_errors_do_not_lead_to_the_next_strategy(stderr: str) -> None:
    assert ErrorKind.REFUSED not in classify(stderr)


@pytest.mark.parametrize(
    "stderr",
    [
        "error: RPC failed; curl 56 Recv failure\nerror: inflate: data stream error\nerror: unable to unpack",
        "fatal: early EOF\nfatal: unable to parse object: x",
    ],
)
def test_what_git_prints_about_half_a_pack_means_nothing(stderr: str) -> None:
    assert classify(stderr) & {ErrorKind.CACHE_DAMAGED, ErrorKind.REFUSED} == set()
    assert ErrorKind.TRANSIENT in classify(stderr)


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("git@host.example:10022/org/r.git", "; if 10022 is a port: ssh://git@host.example:10022/org/r.git"),
        ("git@host.example:org/r.git", ""),
        ("ssh://git@host.example:10022/org/r.git", ""),
    ],
)
def test_a_port_in_the_place_of_a_folder_is_named(url: str, hint: str) -> None:
    error = translate_error(GitFailed("fatal: Could not read from remote repository."), url)

    assert error.hint == f"check the URL and your network connection{hint}"
