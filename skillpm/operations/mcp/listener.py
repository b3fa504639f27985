"""The address of an MCP server over HTTP, its socket, and the token that its clients must have."""

import ipaddress
import os
import re
import socket

from skillpm.core.git_syntax import LOOPBACK
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FileError, UsageError
from skillpm.files import OS_ERROR_REASONS, translate_os_errors
from skillpm.installer.disk.skill_file import read_text_file
from skillpm.operations.mcp.hosts import TOKEN_VARIABLE
from skillpm.settings import Settings

MIN_TOKEN_LENGTH = 16  # characters; a shorter one could be guessed
TOKEN = re.compile(r"[\x21-\x7e]+")
BACKLOG = 128
PORT = re.compile(r"[0-9]{1,5}")
MAX_PORT = 65_535
ALLOWED_HOST = re.compile(r"([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
ORIGIN_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")


class ListenAddress(Value):
    """Where a server listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it, under a name that requests are checked against (DNS rebinding)."""
        return self.host in LOOPBACK

    @property
    def url(self) -> str:
        """The URL of the server there."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}/mcp"


def parse_address(text: str) -> ListenAddress:
    """Return the address in `PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`. Raises `UsageError`."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not PORT.fullmatch(port) or int(port) > MAX_PORT or not _is_host(host):
        message = f"`{sanitize(text, 80)}` is not an address to listen on"
        raise UsageError(message, hint="for example 8790, 127.0.0.1:8790 or [::1]:8790")
    return ListenAddress(host=host, port=int(port))


def _is_host(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def parse_allowed_host(text: str) -> str:
    """Return the value of the header `Host` that `HOST[:PORT]` allows, in lower case. Raises `UsageError`."""
    host = text.strip().lower()
    if not ALLOWED_HOST.fullmatch(host):
        raise UsageError(
            f"`{sanitize(text, 80)}` is not a valid HOST[:PORT]",
            hint="pass the address that clients connect to, such as skills.example or skills.example:8443; "
            "`*` is not supported",
        )
    return host


def parse_allowed_origin(text: str) -> str:
    """Return the value of the header `Origin` that is allowed, in lower case. Raises `UsageError`."""
    origin = text.strip().lower()
    scheme, _, host = origin.partition("://")
    if not ORIGIN_SCHEME.fullmatch(scheme) or not ALLOWED_HOST.fullmatch(host):
        raise UsageError(
            f"`{sanitize(text, 80)}` is not a valid ORIGIN",
            hint="pass what browsers send, such as https://app.example or http://localhost:3000: without a path",
        )
    return origin


def read_token(settings: Settings, file: str | None) -> str:
    """Return the token in a file, else the one in the environment, else an empty string.

    Raises `FileError` if the file cannot be read, and `UsageError` for a token that is too short or no token.
    """
    token, where = settings.environ.get(TOKEN_VARIABLE, ""), TOKEN_VARIABLE
    if file is not None:
        where = os.path.join(settings.working_directory, file)
        with translate_os_errors("read the token", where):
            try:
                token = read_text_file(where)
            except UnicodeDecodeError as error:
                raise FileError("the file is not text", where=where) from error
    elif not token:
        return ""
    token = token.strip()
    if len(token) < MIN_TOKEN_LENGTH or TOKEN.fullmatch(token) is None:
        message = f"the token in {sanitize(where)} is not usable: it must have at least {MIN_TOKEN_LENGTH} characters"
        raise UsageError(f"{message}, without spaces", hint="create one: openssl rand -hex 32")
    return token


def open_listener(address: ListenAddress, *, has_token: bool) -> socket.socket:
    """Return a socket that listens there.

    Raises `UsageError` for an address that others reach if clients need no token, and `FileError` if the address is
    taken or not of this machine.
    """
    if not address.is_loopback and not has_token:
        raise UsageError(
            f"on {sanitize(address.host)}, clients need a token",
            hint=f"set {TOKEN_VARIABLE} or --token-file, or listen on 127.0.0.1, which only this machine reaches",
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)
        # Else each answer waits 40 ms for the acknowledgment of its first part. Connections inherit the option.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        reason = OS_ERROR_REASONS.get(error.errno or 0) or os.strerror(error.errno or 0)
        message = f"cannot listen on {address.host}:{address.port}: {reason[:1].lower()}{reason[1:]}"
        raise FileError(message, hint="choose another port, or 0 for any free one") from error
    return listener
