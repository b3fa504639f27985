"""Logins for registries: from the environment, from the files of Docker and Podman, or from a credential helper."""

import base64
import binascii
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping

from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError
from skillpm.settings import Settings

# What helpers return as the user if the secret is an identity token.
TOKEN_USER = "<token>"  # noqa: S105
HELPER_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)
# Labels of letters, digits and inner hyphens, the last one with a letter; or an address of IPv4; and a port.
LABEL = r"[a-z0-9]+(?:-+[a-z0-9]+)*"
COMMON_HOST = lazy_pattern(
    rf"(?:(?:{LABEL}\.)*(?=[0-9-]*[a-z]){LABEL}|[0-9]+(?:\.[0-9]+){{3}})(?::[1-9][0-9]*)?", re.ASCII
)
HELPER_SECONDS = 60
MAX_FILE = 1_000_000
# Under which Docker keeps the login of docker.io.
DOCKER_HUB_KEY = "https://index.docker.io/v1/"


class Login(Value):
    """User and password for a registry, or an identity token that is exchanged for others."""

    user: str = ""
    password: str = ""
    identity_token: str = ""

    def __repr__(self) -> str:
        """Omit the secrets."""
        return f"Login(user={self.user!r})"

    @property
    def basic(self) -> str:
        """The value of `Authorization` (RFC 7617)."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


def variable_name(host: str, part: str) -> str:
    """Return the environment variable for the user or the password of a host, e.g. of `ghcr.io`.

    No two hosts have the same one (ADR 51). In a common host, each label begins and
    ends with a letter or a digit: so one underscore is a dot, or before the port a colon, and two are a hyphen. Only a
    port comes after a last label with a letter, and only an address of IPv4 has four numbers. The name of any other
    host begins with an underscore, and each underscore after it begins the code of a character.
    """
    name = _to_ascii(host)
    if COMMON_HOST.fullmatch(name):
        encoded = name.replace("-", "__").replace(".", "_").replace(":", "_")
    else:
        encoded = "_" + re.sub(r"[^a-z0-9]", lambda match: f"_{ord(match[0]):02x}", name)
    return f"SKILLPM_OCI_{encoded.upper()}_{part}"


def _to_ascii(host: str) -> str:
    if host.isascii():
        return host.lower()
    import idna  # noqa: PLC0415  (only for international names)

    name, colon, port = host.lower().partition(":")
    return idna.encode(name).decode("ascii") + colon + port


def _read_variable(settings: Settings, host: str, part: str) -> str | None:
    """Return the value of a variable, without the spaces around it; None if it is not set.

    Raises `FetchError` if only the name is set that this variable had when several hosts shared one.
    """
    name, environ = variable_name(host, part), settings.environ
    old_name = f"SKILLPM_OCI_{re.sub(r'[^A-Z0-9]', '_', host.upper())}_{part}"
    if name not in environ and environ.get(old_name):
        raise FetchError(
            f"{old_name} is not sent to {sanitize(host)}: its name can also stand for another host",
            hint=f"if it is for {sanitize(host)}, rename it to {name}; if not, set that one to an empty value",
        )
    return environ[name].strip() if name in environ else None


def find_login(settings: Settings, host: str, repository: str) -> Login | None:
    """Return the login for a registry; the first of the places that has one.

    Raises `FetchError` for a variable that may be for another host, for a file that cannot be read, and for a
    credential helper that fails.
    """
    if password := _read_variable(settings, host, "PASSWORD"):
        return Login(user=_read_variable(settings, host, "USERNAME") or "", password=password)
    for path in _login_files(settings):
        if (node := _read_file(path)) is not None and (login := _find_in_file(node, settings, host, repository)):
            return login
    return None


def _login_files(settings: Settings) -> Iterator[str]:
    """Yield the files that hold logins, those of Podman first, which names them explicitly."""
    environ = settings.environ
    if path := environ.get("REGISTRY_AUTH_FILE"):
        yield path
    if folder := environ.get("XDG_RUNTIME_DIR"):
        yield os.path.join(folder, "containers", "auth.json")
    yield os.path.join(environ.get("DOCKER_CONFIG") or os.path.join(settings.home, ".docker"), "config.json")


def _read_file(path: str) -> JsonNode | None:
    try:
        with open(path, encoding="utf-8") as file:
            return parse_json(file.read(MAX_FILE), path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise FetchError(f"cannot read the logins: {reason}", where=path) from None


def _find_in_file(node: JsonNode, settings: Settings, host: str, repository: str) -> Login | None:
    """Return the login of the most specific key: a repository, one of its folders, the host, then a helper."""
    helpers = node.get("credHelpers")
    helper = "" if helpers is None else helpers.text_or(host)
    auths = node.get("auths")
    entries = {} if auths is None else {_normalize_key(key): member for key, member in auths.items()}
    parts = repository.split("/")
    keys = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    if not helper and (entry := next((entries[key] for key in keys if key in entries), None)) and entry.value:
        if token := entry.text_or("identitytoken"):
            return Login(identity_token=token)
        if entry.text_or("auth"):
            return _decode(entry.require("auth"))
    helper = helper or node.text_or("credsStore")
    return _ask_helper(helper, host, settings.environ, node.file) if helper else None


def _normalize_key(key: str) -> str:
    if key == DOCKER_HUB_KEY:
        return "docker.io"
    return key.partition("://")[2].rstrip("/").removesuffix("/v1").removesuffix("/v2") if "://" in key else key


def _decode(node: JsonNode) -> Login:
    try:
        user, colon, password = base64.b64decode(node.text(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        user, colon, password = "", "", ""
    if not colon:
        node.with_value("…").raise_expected("USER:PASSWORD in base64")  # without the secret
    return Login(user=user, password=password.rstrip("\0"))


def _ask_helper(name: str, host: str, environ: Mapping[str, str], file: str) -> Login | None:
    """Ask a credential helper (docker-credential-helpers, "get"); None if it knows no login for this host."""
    program = f"docker-credential-{name}"
    if not HELPER_NAME.fullmatch(name):
        raise FetchError(f"invalid name of a credential helper: `{sanitize(name, 60)}`", where=file)
    server = DOCKER_HUB_KEY if host == "docker.io" else host
    # Relative folders of PATH, such as the current one, may belong to a checkout.
    folders = [folder for folder in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    path = shutil.which(program, path=os.pathsep.join(folders) or os.devnull)
    if path is None:
        raise FetchError(f"the credential helper {program} was not found in PATH", where=file)
    try:
        answer = subprocess.run(
            [path, "get"],
            input=server.encode(),
            capture_output=True,
            timeout=HELPER_SECONDS,
            env=dict(environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"the credential helper {program} failed: {sanitize(str(error), 100)}", where=file) from None
    text = answer.stdout.decode(errors="replace")
    if answer.returncode:
        if "credentials not found" in text.lower():
            return None
        raise FetchError(f"the credential helper {program} failed: {sanitize(text.strip(), 100)}", where=file)
    try:
        found = json.loads(text)
        user, secret = str(found["Username"]), str(found["Secret"])
    except (ValueError, KeyError, TypeError):
        raise FetchError(f"the credential helper {program} returned no login", where=file) from None
    return Login(identity_token=secret) if user == TOKEN_USER else Login(user=user, password=secret)
