"""The transport that a URL really uses, after the user's `insteadOf`, and the environment of calls that use it."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.git_syntax import DEFAULT_PORTS, SCHEMES, authority_of, host_of, is_insecure, port_of, server_of
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError, NotTrusted
from skillpm.fetchers.common.destinations import SSH_REASON, Destinations, UnnamedServerError
from skillpm.fetchers.git.program.gitconfig import GitConfig, build_environment
from skillpm.fetchers.git.program.logins import askpass_environment, find_login
from skillpm.settings import Settings

if TYPE_CHECKING:
    from urllib.parse import SplitResult

# Git's own rule for `user@host:path`: a colon before the first slash. `ext::` is a transport helper, not a host.
SCP_ADDRESS = lazy_pattern(r"[^/:]+:(?!:)", re.ASCII)
WEB_SCHEMES = ("https", "http")


class GitTarget(Value):
    """What git contacts for the URL of a repository."""

    # After `insteadOf` and redirects; may have user info.
    url: str
    # The URL that redirects to it; empty without a redirect.
    from_url: str = ""


def build_network_environment(
    url: str,
    target: GitTarget,
    base: Mapping[str, str],
    config: GitConfig,
    settings: Settings,
    destinations: Destinations,
) -> dict[str, str]:
    """Return the environment of a call that may use the network, over exactly one transport.

    Raises `FetchError` for plain HTTP to a host that is neither this machine nor allowed, and `UnnamedServerError` for
    a server that only the user may name.
    """
    real = target.url
    # A URL that the user's own configuration rewrites is the user's decision.
    if (real == url or target.from_url) and is_insecure(real) and host_of(real) not in settings.insecure_hosts:
        raise FetchError(
            f"{sanitize(real)} uses plain HTTP, which can be tampered with in transit",
            hint=f"use https, or allow it with --allow-insecure-host {shell_word(host_of(real))}",
        )
    scheme = _transport_name(real)
    if scheme not in SCHEMES:
        raise FetchError(
            f"{url} uses a transport that is not allowed: {scheme}", hint="check git's `insteadOf` settings"
        )
    extra = _check_addresses(url, target, scheme, config, settings, destinations)
    if scheme in WEB_SCHEMES and (target.from_url or "@" in authority_of(real)):
        environment = _build_rewritten_environment(url, target, base, config, extra, settings)
    else:
        environment = build_environment(config, base, [*extra, *find_login(real, config, settings).settings])
    askpass = {} if config.is_anonymous else askpass_environment(real, settings)
    return {**environment, **askpass, "GIT_ALLOW_PROTOCOL": scheme}


def _require_allowed(url: str, target: GitTarget, destinations: Destinations) -> None:
    """Raise `NotTrusted` if a policy does not allow the URL of a target."""
    try:
        destinations.require_allowed(target.url)
    except NotTrusted as error:
        if target.url != url and not target.from_url:
            error.hint = f"`insteadOf` in your git configuration leads there from {url}; {error.hint}"
        raise


def _check_addresses(
    url: str, target: GitTarget, scheme: str, config: GitConfig, settings: Settings, destinations: Destinations
) -> list[tuple[str, str]]:
    """Check the server of a target, and return the setting that makes git connect to the addresses that were checked.

    Raises `UnnamedServerError`, and `FetchError` for a redirect into the local network.
    """
    real, host = target.url, host_of(target.url)
    _require_allowed(url, target, destinations)
    is_named = not target.from_url and (
        destinations.is_named(real) or (real != url and config.rewrites_to(server_of(real)))
    )
    if scheme not in WEB_SCHEMES:
        if scheme == "ssh" and not is_named:
            raise UnnamedServerError(url, SSH_REASON)
        return []
    if not is_named and (not host.isascii() or host.endswith(".")):
        # Git and `getaddrinfo` might not read it as the same name.
        raise UnnamedServerError(url, f"has a host in a form that cannot be checked ({host})")
    is_proxied = bool(find_proxy(real, config, settings.environ))
    if is_named and (is_proxied or config.has_addresses):
        return []
    try:
        if target.from_url:
            destinations.check_reference(target.from_url, host_of(target.from_url), real, host)
        elif not is_named:
            destinations.check(real, host)
        addresses = destinations.resolve(host)
    except OSError as error:
        if is_named or is_proxied:
            return []
        raise FetchError(
            f"{url} could not be reached: cannot resolve {host} ({error.strerror})",
            hint="check the URL and your network connection",
        ) from None
    if addresses == (host,):
        return []
    port = port_of(real) or DEFAULT_PORTS[scheme]
    usable = [f"[{address}]" if ":" in address else address for address in addresses if "%" not in address]
    return [("http.curloptResolve", f"{host}:{port}:{','.join(usable)}")] if usable else []


def find_proxy(url: str, config: GitConfig, environ: Mapping[str, str]) -> str:
    """Return the variable or the setting with the proxy that git uses for a URL, which resolves the name itself.

    Empty if git connects to the server.
    """
    scheme, host = url.partition("://")[0], host_of(url)
    if config.has_proxy_for(host):
        return "http.proxy in your git configuration"
    names = {name.lower(): name for name, value in environ.items() if value}
    exceptions = re.split(r"[,\s]+", environ.get(names.get("no_proxy", ""), ""))
    if any(it == "*" or f".{host}".endswith(f".{it.lstrip('.')}") for it in exceptions if it):
        return ""
    return names.get(f"{scheme}_proxy") or names.get("all_proxy", "")


def split_url(url: str, real_url: str) -> "SplitResult":
    """Split the URL that git contacts for `url`. Raises `FetchError` for an invalid one."""
    from urllib.parse import urlsplit  # noqa: PLC0415  (imports ipaddress, and few URLs redirect or have user info)

    try:
        return urlsplit(real_url)
    except ValueError as error:
        raise FetchError(f"{url} is rewritten to an invalid URL", hint="check git's `insteadOf` settings") from error


def _build_rewritten_environment(
    url: str,
    target: GitTarget,
    base: Mapping[str, str],
    config: GitConfig,
    extra: Sequence[tuple[str, str]],
    settings: Settings,
) -> dict[str, str]:
    """Return the environment for a URL that redirects, or that `insteadOf` rewrites to one with user info, without it.

    Git passes the rewritten URL to `git-remote-https` as an argument, which every user of the machine can read in the
    process list. So the login is passed by a credential helper that reads it from the environment.
    """
    from urllib.parse import unquote  # noqa: PLC0415  (as above)

    real_url = split_url(url, target.url)
    login, _, host = real_url.netloc.rpartition("@")
    address, origin = real_url._replace(netloc=host).geturl(), f"{real_url.scheme}://{host}"
    # The user's own rewrites would add the login again.
    without_rewrites = config.replace(
        settings=tuple(pair for pair in config.settings if not pair[0].endswith(".insteadof"))
    )
    extra = [*extra, (f"url.{address}.insteadOf", url)]
    if not login:
        return build_environment(without_rewrites, base, [*extra, *find_login(address, config, settings).settings])
    user, _, password = login.partition(":")
    words = ['printf "username=%s\\n" "$SKILLPM_GIT_USER"']
    if password:
        words.append('printf "password=%s\\n" "$SKILLPM_GIT_PASSWORD"')
    helper = f'!f() {{ test "$1" = get && {" && ".join(words)}; }}; f'
    return build_environment(
        without_rewrites,
        {**base, "SKILLPM_GIT_USER": unquote(user), "SKILLPM_GIT_PASSWORD": unquote(password)},
        [
            *extra,
            *([(f"credential.{origin}.helper", "")] if password else []),  # an empty one resets the list of helpers
            (f"credential.{origin}.helper", helper),
        ],
    )


def _transport_name(address: str) -> str:
    """Return git's name for the transport of a URL, as `GIT_ALLOW_PROTOCOL` takes it."""
    scheme, separator, _ = address.partition("://")
    if "::" in address.split("/", maxsplit=1)[0]:
        return address.partition("::")[0]
    if separator:
        return scheme.lower()
    return "ssh" if SCP_ADDRESS.match(address) else "file"
