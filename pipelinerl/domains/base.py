"""What a task sees: a policy to talk to, and a reward to return.

A task is one module with two functions:

    load_problems(split: str, **args) -> Sequence[dict]         split is "train" or "heldout"; "id" is optional, unique if given
    async generate_rollout(policy, problem) -> float | Reward
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Problem = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the policy said in one turn."""

    text: str  # special tokens left out
    truncated: bool  # the token budget ended it


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """A judged rollout. A plain float `r` means Reward(value=r, success=r >= 1)."""

    value: float
    success: bool
    parts: Mapping[str, float] = field(default_factory=dict)


class Policy(Protocol):
    """One conversation with the policy under training."""

    rng: np.random.Generator
    """This rollout's own randomness: seeded by (run, split, group, index)."""

    async def chat(self, message: str | Sequence[Mapping[str, str]]) -> Reply:
        """Append a user message (or a list of `{"role", "content"}`) to the conversation and sample the reply.

        Raises: InfrastructureError when no server answers; let it pass.
        """
        ...


LoadProblems = Callable[..., Sequence[Problem]]
GenerateRollout = Callable[[Policy, Problem], Awaitable[float | Reward]]
