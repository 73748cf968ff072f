"""Streams: what every transport promises.

A stream is (topic, partition), with exactly one writer and one reader. Delivery is at least once: a restarted reader goes on
after its last commit, a restarted writer goes on after the last complete message. A writer blocks while
`written - committed` has reached the topic's capacity. What is committed is deleted. Streams are caches: the step log is the
truth, so losing one costs regeneration and never correctness.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One payload and its place: positions of a partition are 0, 1, 2, ... without gaps."""

    position: int
    payload: bytes


class Writer(Protocol):
    """The one writer of a partition. Not thread-safe."""

    def append(self, payload: bytes, *, timeout_s: float | None = None) -> int:
        """Write one message and return its position.

        Raises: StreamTimeout if there was no room within `timeout_s` (None waits for ever).
        """
        ...

    def room(self) -> int:
        """Messages that fit now without waiting."""
        ...

    def close(self) -> None: ...


class Reader(Protocol):
    """The one reader of a partition. Not thread-safe."""

    def read(self, *, timeout_s: float = 0.0) -> Message | None:
        """Next message after the last one read; None if there is none within `timeout_s`.

        Raises: CorruptData if a complete message does not match its checksum.
        """
        ...

    def commit(self, position: int) -> None:
        """Everything up to and including `position` is done with and may be deleted."""
        ...

    def close(self) -> None: ...


class Broker(Protocol):
    """Opens streams of one run."""

    def writer(self, topic: str, partition: int = 0, *, capacity: int) -> Writer:
        """`capacity` is the number of uncommitted messages at which `append` blocks."""
        ...

    def reader(self, topic: str, partition: int = 0) -> Reader: ...

    def close(self) -> None: ...
