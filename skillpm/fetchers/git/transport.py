"""By which transport a URL is really reached, and with what of the user's settings."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from skillpm.core.git_syntax import SCHEMES, host_of, is_insecure
from skillpm.errors import FetchError
from skillpm.fetchers.git.gitconfig import GitConfig, build_environment, token_settings
from skillpm.settings import Settings

# Git's own rule for `user@host:path`: a colon before the first slash.
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
    """Give the environment of a call that may ask the network, by exactly the one transport that is meant.

    `rewritten` asks git what the user's `insteadOf` makes of the URL. Raises `FetchError` for plain http to another
    machine that nobody allowed.
    """
    environment = build_environment(config, base, [])
    real = rewrite_url(environment) if config.has_url_rewrites else url
    if real == url and is_insecure(real) and host_of(real) not in settings.insecure_hosts:
        raise FetchError(
            f"{url} is plain http, which anybody on the way can change",
            hint=f"use https, or allow it with --allow-insecure-host {host_of(real)}",
        )
    scheme = _transport_name(real)
    if scheme not in SCHEMES:
        raise FetchError(f"{url} leads to a transport that is not allowed: {scheme}", hint="look at your `insteadOf`")
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
        raise FetchError(f"{url} leads to what is no address", hint="look at your `insteadOf`") from error


def _build_login_environment(
    url: str, real_url: SplitResult, base: Mapping[str, str], config: GitConfig
) -> dict[str, str]:
    """Give the environment that leads to where the user's `insteadOf` does, without its login in the address.

    Git starts its own transport with the address it was led to, and what a process is started with every user of the
    machine can read. So the login goes the way of a credential helper, and its values in variables.
    """
    login, _, host = real_url.netloc.rpartition("@")
    user, _, password = login.partition(":")
    there = real_url._replace(netloc=host)
    origin = f"{real_url.scheme}://{host}"
    kept = config.replace(settings=tuple(pair for pair in config.settings if not pair[0].endswith(".insteadof")))
    words = ['printf "username=%s\\n" "$SKILLPM_GIT_USER"']
    if password:
        words.append('printf "password=%s\\n" "$SKILLPM_GIT_PASSWORD"')
    helper = f'!f() {{ test "$1" = get && {" && ".join(words)}; }}; f'
    return build_environment(
        kept,
        {**base, "SKILLPM_GIT_USER": unquote(user), "SKILLPM_GIT_PASSWORD": unquote(password)},
        [
            (f"url.{there.geturl()}.insteadOf", url),
            *([(f"credential.{origin}.helper", "")] if password else []),  # nobody else is asked
            (f"credential.{origin}.helper", helper),
        ],
    )


def _transport_name(address: str) -> str:
    """Give the name by which git knows the transport of an address."""
    scheme, separator, _ = address.partition("://")
    if "::" in address.split("/", maxsplit=1)[0]:
        return address.partition("::")[0]
    if separator:
        return scheme.lower()
    return "ssh" if SCP_ADDRESS.match(address) else "file"
