"""What every role process has: configuration, streams, registry, metrics, a heartbeat, and an orderly end.

A role module calls `main("actor", run)`; `run(role)` returns when its work is done or `role.stopping` is set.
"""

import argparse
import faulthandler
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipelinerl.config import Config, load_run
from pipelinerl.registry import Registry
from pipelinerl.streams.base import Broker
from pipelinerl.streams.connect import connect, connect_registry
from pipelinerl.telemetry.clock import StageClock
from pipelinerl.telemetry.logs import setup_logs
from pipelinerl.telemetry.metrics import Metrics

ATTEMPT_ENV = "PIPELINERL_ATTEMPT"
HEARTBEAT_S = 1.0
SECRET_FILE = "secret"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One role process of one run."""

    name: str
    index: int
    attempt: int
    config: Config
    run_dir: Path
    broker: Broker
    registry: Registry
    metrics: Metrics
    clock: StageClock
    stopping: threading.Event

    @property
    def secret(self) -> str:
        """Authenticates HTTP calls between roles of this run."""
        return (self.run_dir / SECRET_FILE).read_text().strip()

    @property
    def bind_address(self) -> str:
        """Address on which this role's servers listen and are reached."""
        return self.config.orchestrator.bind_address


def main(name: str, run: Callable[[Role], None]) -> None:
    """Entry point of a role: parse the command line, run, leave with a code that says how it went."""
    parser = argparse.ArgumentParser(prog=f"python -m pipelinerl.{name}", description=f"Run one {name} process by hand.")
    parser.add_argument("run_dir", type=Path, help="run directory made by pipelinerl.launch")
    parser.add_argument("--index", type=int, default=0, help="which one of several (default 0)")
    args = parser.parse_args()
    config = load_run(args.run_dir)
    setup_logs(config.telemetry.log_level, f"{name}-{args.index}")
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    role = _open(name, args.index, config, args.run_dir)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: role.stopping.set())
    beat = threading.Thread(target=_heartbeat, args=(role,), daemon=True, name="heartbeat")
    beat.start()
    try:
        run(role)
    except Exception:
        log.exception("%s-%d failed", name, args.index)
        sys.stderr.flush()
        os._exit(1)  # non-daemon threads of libraries must not keep a failed role alive
    role.metrics.log({f"{name}/{key}": value for key, value in role.clock.seconds().items()})
    log.info("done")


def _open(name: str, index: int, config: Config, run_dir: Path) -> Role:
    attempt = int(os.environ.get(ATTEMPT_ENV, "0"))
    return Role(
        name=name,
        index=index,
        attempt=attempt,
        config=config,
        run_dir=run_dir,
        broker=connect(config.streams, run_dir),
        registry=connect_registry(config.streams, run_dir),
        metrics=Metrics(run_dir, name, index, attempt),
        clock=StageClock(),
        stopping=threading.Event(),
    )


def _heartbeat(role: Role) -> None:
    """Publish the stage every second; every tenth time also log how the time was spent."""
    beat = 0
    while not role.stopping.is_set() or beat == 0:
        value = {"pid": os.getpid(), "node": socket.gethostname(), "attempt": role.attempt, "beat": beat}
        try:
            role.registry.put(f"heartbeats/{role.name}-{role.index}", {**value, **role.clock.snapshot()})
        except Exception:  # the registry may be restarting; the role's own work decides about its life
            log.warning("heartbeat not written", exc_info=True)
        if beat % 10 == 9:
            role.metrics.log({f"{role.name}/{key}": value for key, value in role.clock.seconds().items()})
        beat += 1
        role.stopping.wait(HEARTBEAT_S)
