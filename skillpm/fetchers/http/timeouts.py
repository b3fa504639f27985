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

from skillpm.fetchers.retry import Patience


class PatientNetwork(httpcore.NetworkBackend):
    """The network of one client; each thread has a question of its own."""

    def __init__(self) -> None:
        self._real = httpcore.SyncBackend()
        self._asking = local()

    def install(self, client: httpx.Client) -> None:
        """Let a client use it, directly and through proxies. httpx has no door for that, httpcore below it has."""
        for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001
            if isinstance(transport, httpx.HTTPTransport):
                transport._pool._network_backend = self  # noqa: SLF001

    @contextmanager
    def asking(self, patience: Patience) -> Iterator[None]:
        """Bound all that this thread does meanwhile."""
        self._asking.patience = patience
        try:
            yield
        finally:
            del self._asking.patience

    def bounded(self, timeout: float | None) -> float:
        """Give what a wait may take. Raises `FetchError` where the time is over."""
        patience: Patience = self._asking.patience
        patience.check()
        return patience.left if timeout is None else min(timeout, max(patience.left, 0.001))

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect."""
        return _Stream(self._real.connect_tcp(host, port, self.bounded(timeout), local_address, socket_options), self)


class _Stream(httpcore.NetworkStream):
    """A connection within the time of whoever uses it now."""

    def __init__(self, real: httpcore.NetworkStream, network: PatientNetwork) -> None:
        self._real = real
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._real.read(max_bytes, self._network.bounded(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._real.write(buffer, self._network.bounded(timeout))

    def close(self) -> None:
        self._real.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(
            self._real.start_tls(ssl_context, server_hostname, self._network.bounded(timeout)), self._network
        )

    def get_extra_info(self, info: str) -> Any:
        return self._real.get_extra_info(info)
