"""Where everything is and how it is doing: addresses, heartbeats, roster, run state.

A small key-value store of JSON objects on the same backend as the streams. Keys are `/`-separated. Every value is written
whole, so a reader sees the old one or the new one and never a mixture.

    servers/<index>             written by an inference role: instance, url, pid, node, world_size
    roster                      written by trainer rank 0: incarnation, policy_version, servers = those that may be asked
    heartbeats/<role>-<index>   written by every role: pid, node, attempt, stage, waiting_for, since, progress, beat
    rendezvous/<name>           written by rank 0 of a group: host, port
    run/state                   written by the orchestrator: state (starting | running | finished | failed | stopped), cause
    redis                       file only: host, port
"""

from typing import Any, Protocol


class Registry(Protocol):
    """Key-value store of JSON objects. Thread-safe."""

    def put(self, key: str, value: dict[str, Any]) -> None: ...

    def get(self, key: str) -> dict[str, Any] | None: ...

    def items(self, prefix: str) -> dict[str, dict[str, Any]]:
        """Every entry whose key starts with `prefix`, by its whole key."""
        ...

    def delete(self, key: str) -> None:
        """Remove an entry; one that is not there is no error."""
        ...

    def close(self) -> None: ...
