"""What git says, translated: real sentences of several versions of git, and what a user is told."""

import pytest

from skillpm.fetchers.git.errors import translate_error
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.stderr_patterns import is_cache_damage, is_refusal

URL = "https://git.example/acme/skills"
ACCESS = f"fatal: unable to access '{URL}/': "
COMMIT = "a" * 40
NO_ACCESS = "no access to {url}, or there is no such repository"
PROXY = "the proxy on the way to {url} wants another user or password"
NO_REPOSITORY = "there is no git repository at {url}"
NOT_REACHED = "{url} could not be reached"
BROKE_OFF = "the connection to {url} broke off"
NO_GIT = "{url} answers, but not as a git server does"
FAILED = "{url} was reached, but failed"
SSH = "\nfatal: Could not read from remote repository."
SENTENCES = [
    ("fatal: couldn't find remote ref refs/heads/dev", "{url} has no branch `dev`"),
    ("fatal: couldn't find remote ref refs/tags/v1/x", "{url} has no tag `v1/x`"),
    ("fatal: couldn't find remote ref HEAD", "{url} is empty: it has no commit yet"),
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
    ("Host key verification failed." + SSH, "the host key of {url} is not known"),
    (ACCESS + "The requested URL returned error: 502", "the server failed (HTTP 502): {url}"),
    (ACCESS + "The requested URL returned error: 429", "the server asks to wait (HTTP 429): {url}"),
    (ACCESS + "Could not resolve host: git.example", NOT_REACHED),
    (ACCESS + "Failed to connect to git.example port 40300 after 1 ms: Connection refused", NOT_REACHED),
    (ACCESS + "SSL certificate problem: self-signed certificate", "the certificate of {url} is not trusted"),
    ("fatal: early EOF\nfatal: fetch-pack: invalid index-pack output", BROKE_OFF),
    ("error: RPC failed; curl 18 transfer closed with 5 bytes remaining to read", BROKE_OFF),
    (ACCESS + "Operation too slow. Less than 1000 bytes/sec", BROKE_OFF),
    ("fatal: https://x/info/refs not valid: is this a git repository?", NO_GIT),
    ("fatal: protocol error: bad line length character: <!DO", NO_GIT),
    ("fatal: remote-curl: bad line length character:     ", NO_GIT),
    ("fatal: transport 'ext' not allowed", "{url} leads to a transport that is not allowed"),
    (
        f"error: object {'b' * 40}: hasDot: contains '.'\nfatal: fsck error in packed object",
        "git refuses {url}: object bbbbbbbbbbbb: contains '.'",
    ),
    ("error: git upload-pack: git-pack-objects died with error.\nfatal: the remote end hung up unexpectedly", FAILED),
    ("remote: fatal: empty filename in tree entry        \nfatal: the remote end hung up", FAILED),
    (
        "fatal: mismatched algorithms: client sha1; server sha256",
        "{url} has object ids of SHA-256, which skillpm cannot read yet",
    ),
    (
        "fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output",
        "there is no room for the git cache",
    ),
    (
        "fatal: sha1 file '/c/objects/pack/tmp_idx_1' write error. Out of diskspace\n"
        "fatal: fetch-pack: invalid index-pack output",
        "there is no room for the git cache",
    ),
    ("fatal: could not write '/c/objects/pack/pack-1.promisor' promisor file", "cannot write into the git cache"),
    (
        "fatal: could not open '/c/objects/pack/pack-1.promisor' for writing: Permission denied",
        "cannot write into the git cache: permission denied",
    ),
    ("fatal: write error: Disk quota exceeded", "there is no room for the git cache"),
    (
        "fatal: write error: Permission denied\nfatal: fetch-pack: invalid index-pack output",
        "cannot write into the git cache: permission denied",
    ),
    (
        "fatal: unable to write file /c/objects/pack/pack-1.promisor: Read-only file system",
        "cannot write into the git cache: the file system is read-only",
    ),
    (
        "error: cannot update ref 'refs/skillpm/1': couldn't write '/c/refs/skillpm/1.lock'",
        "cannot write into the git cache",
    ),
    ("error: couldn't set 'refs/skillpm/b5180223165af358'", "cannot write into the git cache"),
    ("usage: git cat-file (-t | -s)", "this git is too old for skillpm"),
]


@pytest.mark.parametrize(("said", "told"), SENTENCES)
def test_what_git_says_becomes_what_a_user_is_told(said: str, told: str) -> None:
    error = translate_error(GitFailed(said), URL)

    message, _, quoted = error.message.partition("; git says: ")
    assert message == told.format(url=URL)
    assert quoted in {"", said.splitlines()[0]}
    assert "git says" not in error.hint, "it is a reason, and no way on"


@pytest.mark.parametrize(("said", "_"), SENTENCES)
def test_the_servers_faults_are_never_taken_for_damage_of_the_cache(said: str, _: str) -> None:
    assert not is_cache_damage(GitFailed(said))


@pytest.mark.parametrize(
    "said",
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
def test_damage_of_the_cache_is_known(said: str) -> None:
    assert is_cache_damage(GitFailed(said))


def test_a_cache_that_was_made_anew_and_cannot_be_written_still_is_told() -> None:
    said = "error: cannot lock ref 'refs/skillpm/1': Unable to create '/c/refs/skillpm/1.lock': Input/output error"
    assert is_cache_damage(GitFailed(said))
    assert translate_error(GitFailed(said), URL).message == "cannot write into the git cache: input/output error"


def test_git_is_quoted_in_one_safe_line_without_credentials() -> None:
    error = translate_error(GitFailed("fatal: \x1b[2J https://ann:p@ss@x/y \u202e" + "z" * 999), URL)

    assert error.message.startswith(f"{URL} could not be reached; git says: fatal: \\x1b[2J https://***@x/y \\u202e")
    assert len(error.message) < 250
    assert error.hint == "check the address and the network"


@pytest.mark.parametrize(
    "said", ["fatal: early EOF", "fatal: repository 'x' not found", "fatal: unable to access 'x': 500"]
)
def test_only_a_refusal_makes_it_worth_to_ask_differently(said: str) -> None:
    assert not is_refusal(GitFailed(said))
