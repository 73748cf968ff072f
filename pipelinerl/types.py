"""The data that travels: Ticket -> Turn* -> Rollout -> RolloutGroup -> TrainingSample -> PackedBatch.

Alignment, stated once: every per-token array has the length of its `token_ids`, and entry t describes token t itself. The
shift by one happens only in `trainer/logprobs.py`.

Steps and versions: step k (from 0) trains the weights of version k and makes version k + 1. A token's lag is the step that
trains it minus the version that sampled it, so fully synchronous training has lag 0.

Axes: C completion tokens of one turn, P prompt tokens, L tokens of a sample, T tokens of a packed batch, S its samples.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

NOT_SAMPLED = -1
"""Policy version of a token that no policy sampled (prompt, feedback, padding)."""


class Split(StrEnum):
    """Which problems a ticket draws from."""

    train = "train"
    heldout = "heldout"


class FinishReason(StrEnum):
    """Why a turn ended: the policy's stop token, or the token budget."""

    stop = "stop"
    length = "length"


class OutcomeKind(StrEnum):
    """How a group ended. Each group id ends in exactly one of them."""

    trained = "trained"
    filtered = "filtered"  # no advantage signal: every rollout got the same reward
    stale = "stale"  # older than max_token_lag_steps when its step was assigned
    failed = "failed"  # infrastructure left fewer than min_group_size rollouts
    skipped = "skipped"  # its step was refused by the trainer (non-finite gradients)


def _check_lengths(owner: object, length: int, names: tuple[str, ...]) -> None:
    for name in names:
        if (got := len(getattr(owner, name))) != length:
            raise ValueError(f"{type(owner).__name__}.{name} has {got} entries, expected {length}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """Leave to generate one group; written by the preprocessor, which owns the order of problems and the credits.

    Example: Ticket(group_id=17, split=Split.train, epoch=0, problem_index=403, policy_version=2)
    """

    group_id: int  # global sequence number in the seeded order; heldout tickets count on their own
    split: Split
    problem_index: int  # into load_problems(split)
    epoch: int
    policy_version: int  # announced when the ticket was issued
    greedy: bool = False  # heldout only: temperature 0
    stop: bool = False  # the run is over: finish what is under way and exit


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request to the policy and what it sampled, as the server saw it: never re-tokenised."""

    prompt_ids: np.ndarray  # int32 [P], everything before the completion, history included
    completion_ids: np.ndarray  # int32 [C], stop token included when the policy produced one
    inference_logprobs: np.ndarray  # float32 [C], nats, of the distribution that was sampled from
    policy_versions: np.ndarray  # int32 [C], optimizer steps behind the weights that sampled each token
    finish_reason: FinishReason

    def __post_init__(self) -> None:
        _check_lengths(self, len(self.completion_ids), ("inference_logprobs", "policy_versions"))
        if len(self.prompt_ids) == 0:
            raise ValueError("Turn.prompt_ids is empty: the first sampled token needs a context")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One attempt at a problem."""

    index: int  # within its group
    turns: tuple[Turn, ...]
    reward: float
    success: bool
    reward_parts: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not np.isfinite(self.reward):
            raise ValueError(f"Rollout.reward is {self.reward}; a reward must be finite")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutGroup:
    """Every rollout of one ticket, or a stated reason for each that is missing."""

    ticket: Ticket
    problem_id: str
    rollouts: tuple[Rollout, ...]
    missing: tuple[str, ...] = ()  # one reason per rollout lost to infrastructure


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSample:
    """One token sequence to train on: turns of a rollout that extend each other share a sample."""

    group_id: int
    token_ids: np.ndarray  # int32 [L]
    loss_mask: np.ndarray  # bool [L], True = sampled by the policy, train on it
    inference_logprobs: np.ndarray  # float32 [L], 0 where not sampled
    advantages: np.ndarray  # float32 [L], 0 where not sampled
    policy_versions: np.ndarray  # int32 [L], NOT_SAMPLED where not sampled

    def __post_init__(self) -> None:
        _check_lengths(
            self, len(self.token_ids), ("loss_mask", "inference_logprobs", "advantages", "policy_versions")
        )
        if self.loss_mask[0]:
            raise ValueError("TrainingSample: the first token has no context to be predicted from")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedBatch:
    """One micro-batch of one rank: S samples laid end to end.

    Every step has `num_rounds` rounds of one micro-batch per rank, so all ranks run the same number of backward passes.
    """

    step: int
    round: int
    num_rounds: int
    rank: int
    token_ids: np.ndarray  # int32 [T]
    position_ids: np.ndarray  # int32 [T], restart at 0 with each sample
    segment_starts: np.ndarray  # int32 [S + 1], the last entry is T
    loss_weights: np.ndarray  # float32 [T], 0 = don't train; contains all normalisation
    inference_logprobs: np.ndarray  # float32 [T]
    advantages: np.ndarray  # float32 [T]
    policy_versions: np.ndarray  # int32 [T]

    def __post_init__(self) -> None:
        names = ("position_ids", "loss_weights", "inference_logprobs", "advantages", "policy_versions")
        _check_lengths(self, len(self.token_ids), names)

    @property
    def last_in_step(self) -> bool:
        return self.round == self.num_rounds - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMessage:
    """A micro-batch addressed to one life of the trainer: ranks drop those of an earlier incarnation."""

    incarnation: int
    batch: PackedBatch


class EventKind(StrEnum):
    """What the trainer tells the preprocessor."""

    started = "started"  # at `policy_version`, from a checkpoint or from scratch: (re)send steps from there
    announced = "announced"  # every remaining server confirmed `policy_version`
    skipped = "skipped"  # step `policy_version - 1` was not applied; the version still counts it
    checkpointed = "checkpointed"  # a complete checkpoint of `policy_version` is on disk
    finished = "finished"  # `policy_version` is the last one and has been announced


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One fact from the trainer."""

    kind: EventKind
    incarnation: int
    policy_version: int
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one group ended."""

    group_id: int
    kind: OutcomeKind
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One line of the step log: what was decided since the last step, durable before the step is dispatched."""

    step: int
    outcomes: tuple[Outcome, ...]
    num_rounds: int
    num_ranks: int
    sha256: str  # of the step's packed data file
    stats: dict[str, float] = field(default_factory=dict)
