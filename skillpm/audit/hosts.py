"""What is known about the hosts in URLs: whose installers are widely used, and which hosts hide a recipient."""

from collections.abc import Iterator
from re import Match
from typing import Literal, NamedTuple

from skillpm.core.patterns import lazy_pattern

HostKind = Literal["installer", "plain", "unencrypted", "address", "shortener", "collector", "lookalike", "local"]
# Hosts, or hosts with the beginning of a path, that serve the installers which projects name in their own
# documentation.
INSTALLERS = (
    *(
        "astral.sh/",
        "sh.rustup.rs",
        "static.rust-lang.org/rustup",
        "bun.sh/",
        "bun.com/",
        "deno.land/",
        "get.docker.com",
    ),
    *("ollama.com/", "claude.ai/", "fly.io/", "get.pnpm.io/", "install.python-poetry.org", "pyenv.run", "mise.run"),
    *("raw.githubusercontent.com/nvm-sh/", "raw.githubusercontent.com/homebrew/", "raw.githubusercontent.com/helm/"),
    *("raw.githubusercontent.com/pyenv/", "raw.githubusercontent.com/ohmyzsh/", "brew.sh", "cli.github.com/"),
    *("deb.nodesource.com/", "rpm.nodesource.com/", "get.helm.sh", "get.k3s.io", "starship.rs/", "nixos.org/"),
    *("install.determinate.systems/", "get.sdkman.io", "sdk.cloud.google.com", "awscli.amazonaws.com/", "sh.jbang.dev"),
    *("get.volta.sh", "aka.ms/", "dot.net/", "aspire.dev/", "get-ghcup.haskell.org", "foundry.paradigm.xyz"),
    *("tailscale.com/", "rclone.org/", "cursor.com/", "opencode.ai/", "release.anza.xyz/", "gh.io/", "proton.me/"),
    *(
        "just.systems/",
        "taskfile.dev/",
        "get.rke2.io",
        "packages.microsoft.com/",
        "getcomposer.org/",
        "bootstrap.pypa.io/",
    ),
    *("app.factory.ai/", "raw.githubusercontent.com/babashka/", "raw.githubusercontent.com/aquasecurity/"),
    *("raw.githubusercontent.com/anchore/", "raw.githubusercontent.com/golangci/", "golangci-lint.run/"),
)
# The user who opened the inbox, tunnel or paste reads the requests.
COLLECTORS = frozenset(
    (
        *(
            "webhook.site",
            "requestbin.com",
            "requestbin.net",
            "pipedream.net",
            "ngrok.io",
            "ngrok.app",
            "ngrok-free.app",
        ),
        *(
            "ngrok-free.dev",
            "trycloudflare.com",
            "burpcollaborator.net",
            "oastify.com",
            "oast.fun",
            "oast.pro",
            "oast.live",
        ),
        *("oast.site", "oast.online", "oast.me", "interact.sh", "requestcatcher.com", "beeceptor.com", "hookbin.com"),
        *(
            "dnslog.cn",
            "serveo.net",
            "localhost.run",
            "lhr.life",
            "loca.lt",
            "transfer.sh",
            "file.io",
            "0x0.st",
            "pastebin.com",
        ),
        *("rentry.co", "glot.io", "paste.ee", "ix.io", "termbin.com", "bashupload.com", "temp.sh", "gofile.io"),
        *("hastebin.com", "dpaste.com", "dpaste.org", "canarytokens.com", "anonfiles.com", "paste.rs", "catbox.moe"),
    )
)
COLLECTOR_PATHS = (
    "discord.com/api/webhooks",
    "discordapp.com/api/webhooks",
    "discord.com/api/v8/webhooks",
    "discord.com/api/v9/webhooks",
    "discord.com/api/v10/webhooks",
    "canary.discord.com/api/",
    "ptb.discord.com/api/",
    "api.telegram.org/bot",
    "script.google.com/macros/s/",
    "hooks.zapier.com/hooks/catch/",
)
SHORTENERS = frozenset(
    (
        *("bit.ly", "tinyurl.com", "t.co", "goo.gl", "is.gd", "ow.ly", "cutt.ly", "rb.gy", "shorturl.at", "tiny.cc"),
        *("v.gd", "rebrand.ly", "buff.ly", "s.id", "t.ly", "bl.ink", "shorte.st", "adf.ly", "lnk.to", "tr.im"),
    )
)
# Letters of other scripts that look like Latin ones; and quotation marks, so that rules need only one form.
LOOKALIKE_LETTERS = "аеорсухіјѕһԁԛԝвкмнтАВЕКМНОРСТУХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսոհցԱՍᎪᏟᎬᎻᎷᏢᎢᴄᴏꜱᴠᴢᴡ"
LOOKALIKES = str.maketrans(
    f"{LOOKALIKE_LETTERS}‘’“”", "aeopcyxijshdqwbkmhtABEKMHOPCTYXIJSoABEZHIKMNOPTYXounhgUUACEHMPTcosvzw''\"\""
)
LOOKALIKE_LETTER = lazy_pattern(f"[{LOOKALIKE_LETTERS}]")
# Names of which each is an address: `198-51-100-7.sslip.io`.
ADDRESS_SUFFIXES = (".sslip.io", ".nip.io", ".xip.io")
LOCAL_SUFFIXES = (".local", ".localhost", ".internal", ".test", ".invalid", ".lan", ".home.arpa")
LOCAL_NETWORKS = ("10.", "127.", "0.", "192.168.", "169.254.", "192.0.2.", "198.51.100.", "203.0.113.", "100.64.")
PRIVATE_172 = range(16, 32)
URL = lazy_pattern(
    r"(?i)\b(https?|wss?|ftp)://(?:([^\s/?#@\"'`<>()]{1,200})@)?(\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})(:\d{1,5})?"
    r"(/[^\s\"'`<>)\]|;]{0,300})?"
)
ADDRESS = lazy_pattern(
    r"(?:(?:0x[0-9a-f]{1,2}|\d{1,4})\.){3}(?:0x[0-9a-f]{1,2}|\d{1,4})|\d{8,10}|0x[0-9a-f]{8}|\[[0-9a-f:.]+\]"
)


