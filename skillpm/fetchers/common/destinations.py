"""Which servers a command may contact, and at which addresses.

The user's own words (manifest, command line, configuration) may name any server. What others wrote (the dependencies
of a skill, an index, a redirect) leads to the internet, but not to this machine or its networks: skillpm could
otherwise be used to reach services that only this machine can reach (server-side request forgery).

Each name is resolved once. The owner of a name could otherwise answer the query of the check with a public address, and
that of the connection with a local one (DNS rebinding).
"""

from skillpm.core.git_syntax import LOOPBACK, server_of
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, RefusedError
from skillpm.fetchers.common.gate import OPEN, Gate

REDIRECT_HINT = "report it to the server's administrator; nothing was downloaded"
SSH_REASON = "is reached over ssh with your keys, but your skills.json does not name its host"


class UnnamedServerError(RefusedError):
    """A server that only the user may name; `reason` is a predicate of the URL."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{sanitize(url)} {reason}", hint="only your skills.json or your command line may name it")
        self.url = url
        self.reason = reason

    def required_by(self, owner: str, name: str, source_url: str) -> RefusedError:
        """Return the error for a dependency on the skill `name` from `source_url`."""
        return RefusedError(
            f"`{owner}` requires `{name}` from {sanitize(source_url)}, which {self.reason}",
            where=f"`{owner}`: dependencies.{name}",
            hint=f'if you trust it, override it: "overrides": {{"{name}": …}} in skills.json',
        )


class Destinations:
    """The servers that the user named, and the addresses of all hosts that were resolved. Thread-safe."""

    def __init__(self, gate: Gate = OPEN) -> None:
        self._gate = gate
        self._named: set[str] = set()
        # Whether the indexes of the scope are among the named ones. They are read only when another server is none.
        self._has_indexes = False
        self._addresses: dict[str, tuple[str, ...]] = {}

    def require_allowed(self, url: str) -> None:
        """Raise `NotTrusted` for a URL that no policy allows; called before each request."""
        self._gate.require_allowed(url)

    def name(self, *urls: str) -> None:
        """Add the servers of URLs that the user wrote."""
        self._named.update(server for server in map(server_of, urls) if server)

    def is_named(self, url: str) -> bool:
        """Return whether the user named the server of a URL."""
        if server_of(url) not in self._named and not self._has_indexes:
            self.name(*self._gate.find_index_urls())
            self._has_indexes = True
        return server_of(url) in self._named

    def resolve(self, host: str) -> tuple[str, ...]:
        """Return the addresses of a host in the system's order, always the same. Raises `OSError` if there are none."""
        if host not in self._addresses:
            import socket  # noqa: PLC0415  (a command that contacts no server saves 3 ms)

            try:
                found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            except UnicodeError as error:
                raise OSError(f"invalid host name: {error}") from None
            # Another thread may have resolved it meanwhile: the first answer applies to all.
            self._addresses.setdefault(host, tuple(dict.fromkeys(str(info[4][0]) for info in found)))
        return self._addresses[host]

    def check(self, url: str, host: str) -> None:
        """Raise `UnnamedServerError` for a server of the local network that the user did not name.

        `host` is the host of the URL as it is resolved. Raises `OSError` if that fails.
        """
        if not self.is_named(url) and (address := self._find_private_address(host)):
            raise UnnamedServerError(url, f"is in your local network ({address})")

    def check_reference(self, from_url: str, from_host: str, to_url: str, to_host: str) -> None:
        """Raise `FetchError` if a server points into the local network without being part of it.

        Raises `OSError` if the target does not resolve.
        """
        if server_of(to_url) == server_of(from_url):
            return  # for example a public host that has a private address, too
        if self._find_private_address(to_host) and not self._is_private(from_host):
            raise FetchError(
                f"{sanitize(from_url)} points into the local network: {sanitize(to_url)}", hint=REDIRECT_HINT
            )

    def _find_private_address(self, host: str) -> str:
        name = host.lower().removesuffix(".")
        if name == "localhost" or name.endswith(".localhost"):  # never in DNS (RFC 6761, section 6.3)
            return LOOPBACK[0]
        return next((address for address in self.resolve(host) if is_private_address(address)), "")

    def _is_private(self, host: str) -> bool:
        """Return whether all addresses of a host are private: anyone can add a private one to a public name."""
        try:
            return all(map(is_private_address, self.resolve(host)))
        except OSError:
            return False


# Prefixes whose addresses contain an IPv4 address, and where it begins: IPv4-compatible (RFC 4291), NAT64 (RFC 6052,
# RFC 8215) and 6to4 (RFC 3056). A gateway may pass them on to that address.
EMBEDDED_IPV4 = (("::/96", 12), ("64:ff9b::/96", 12), ("64:ff9b:1::/48", 12), ("2002::/16", 2))


def is_private_address(address: str) -> bool:
    """Return whether an address is not, or not only, one of the internet: this machine, private networks, groups."""
    import ipaddress  # noqa: PLC0415  (as above)

    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        for prefix, start in EMBEDDED_IPV4:
            if parsed in ipaddress.IPv6Network(prefix):
                return is_private_address(str(ipaddress.IPv4Address(parsed.packed[start : start + 4])))
        if parsed.ipv4_mapped is not None:
            return is_private_address(str(parsed.ipv4_mapped))
        if parsed.is_site_local:
            return True
    return parsed.is_multicast or not parsed.is_global
