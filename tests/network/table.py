"""Which documents come over the network, what goes wrong with each, and what is said then."""

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
    """Something that a command asks for: the words of the command, the request, and what its errors begin with.

    `named` is the address that they name, where it is another one. So many requests `after` the first it is this one;
    what lies below `without` is not there.
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
        """Give the address that its errors name."""
        return REPOSITORY if self.is_git else self.named or "{server}" + self.asked.removeprefix("GET ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """How a command has to end when a document goes wrong every time."""

    said: str
    tries: int
    code: int = 1


PATIENCE = "4"
"""Seconds: a machine with much to do is silent for two without any fault."""
INDEX = "the index {place} cannot be read: {url}"
SITE = ("install", "{server}/@pdf")
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
    "refs": Document(words=("install", f"{REPOSITORY}@pdf"), asked="GET /acme/skills.git/info", is_git=True),
    "ls-refs": Document(words=("install", f"{REPOSITORY}@pdf"), asked="POST .* ls-refs", is_git=True),
    "commit": Document(words=("install", f"{REPOSITORY}@pdf"), asked="POST .* fetch", is_git=True),
    "files": Document(words=("install", f"{REPOSITORY}@pdf"), asked="POST .* fetch", is_git=True, after=1),
}
DONE = Row(said="", tries=1, code=0)
CUT = "{begins}: the answer broke off (peer closed connection without sending complete message body ({what}))"
SOME = "received N bytes, expected N"
RESET = Row(said="{begins}: the answer broke off ([Errno 104] Connection reset by peer)", tries=3)
SILENT = Row(said="{begins}: the server does not answer", tries=3)
LATE = Row(said=f"{{begins}} gave no answer within {PATIENCE} s", tries=1)
GONE_AWAY = Row(said="{begins}: the answer broke off (Server disconnected without sending a response.)", tries=3)
WEB_ROWS = {
    **dict.fromkeys(("reset", "reset-in-head", "reset-in-body"), RESET),
    **dict.fromkeys(("hang-up", "no-http"), GONE_AWAY),
    **dict.fromkeys(("truncated", "says-more"), Row(said=CUT.replace("{what}", SOME), tries=3)),
    "cut-chunks": Row(said=CUT.replace("{what}", "incomplete chunked read"), tries=3),
    "says-nonsense": Row(said="{begins}: this is no answer of a web server (bad Content-Length)", tries=3),
    **dict.fromkeys(STALLS, SILENT),
    **dict.fromkeys(DRIPS, LATE),
    "endless": Row(said="{begins} sends more than N bytes", tries=1),
}
BROKE_OFF = Row(said="the connection to {url} broke off", tries=3)
GIT_ROWS = {
    **dict.fromkeys(FAULTS, BROKE_OFF),
    **dict.fromkeys(DRIPS, Row(said=f"{{url}} gave no answer within {PATIENCE} s", tries=1)),
    "404": Row(said="there is no git repository at {url}", tries=1),
}
# The pack is whole before the nonsense begins: whether git has stored it by the time it fails is a matter of moments.
MAY_SUCCEED = frozenset([("endless", "files")])
SUM = "`pdf` is not what the index {place} says: {url} is SUM, and the index says SUM"
NO_JSON = "this is not JSON: {what}"
HALF_A_TAR = "{url}: it is not a complete .tar.gz: Compressed file ended before the end-of-stream marker was reached"
NO_ARCHIVE = "{url}: it is no .tar.gz, no .zip and no SKILL.md, but a web page"
OWN = {
    **{(fault, name): Row(said=SUM, tries=1) for fault in ("says-less", "web-page") for name in ("archive", "skill")},
    **{
        ("says-less", name): Row(said=NO_JSON.replace("{what}", "Unterminated string starting at"), tries=1)
        for name in ("versions", "listing", "site", "old-site")
    },
    **{
        ("web-page", name): Row(said=NO_JSON.replace("{what}", "Expecting value"), tries=1)
        for name in ("versions", "site", "old-site")
    },
    **{("says-less", name): Row(said=HALF_A_TAR, tries=1) for name in ("url", "redirected")},
    **{("web-page", name): Row(said=NO_ARCHIVE, tries=1) for name in ("url", "redirected")},
    # Version 0.1.0 of the discovery specification has no sums: who says less is believed.
    ("says-less", "old-file"): DONE,
    ("web-page", "old-file"): Row(
        said="skill pdf: its SKILL.md cannot be loaded: the file does not begin with a `---` line", tries=1
    ),
    # Where there is no index of ours there may be one of the specification; and where none is new, an old one.
    **{(fault, "listing"): DONE for fault in ("web-page", "404")},
    ("404", "site"): DONE,
    ("endless", "redirected"): Row(said="{server}/pdf.tar.gz sends more than N bytes", tries=1),
    # A site's file that is gone is looked for twice: for what the command means, and to be taken.
    ("404", "old-file"): Row(said="{url} is not there (the server answers 404)", tries=2),
    ("404", "versions"): Row(
        said="no index has a skill `pdf` (asked: acme ({server}/acme/)), and none ships with skillpm", tries=1
    ),
    ("404", "old-site"): Row(
        said="there is no index at {server}/: neither index.json nor .well-known/agent-skills/index.json", tries=1
    ),
    **{
        ("404", name): Row(
            said="the index {place} names an archive of `pdf` that is not there: "
            "{url} is not there (the server answers 404)",
            tries=tries,
        )
        for name, tries in (("archive", 1), ("skill", 2))
    },
    # Not asked for again: git was answered, and not by a git server.
    ("endless", "ls-refs"): Row(said="{url} answers, but not as a git server does", tries=1),
    ("endless", "refs"): Row(said="{url} sends more than git can hold", tries=1),
    ("web-page", "ls-refs"): Row(said="{url} answers, but not as a git server does", tries=1),
    ("404", "ls-refs"): Row(said="{url} answers, but not as a git server does", tries=1),
    ("says-less", "refs"): Row(said="{url} answers, but not as a git server does", tries=1),
    ("web-page", "refs"): Row(said="{url} answers, but not as a git server does", tries=1),
    ("says-nonsense", "refs"): Row(said="{url} could not be reached", tries=1),
    ("no-http", "refs"): Row(said="{url} could not be reached", tries=1),
    # Git has all that it needs before it misses the rest.
    **{("says-more", name): DONE for name in ("commit", "files")},
}
ONCE_MORE = sorted(
    {*FAULTS} - {*DRIPS, "endless", "says-less", "web-page", "404", "418", "429-wait-hour", "503-wait-hour"}
)


def expected(fault: str, name: str) -> Row:
    """Give how a row has to end."""
    document = DOCUMENTS[name]
    if row := OWN.get((fault, name)):
        return row
    status, _, wait = fault.partition("-")
    if wait == "wait-hour":
        return Row(said=f"{{begins}}: the server asks to wait N s (it answers {status})", tries=1)
    if status.isdigit() and status != "404":
        tries = 1 if status == "418" else 3
        if document.is_git:
            what = "the server asks to wait" if status == "429" else "the server failed"
            return Row(said=f"{what} (HTTP {status}): {{url}}", tries=tries)
        times = "" if tries == 1 else f", {tries} times"
        return Row(said=f"{{begins}}: the server answers {status}{times}", tries=tries)
    if status == "404" and not document.is_git:
        return Row(said="{begins} is not there (the server answers 404)", tries=1)
    return (GIT_ROWS if document.is_git else WEB_ROWS)[fault]


def may_pass(fault: str, name: str) -> bool:
    """Tell whether it is asked for again."""
    return fault in ONCE_MORE and expected(fault, name).tries == TRIES


def spelled(row: Row, name: str) -> str:
    """Give the message of a row, of one document."""
    document = DOCUMENTS[name]
    place = "acme" if "acme" in document.url else "{server}"
    words = {"begins": document.begins, "url": document.url, "place": place, "server": "SERVER"}
    said = row.said
    for _ in words:
        for key, value in words.items():
            said = said.replace("{" + key + "}", value)
    return said


def settings(fault: str) -> dict[str, str]:
    """Give what keeps a row short: a fault that waits is waited for only so long."""
    if fault in DRIPS:
        return {"SKILLPM_NETWORK_TIMEOUT": PATIENCE}
    return {"SKILLPM_IDLE_TIMEOUT": PATIENCE} if fault in STALLS else {"SKILLPM_NETWORK_TIMEOUT": "60"}


def run_row(network: Network, folder: Path, fault: str, name: str, times: int = ALWAYS) -> Outcome:
    """Let one document go wrong so many times; give how the command went, with a made-up address in what it says."""
    document = DOCUMENTS[name]
    project = network.copy(folder)
    with network.serve(document.without) as server:
        server.add_fault(document.asked, fault, times=times, after=document.after)
        words = [word.replace("{server}", server.address) for word in document.words]
        outcome = network.run_measured(project, server, document.asked, *words, **settings(fault))
    if outcome.code == 0 and (times < ALWAYS or document.is_git) and "--list" not in words:
        whole = {"SKILL.md"} if "{server}/@pdf" in document.words else {*SKILL_FILES}
        assert project.installed_files("pdf") == {path: ("100644", SKILL_FILES[path]) for path in whole}
    return outcome.subtract_tries(document.after)


def plain(said: str) -> str:
    """Give an error without what is different each time."""
    said = re.sub(r"\b[0-9a-f]{64}\b", "SUM", said)
    return re.sub(r"(received|expected|wait|more than) \d+", r"\1 N", said)
