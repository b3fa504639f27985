"""The transport that a URL really uses, after the user's `insteadOf`, and the environment of calls that use it."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from skillpm.core.git_syntax import SCHEMES, host_of, is_insecure
from skillpm.errors import FetchError
from skillpm.fetchers.git.gitconfig import GitConfig, build_environment, token_settings
from skillpm.settings import Settings

# Git's own rule for `user@host:path`: a colon before the first slash. `ext::` is a transport helper, not a host.
SCP_ADDRESS = re.compile(r"[^/:]+:(?!:)", re.ASCII)


def build_network_environment(
    url: str,
    base: Mapping[str, str],
    config: GitConfig,
    settings: Settings,
    rewrite_url: Callable[[Mapping[str, str]], str],
    *,
    with_token: bool,
) -> dict[str, str]:
    """Return the environment of a call that may use the network, over exactly one transport.

    `rewrite_url` returns the URL after the user's `insteadOf` settings. Raises `FetchError` for plain HTTP to a host
    that is neither this machine nor allowed.
    """
    environment = build_environment(config, base, [])
    real = rewrite_url(environment) if config.has_url_rewrites else url
    # A URL that the user's own configuration rewrites is the user's decision.
    if real == url and is_insecure(real) and host_of(real) not in settings.insecure_hosts:
        raise FetchError(
            f"{url} uses plain HTTP, which can be tampered with in transit",
            hint=f"use https, or allow it with --allow-insecure-host {host_of(real)}",
        )
    scheme = _transport_name(real)
    if scheme not in SCHEMES:
        raise FetchError(
            f"{url} uses a transport that is not allowed: {scheme}", hint="check git's `insteadOf` settings"
        )
    host = host_of(real)
    if scheme in {"https", "http"} and "@" in (parts := _split_url(url, real)).netloc:
        environment = _build_login_environment(url, parts, base, config)
    elif with_token and scheme == "https" and not config.has_credentials_for(host):
        environment = build_environment(config, base, token_settings(host, settings.environ))
    return {**environment, "GIT_ALLOW_PROTOCOL": scheme}


def _split_url(url: str, real_url: str) -> SplitResult:
    try:
        return urlsplit(real_url)
    except ValueError as error:
        raise FetchError(f"{url} is rewritten to an invalid URL", hint="check git's `insteadOf` settings") from error


def _build_login_environment(
    url: str, real_url: SplitResult, base: Mapping[str, str], config: GitConfig
) -> dict[str, str]:
    """Return the environment for a URL that `insteadOf` rewrites to one with user info, without that user info.

    Git passes the rewritten URL to `git-remote-https` as an argument, which every user of the machine can read in the
    process list. So the login is passed by a credential helper that reads it from the environment.
    """
    login, _, host = real_url.netloc.rpartition("@")
    user, _, password = login.partition(":")
    target = real_url._replace(netloc=host)
    origin = f"{real_url.scheme}://{host}"
    # The user's own rewrites would add the login again.
    without_rewrites = config.replace(
        settings=tuple(pair for pair in config.settings if not pair[0].endswith(".insteadof"))
    )
    words = ['printf "username=%s\\n" "$SKILLPM_GIT_USER"']
    if password:
        words.append('printf "password=%s\\n" "$SKILLPM_GIT_PASSWORD"')
    helper = f'!f() {{ test "$1" = get && {" && ".join(words)}; }}; f'
    return build_environment(
        without_rewrites,
        {**base, "SKILLPM_GIT_USER": unquote(user), "SKILLPM_GIT_PASSWORD": unquote(password)},
        [
            (f"url.{target.geturl()}.insteadOf", url),
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
