"""Every document that is fetched over the network, with every fault, and the expected error."""

import re
from dataclasses import dataclass
from pathlib import Path

from kit import FAULTS
from network.world import LEGACY_WELL_KNOWN, SKILL_FILES, WELL_KNOWN, Network, Outcome

ALWAYS = 1_000_000
TRIES = 3
DRIPS = ("dribble-head", "dribble-body")
STALLS = ("stall", "stall-in-body")
REPOSITORY = "{server}/acme/skills.git"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A document that a command requests: the command, the request, and the beginning of its errors.

    `named` is the URL in the errors, if it is another one. `after`: number of earlier requests with the same pattern.
    `without`: a path whose files do not exist.
    """

    words: tuple[str, ...]
    asked: str
    begins: str = "{url}"
    is_git: bool = False
    named: str = ""
    after: int = 0
    without: str = ""

    @property
    def url(self) -> str:
        """Return the URL that its errors name."""
        return REPOSITORY if self.is_git else self.named or "{server}" + self.asked.removeprefix("GET ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """How a command must end if a document fails in every attempt."""

    error: str
    tries: int
    code: int = 1


PATIENCE = "4"
"""Seconds: a machine with much to do is silent for two without any fault."""
INDEX = "cannot read the index {place}: {url}"
SITE = ("install", "{server}/@pdf")
PULL = ("install", "oci://{host}/acme/pdf")
TAGS = "{server}/v2/acme/pdf/tags/list?n=1000"
LOGIN = "{server}/token?service=registry.test&scope=repository%3Aacme%2Fpdf%3Apull"
DOCUMENTS = {
    "versions": Document(words=("install", "pdf"), asked="GET /acme/skills/pdf.json", begins=INDEX),
    "archive": Document(words=("install", "pdf"), asked="GET /acme/archives/pdf-1.0.0.tar.gz"),
    "listing": Document(words=("install", "{server}/acme", "--list"), asked="GET /acme/index.json", begins=INDEX),
    "site": Document(words=SITE, asked=f"GET {WELL_KNOWN}/index.json", begins=INDEX),
    "skill": Document(words=SITE, asked=f"GET {WELL_KNOWN}/pdf/SKILL.md"),
    "old-site": Document(words=SITE, asked=f"GET {LEGACY_WELL_KNOWN}/index.json", begins=INDEX, without=WELL_KNOWN),
    "old-file": Document(words=SITE, asked=f"GET {LEGACY_WELL_KNOWN}/pdf/SKILL.md", without=WELL_KNOWN),
    "url": Document(words=("install", "{server}/pdf.tar.gz"), asked="GET /pdf.tar.gz"),
    "redirected": Document(
        words=("install", "{server}/latest.tgz"), asked="GET /pdf.tar.gz", named="{server}/latest.tgz"
    ),
    "challenge": Document(words=PULL, asked="GET /v2/acme/pdf/tags/list", named=TAGS),
    "token": Document(words=PULL, asked="GET /token", named=LOGIN),
    "tags": Document(words=PULL, asked="GET /v2/acme/pdf/tags/list", named=TAGS, after=1),
    "manifest": Document(words=PULL, asked="GET /v2/acme/pdf/manifests/1.0.0"),
    "layer": Document(words=PULL, asked="GET /v2/acme/pdf/blobs/", named="{server}/v2/acme/pdf/blobs/sha256:SUM"),
    "refs": Document(words=("install", f"{REPOSITORY}@pdf"), asked="GET /acme/skills.git/info", is_git=True),
    "ls-refs": Document(words=("install", f"{REPOSITORY}@pdf"), asked="POST .* ls-refs", is_git=True),
    "commit": Document(words=("install", f"{REPOSITORY}@pdf"), asked="POST .* fetch", is_git=True),
    "files": Document(words=("install", f"{REPOSITORY}@pdf"), asked="POST .* fetch", is_git=True, after=1),
}
DONE = Row(error="", tries=1, code=0)
CUT = "{begins}: the connection was lost (peer closed connection without sending complete message body ({what}))"
SOME = "received N bytes, expected N"
RESET = Row(error="{begins}: the connection was lost ([Errno 104] Connection reset by peer)", tries=3)
SILENT = Row(error="{begins}: the server did not respond (3 attempts)", tries=3)
LATE = Row(error=f"{{begins}} did not respond within {PATIENCE} s", tries=1)
GONE_AWAY = Row(error="{begins}: the connection was lost (Server disconnected without sending a response.)", tries=3)
WEB_ROWS = {
    **dict.fromkeys(("reset", "reset-in-head", "reset-in-body"), RESET),
    **dict.fromkeys(("hang-up", "no-http"), GONE_AWAY),
    **dict.fromkeys(("truncated", "says-more"), Row(error=CUT.replace("{what}", SOME), tries=3)),
    "cut-chunks": Row(error=CUT.replace("{what}", "incomplete chunked read"), tries=3),
    "says-nonsense": Row(error="{begins}: invalid HTTP response (bad Content-Length)", tries=3),
    **dict.fromkeys(STALLS, SILENT),
    **dict.fromkeys(DRIPS, LATE),
    "endless": Row(error="{begins} sends more than N bytes", tries=1),
}
BROKE_OFF = Row(error="the connection to {url} was lost", tries=3)
GIT_ROWS = {
    **dict.fromkeys(FAULTS, BROKE_OFF),
    **dict.fromkeys(STALLS, Row(error="{url} did not respond (3 attempts)", tries=3)),
    **dict.fromkeys(DRIPS, Row(error=f"{{url}} did not respond within {PATIENCE} s", tries=1)),
    "404": Row(error="there is no git repository at {url}", tries=1),
}
SUM = "`pdf` does not match the index {place}: {url} has SHA-256 SUM, the index says SUM"
NO_JSON = "invalid JSON: {what}"
HALF_A_TAR = "{url}: not a complete .tar.gz: Compressed file ended before the end-of-stream marker was reached"
NO_ARCHIVE = "{url}: expected a .tar.gz, a .zip or a SKILL.md, got a web page (a login?)"
LAYER = "oci://{host}/acme/pdf@sha256:SUM"
OTHER_LAYER = f"{LAYER} does not match its digest: sha256:SUM"
UNLISTED = ("challenge", "tags")
OWN = {
    **{(fault, name): Row(error=SUM, tries=1) for fault in ("says-less", "web-page") for name in ("archive", "skill")},
    **{
        ("says-less", name): Row(error=NO_JSON.replace("{what}", "Unterminated string starting at"), tries=1)
        for name in ("versions", "listing", "site", "old-site")
    },
    **{
        ("web-page", name): Row(error="{begins} is a web page (a login?)", tries=1) for name in ("versions", "old-site")
    },
    **{("says-less", name): Row(error=HALF_A_TAR, tries=1) for name in ("url", "redirected")},
    **{("web-page", name): Row(error=NO_ARCHIVE, tries=1) for name in ("url", "redirected")},
    # Version 0.1.0 of the discovery specification has no checksums, so a short file goes undetected.
    ("says-less", "old-file"): DONE,
    ("web-page", "old-file"): Row(
        error="skill pdf: its SKILL.md cannot be loaded: the file does not begin with a `---` line", tries=1
    ),
    # The list of tags is requested twice: without a token, and with one.
    ("says-less", "challenge"): Row(error=NO_JSON.replace("{what}", "Expecting ',' delimiter"), tries=2),
    ("says-less", "tags"): Row(error=NO_JSON.replace("{what}", "Expecting ',' delimiter"), tries=1),
    ("says-less", "token"): Row(error=NO_JSON.replace("{what}", "Expecting value"), tries=1),
    ("says-less", "manifest"): Row(error=NO_JSON.replace("{what}", "Unterminated string starting at"), tries=1),
    **{
        ("web-page", name): Row(error=NO_JSON.replace("{what}", "Expecting value"), tries=1)
        for name in ("challenge", "token", "tags", "manifest")
    },
    **{(fault, "layer"): Row(error=OTHER_LAYER, tries=1) for fault in ("says-less", "web-page")},
    **{("404", name): Row(error="the repository oci://{host}/acme/pdf does not exist", tries=1) for name in UNLISTED},
    ("404", "token"): Row(error="oci://{host}/acme/pdf: cannot log in: {url} does not exist (HTTP 404)", tries=1),
    ("404", "manifest"): Row(error="oci://{host}/acme/pdf:1.0.0 does not exist", tries=1),
    ("404", "layer"): Row(error=f"{LAYER} does not exist, although its manifest names it", tries=1),
    # Without an index of skillpm, one of the specification is tried; without a new one of those, an old one.
    **{(fault, name): DONE for fault in ("web-page", "404") for name in ("listing", "site")},
    ("endless", "redirected"): Row(error="{server}/pdf.tar.gz sends more than N bytes", tries=1),
    # A missing file of a site is requested twice: to resolve the SPEC, and to fetch the skill.
    ("404", "old-file"): Row(error="{url} does not exist (HTTP 404)", tries=2),
    ("404", "versions"): Row(
        error="`pdf` was not found in any index (searched: acme ({server}/acme/)) and is not bundled with skillpm",
        tries=1,
    ),
    ("404", "old-site"): Row(
        error="no index found at {server}/: neither index.json nor .well-known/agent-skills/index.json exists", tries=1
    ),
    **{
        ("404", name): Row(
            error="`pdf`: the archive that the index {place} lists is missing: {url} does not exist (HTTP 404)",
            tries=tries,
        )
        for name, tries in (("archive", 1), ("skill", 2))
    },
    # Not retried: there was a response, but not one of a git server.
    **{
        (fault, name): Row(error="{url} did not answer like a git server", tries=1)
        for fault in ("endless", "web-page")
        for name in ("ls-refs", "commit", "files")
    },
    ("dribble-body", "ls-refs"): Row(error="{url} did not answer like a git server", tries=1),
    ("endless", "refs"): Row(error="{url} sends more data than git can handle", tries=1),
    ("says-less", "refs"): Row(error="{url} did not answer like a git server", tries=1),
    ("web-page", "refs"): Row(error="{url} did not answer like a git server", tries=1),
    ("says-nonsense", "refs"): Row(error="{url} could not be reached", tries=1),
    ("no-http", "refs"): Row(error="{url} could not be reached", tries=1),
    # Git has everything it needs before the missing rest.
    **{("says-more", name): DONE for name in ("ls-refs", "commit", "files")},
}
ONCE_MORE = sorted(
    {*FAULTS} - {*DRIPS, "endless", "says-less", "web-page", "404", "418", "429-wait-hour", "503-wait-hour"}
)


def expected(fault: str, name: str) -> Row:
    """Return the expected outcome of a row."""
    document = DOCUMENTS[name]
    if row := OWN.get((fault, name)):
        return row
    status, _, wait = fault.partition("-")
    if wait == "wait-hour":
        return Row(error=f"{{begins}}: the server asks to wait N s (HTTP {status})", tries=1)
    if status.isdigit() and status != "404":
        tries = 1 if status == "418" else 3
        if document.is_git:
            what = "too many requests" if status == "429" else "the server failed"
            return Row(error=f"{what} (HTTP {status}): {{url}}", tries=tries)
        times = "" if tries == 1 else f" ({tries} attempts)"
        return Row(error=f"{{begins}}: the server returned HTTP {status}{times}", tries=tries)
    if status == "404" and not document.is_git:
        return Row(error="{begins} does not exist (HTTP 404)", tries=1)
    return (GIT_ROWS if document.is_git else WEB_ROWS)[fault]


def is_retried(fault: str, name: str) -> bool:
    """Return whether the request is retried."""
    return fault in ONCE_MORE and expected(fault, name).tries == TRIES


def expected_message(row: Row, name: str) -> str:
    """Return the message of a row for one document."""
    document = DOCUMENTS[name]
    place = "acme" if "acme" in document.url else "{server}"
    words = {"begins": document.begins, "url": document.url, "place": place, "server": "SERVER", "host": "SERVER"}
    error = row.error
    for _ in words:
        for key, value in words.items():
            error = error.replace("{" + key + "}", value)
    return error


def settings(fault: str) -> dict[str, str]:
    """Return settings that keep a row short: low timeouts for faults that stall."""
    if fault in DRIPS:
        return {"SKILLPM_NETWORK_TIMEOUT": PATIENCE}
    return {"SKILLPM_IDLE_TIMEOUT": PATIENCE} if fault in STALLS else {"SKILLPM_NETWORK_TIMEOUT": "60"}


def run_row(network: Network, folder: Path, fault: str, name: str, times: int = ALWAYS) -> Outcome:
    """Run a command while one document fails `times` times; return the outcome, with a placeholder for the address."""
    document = DOCUMENTS[name]
    project = network.copy(folder)
    with network.serve(document.without) as server:
        server.add_fault(document.asked, fault, times=times, after=document.after)
        words = [word.replace("{server}", server.address).replace("{host}", server.host) for word in document.words]
        outcome = network.run_measured(project, server, document.asked, *words, **settings(fault))
    if outcome.code == 0 and (times < ALWAYS or document.is_git) and "--list" not in words:
        whole = {"SKILL.md"} if "{server}/@pdf" in document.words else {*SKILL_FILES}
        assert project.installed_files("pdf") == {path: ("100644", SKILL_FILES[path]) for path in whole}
    return outcome.subtract_tries(document.after)


def normalize_error(error: str) -> str:
    """Return an error with placeholders for what differs between runs."""
    error = re.sub(r"\b[0-9a-f]{64}\b", "SUM", error)
    return re.sub(r"(received|expected|wait|more than) \d+", r"\1 N", error)
