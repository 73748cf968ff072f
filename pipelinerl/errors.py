"""Every error that PipelineRL raises on purpose.

    PipelineError
    ├── ConfigError            (also ValueError)  the user asked for something impossible; nothing was started
    ├── DataError              (also ValueError)  bytes on disk or on the wire are not what they should be
    │   ├── SchemaMismatch     written by another version of the data model
    │   └── CorruptData        checksum or framing does not hold
    ├── DomainError            a task's own code is wrong (a programming error, never a bad rollout)
    ├── InfrastructureError    a server or a transport is gone; retried elsewhere, then recorded
    │   ├── ServerUnavailable  no server answered within the budget
    │   ├── StreamTimeout      a writer waited for room, or a reader for data, longer than its deadline
    │   └── WeightUpdateFailed one or more servers did not confirm an update
    └── RoleFailed             a process of the run died; carries the first cause

Who classifies: the code at the boundary where the cause is known (the HTTP client, the stream backend, the rollout's own
boundary). Policy failures (wrong, truncated, no answer) are never exceptions: they are rewards.
"""


class PipelineError(Exception):
    """Base class: catching it never hides a bug of Python's own."""


class ConfigError(PipelineError, ValueError):
    """The configuration names the impossible: key, value found, and what to do are in the message."""


class DataError(PipelineError, ValueError):
    """Stored or received bytes are not what they should be."""


class SchemaMismatch(DataError):
    """The bytes were written by another version of the data model."""


class CorruptData(DataError):
    """A checksum or the framing does not hold."""


class DomainError(PipelineError):
    """A task's own code raised or returned nonsense."""


class InfrastructureError(PipelineError):
    """A server or a transport is gone: the policy is not to blame."""


class ServerUnavailable(InfrastructureError):
    """No inference server answered within the budget of retries."""


class StreamTimeout(InfrastructureError):
    """A writer waited for room, or a reader for data, longer than its deadline."""


class WeightUpdateFailed(InfrastructureError):
    """One or more servers did not confirm a weight update."""


class RoleFailed(PipelineError):
    """A process of the run died and its restart budget is spent."""
