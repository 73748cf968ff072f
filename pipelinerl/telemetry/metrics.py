"""Metrics: one JSON object a line, one file per process, never lost to a crash of another.

Names are `role/what_unit`. Counters end in `_total` and start again at 0 with each attempt of a role.
"""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class Metrics:
    """Appends rows to `metrics/<role>-<index>.jsonl` of a run."""

    def __init__(self, run_dir: Path, role: str, index: int, attempt: int = 0) -> None:
        path = run_dir / "metrics" / f"{role}-{index}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        torn = path.exists() and path.stat().st_size > 0 and path.read_bytes()[-1:] != b"\n"
        self._file = path.open("a", buffering=1)
        if torn:
            self._file.write("\n")
        self._attempt = attempt

    def log(self, values: Mapping[str, Any], *, step: int | None = None) -> None:
        """Write one row; `step` is the optimizer step (or policy version) that the values belong to."""
        row = {"time": time.time(), "attempt": self._attempt, **({} if step is None else {"step": step}), **values}
        self._file.write(json.dumps(row, allow_nan=True) + "\n")

    def close(self) -> None:
        self._file.close()


def read_metrics(run_dir: Path, role: str | None = None) -> Iterator[dict[str, Any]]:
    """Rows of one role's processes, or of all, with `process` added; torn lines are left out."""
    for path in sorted((run_dir / "metrics").glob(f"{role or '*'}-*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            yield {"process": path.stem, **row}
