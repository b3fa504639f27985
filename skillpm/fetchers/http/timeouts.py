"""Connections of an HTTP client: to addresses that were resolved once, and with a total timeout for each request.

httpx limits only the wait for the next bytes: a server that sends one byte now and then could keep it busy for days.
"""

import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

import httpcore
import httpx

from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.retry import RetryPolicy


class TimeoutBackend(httpcore.NetworkBackend):
    """Network backend of an HTTP client; each thread has its own deadline."""

    def __init__(self, destinations: Destinations) -> None:
        self._wrapped = httpcore.SyncBackend()
        self._destinations = destinations
        self._thread_state = local()

    def install(self, client: httpx.Client) -> None:
        """Install the backend in a client, for direct and proxied connections.

        httpcore accepts a backend, but httpx has no parameter to pass one, hence the private attributes.
        """
        for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001
            if isinstance(transport, httpx.HTTPTransport):
                transport._pool._network_backend = self  # noqa: SLF001

    @staticmethod
    def is_proxied(client: httpx.Client, url: str) -> bool:
        """Return whether a client sends requests for a URL to a proxy, which resolves the name itself."""
        transport = client._transport_for_url(httpx.URL(url))  # noqa: SLF001  (as above)
        return isinstance(transport, httpx.HTTPTransport) and type(transport._pool) is not httpcore.ConnectionPool  # noqa: SLF001

    @contextmanager
    def apply_policy(self, policy: RetryPolicy) -> Iterator[None]:
        """Apply the deadline of a policy to all network calls of this thread."""
        self._thread_state.policy = policy
        try:
            yield
        finally:
            del self._thread_state.policy

    def clamp_timeout(self, timeout: float | None) -> float:
        """Return the timeout of one call, limited by the deadline. Raises `FetchError` after the deadline."""
        policy: RetryPolicy = self._thread_state.policy
        policy.check()
        # Never 0: that would switch the socket to non-blocking mode.
        return policy.remaining_seconds if timeout is None else min(timeout, max(policy.remaining_seconds, 0.001))

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Open a connection to the first address of a host that accepts one, as `socket.create_connection` does."""
        try:
            addresses = self._destinations.resolve(host)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        for number, address in enumerate(addresses, 1):
            seconds = self.clamp_timeout(timeout)
            try:
                stream = self._wrapped.connect_tcp(address, port, seconds, local_address, socket_options)
                return _TimedStream(stream, self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise AssertionError("a host that resolves has an address")  # pragma: no cover


class _TimedStream(httpcore.NetworkStream):
    """A connection that applies the deadline of the thread that uses it."""

    def __init__(self, wrapped: httpcore.NetworkStream, backend: TimeoutBackend) -> None:
        self._wrapped = wrapped
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._wrapped.read(max_bytes, self._backend.clamp_timeout(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._wrapped.write(buffer, self._backend.clamp_timeout(timeout))

    def close(self) -> None:
        self._wrapped.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _TimedStream(
            self._wrapped.start_tls(ssl_context, server_hostname, self._backend.clamp_timeout(timeout)), self._backend
        )

    def get_extra_info(self, info: str) -> Any:
        return self._wrapped.get_extra_info(info)
