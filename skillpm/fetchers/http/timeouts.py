"""A network with an end: what is read, written and connected is over when the question's time is.

httpx bounds the wait for the next byte alone; a server that sends one now and then would hold it for days.
"""

import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

import httpcore
import httpx

from skillpm.fetchers.retry import RetryPolicy


class TimeoutBackend(httpcore.NetworkBackend):
    """The network of one client; each thread has a question of its own."""

    def __init__(self) -> None:
        self._wrapped = httpcore.SyncBackend()
        self._thread_state = local()

    def install(self, client: httpx.Client) -> None:
        """Let a client use it, directly and through proxies. httpx has no door for that, httpcore below it has."""
        for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001
            if isinstance(transport, httpx.HTTPTransport):
                transport._pool._network_backend = self  # noqa: SLF001

    @contextmanager
    def apply_policy(self, policy: RetryPolicy) -> Iterator[None]:
        """Bound all that this thread does meanwhile."""
        self._thread_state.patience = policy
        try:
            yield
        finally:
            del self._thread_state.patience

    def clamp_timeout(self, timeout: float | None) -> float:
        """Give what a wait may take. Raises `FetchError` where the time is over."""
        patience: RetryPolicy = self._thread_state.patience
        patience.check()
        return patience.remaining_seconds if timeout is None else min(timeout, max(patience.remaining_seconds, 0.001))

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect."""
        return _Stream(
            self._wrapped.connect_tcp(host, port, self.clamp_timeout(timeout), local_address, socket_options), self
        )


class _Stream(httpcore.NetworkStream):
    """A connection within the time of whoever uses it now."""

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
        return _Stream(
            self._wrapped.start_tls(ssl_context, server_hostname, self._backend.clamp_timeout(timeout)), self._backend
        )

    def get_extra_info(self, info: str) -> Any:
        return self._wrapped.get_extra_info(info)