class Url(NamedTuple):
    """A URL in a text; `host` is in lower case."""

    text: str
    scheme: str
    user: str
    host: str
    rest: str

    @property
    def kind(self) -> HostKind:
        """What is known about its host; the most severe first."""
        host, where = self.host, f"{self.host}{self.rest}".lower()
        if is_local(host):
            return "local"
        if ADDRESS.fullmatch(host) or host.endswith(ADDRESS_SUFFIXES):
            return "address"
        if is_lookalike(host):
            return "lookalike"
        if host in SHORTENERS:
            return "shortener"
        if is_collector(host) or where.startswith(COLLECTOR_PATHS):
            return "collector"
        if self.scheme in {"http", "ftp", "ws"}:
            return "unencrypted"
        return "installer" if f"{where}/".startswith(INSTALLERS) else "plain"


def find_urls(text: str) -> Iterator[tuple[Match[str], Url]]:
    """Yield each URL of a text, with its match."""
    if "://" in text:
        for match in URL.finditer(text):
            yield match, read_url(match)


def read_url(match: Match[str]) -> Url:
    """Return the URL of a match of `URL`."""
    return Url(match[0], match[1].lower(), match[2] or "", match[3].lower().strip("."), match[5] or "")


def is_local(host: str) -> bool:
    """Return whether a host is this machine, a private network, or a name for examples."""
    if host in {"localhost", "[::1]", "host.docker.internal"} or host.endswith(LOCAL_SUFFIXES):
        return True
    if host.startswith("172.") and (second := host.split(".")[1]).isdigit():
        return int(second) in PRIVATE_172
    return host.startswith(LOCAL_NETWORKS) and ADDRESS.fullmatch(host) is not None


def is_lookalike(host: str) -> bool:
    """Return whether a host has letters that its reader may take for others."""
    return "xn--" in host or (not host.isascii() and LOOKALIKE_LETTER.search(host) is not None)


def is_collector(host: str) -> bool:
    """Return whether a host is one of `COLLECTORS`, or below one."""
    labels = host.split(".")
    return any(".".join(labels[-count:]) in COLLECTORS for count in range(2, min(len(labels), 5) + 1))
