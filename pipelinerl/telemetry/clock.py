"""What a process is doing, since when, and how its time was spent."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class StageClock:
    """Splits wall-clock time into busy stages and waits. Thread-safe for readers; one thread switches stages.

    >>> clock = StageClock()
    >>> with clock.busy("training"):
    ...     pass
    >>> with clock.waiting("batches"):
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent_s: dict[tuple[str, str | None], float] = defaultdict(float)
        self._stage, self._waiting_for = "starting", None
        self._since = time.monotonic()
        self._since_unix_s = time.time()
        self._progress = 0

    @contextmanager
    def busy(self, stage: str) -> Iterator[None]:
        with self._switched(stage, None):
            yield

    @contextmanager
    def waiting(self, for_what: str) -> Iterator[None]:
        with self._switched("waiting", for_what):
            yield

    @contextmanager
    def _switched(self, stage: str, waiting_for: str | None) -> Iterator[None]:
        previous = self._switch(stage, waiting_for)
        try:
            yield
        finally:
            self._switch(*previous)

    def _switch(self, stage: str, waiting_for: str | None) -> tuple[str, str | None]:
        with self._lock:
            now = time.monotonic()
            previous = (self._stage, self._waiting_for)
            self._spent_s[previous] += now - self._since
            self._stage, self._waiting_for = stage, waiting_for
            self._since, self._since_unix_s = now, time.time()
            return previous

    def progressed(self) -> None:
        """Something was completed: the stall detector looks at this count."""
        with self._lock:
            self._progress += 1

    def snapshot(self) -> dict[str, object]:
        """Stage, what it waits for, since when (Unix seconds), and the progress count."""
        with self._lock:
            return {
                "stage": self._stage,
                "waiting_for": self._waiting_for,
                "since": self._since_unix_s,
                "progress": self._progress,
            }

    def seconds(self) -> dict[str, float]:
        """Cumulative seconds: `busy_s`, `starting_s`, and `waiting_<what>_s` for each thing waited for."""
        with self._lock:
            spent = dict(self._spent_s)
            current = (self._stage, self._waiting_for)
            spent[current] = spent.get(current, 0.0) + time.monotonic() - self._since
        out: dict[str, float] = defaultdict(float)
        for (stage, waiting_for), seconds in spent.items():
            name = f"waiting_{waiting_for}" if waiting_for else "starting" if stage == "starting" else "busy"
            out[f"{name}_s"] += seconds
        return dict(out)
