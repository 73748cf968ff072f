"""The one logging setup: every process writes to its own stderr, which the orchestrator redirects to a file per attempt."""

import logging
import sys


def setup_logs(level: str, process: str) -> None:
    """Log to stderr as `time level process module: message`."""
    logging.basicConfig(
        level=level.upper(),
        stream=sys.stderr,
        format=f"%(asctime)s %(levelname)s {process} %(name)s: %(message)s",
        force=True,
    )
    for noisy in ("httpx", "aiohttp.access", "urllib3", "matplotlib"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
