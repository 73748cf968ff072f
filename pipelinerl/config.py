"""The configuration: one dataclass per group, one default per fact, every unit in the name or the docstring.

YAML under `conf/` holds departures from these defaults only. `to_config` turns what Hydra composed into these objects and
checks fields against each other; no other code sees a DictConfig, and nothing assigns to a config after that.
"""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from pipelinerl.errors import ConfigError

CONFIG_FILE = "config.yaml"


class Dtype(Enum):
    """Precision of weights and activations."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class StreamBackend(Enum):
    """Transport of streams and registry."""

    files = "files"
    redis = "redis"


class Advantage(Enum):
    """Baseline of a rollout's reward within its group."""

    leave_one_out = "leave_one_out"
    mean_std = "mean_std"


class ZeroAdvantage(Enum):
    """What happens to a group in which every rollout got the same reward."""

    keep = "keep"  # packed like any other
    drop = "drop"  # counts towards the step's groups, is not packed
    refill = "refill"  # doesn't count: the step waits for an informative group


class Stale(Enum):
    """What happens to a rollout with a token older than max_token_lag_steps."""

    drop = "drop"
    mask = "mask"  # the older tokens get loss weight 0
    keep = "keep"


class Normalize(Enum):
    """Denominator of the loss, decided in packing."""

    tokens = "tokens"  # mean over the step's sampled tokens
    sequences = "sequences"  # mean over rollouts of each one's mean over tokens
    constant = "constant"  # sum over tokens / (rollouts * seq_length): no length bias (Dr. GRPO)


class Schedule(Enum):
    """Shape of the learning rate after warm-up."""

    constant = "constant"
    linear = "linear"
    cosine = "cosine"


class WeightBackend(Enum):
    """Collective library of the weight broadcast."""

    gloo = "gloo"
    nccl = "nccl"


class WandbMode(Enum):
    """W&B: nothing, local files for `wandb sync`, or live."""

    disabled = "disabled"
    offline = "offline"
    online = "online"


@dataclass
class ModelConfig:
    """The policy."""

    path: str = "???"
    """Hugging Face folder or hub id of a causal LM whose tokenizer has a chat template and an EOS token."""
    dtype: Dtype = Dtype.bfloat16
    """Precision on both sides, trainer and servers."""
    seq_length: int = 4096
    """Longest prompt plus completion, tokens; also the servers' max_model_len."""
    attn_implementation: str = "sdpa"
    """Attention of the trainer's forward pass, as transformers names it."""


@dataclass
class DomainConfig:
    """The task."""

    module: str = "???"
    """Dotted path of a module with `load_problems(split, **args)` and `async generate_rollout(policy, problem)`."""
    args: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of load_problems."""


@dataclass
class InferenceConfig:
    """vLLM servers."""

    num_servers: int = 1
    gpus_per_server: int = 1
    """Tensor-parallel size; 0 serves on the CPU."""
    max_num_seqs: int = 256
    """Sequences that a server decodes at once."""
    cpu_kv_cache_gib: float = 1.0
    """KV cache of a CPU server, GiB."""
    cpu_threads: int = 1
    """OpenMP threads of a CPU server."""
    vllm_args: dict[str, Any] = field(default_factory=dict)
    """Further command-line arguments of vLLM, without the dashes."""
    start_timeout_s: float = 600.0
    """A server that is not ready by then is restarted."""


@dataclass
class ActorConfig:
    """Rollout generation."""

    num_actors: int = 1
    group_size: int = 8
    """Rollouts of one problem."""
    min_group_size: int = 2
    """A group that lost rollouts to infrastructure is trained if it still has this many."""
    max_completion_tokens: int = 1024
    """Token budget of one turn."""
    temperature: float = 1.0
    request_timeout_s: float = 600.0
    """A request that takes longer is retried on another server."""
    request_retries: int = 5
    max_domain_errors: int = 3
    """Exceptions in the task's own code before the run ends."""
    eval_every_steps: int = 0
    """Held-out evaluation each so many policy versions (and at the first and the last); 0 = never."""
    eval_problems: int = 64
    """Held-out problems of one evaluation: the first so many of the split."""


@dataclass
class PreprocessConfig:
    """Groups to packed micro-batches."""

    groups_per_step: int = 64
    max_lag_steps: int = 1
    """Steps' worth of groups under way beyond the current one; 0 = synchronous RL."""
    max_token_lag_steps: int = 8
    """Oldest token that may be trained, optimizer steps."""
    stale: Stale = Stale.drop
    advantage: Advantage = Advantage.leave_one_out
    zero_advantage: ZeroAdvantage = ZeroAdvantage.drop
    micro_batch_tokens: int = 8192
    """Token budget of one packed micro-batch; at least seq_length."""
    normalize: Normalize = Normalize.tokens


@dataclass
class LossConfig:
    """REINFORCE with truncated importance weights."""

    importance_clip: float = 5.0
    """Upper bound of the importance ratio trainer/inference."""


@dataclass
class TrainerConfig:
    """DeepSpeed."""

    num_ranks: int = 1
    gpus_per_rank: int = 1
    """0 trains on the CPU (gloo), 1 on a GPU (NCCL)."""
    cpu_threads: int = 1
    """Torch threads of a CPU rank."""
    max_steps: int = 1000
    learning_rate: float = 1e-6
    schedule: Schedule = Schedule.constant
    final_lr_fraction: float = 0.1
    """Learning rate at max_steps as a fraction of the peak (linear, cosine)."""
    warmup_steps: int = 0
    weight_decay: float = 0.0
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    grad_clip: float = 1.0
    """Global gradient norm; 0 = no clipping."""
    zero_stage: int = 0
    gradient_checkpointing: bool = False
    logprob_chunk_tokens: int = 512
    """Tokens whose logits exist at once."""
    max_skipped_steps: int = 3
    """Consecutive steps with non-finite loss or gradients before the run ends."""
    checkpoint_every_steps: int = 50
    """The last step always makes one."""
    keep_last: int = 2
    """Full checkpoints kept."""
    keep_every_steps: int = 0
    """Hugging Face exports of every so many steps are kept for ever; 0 = only those of kept checkpoints."""


@dataclass
class WeightsConfig:
    """In-flight weight updates."""

    backend: WeightBackend = WeightBackend.nccl
    bucket_bytes: int = 268435456
    """Largest single broadcast."""
    timeout_s: float = 120.0
    """Deadline of each phase of an update."""
    canary: bool = True
    """After each update, compare trainer and server logprobs of a fixed prompt at equal version."""
    drop_kv_cache: bool = False
    """Recompute the KV cache of running requests under the new weights."""


@dataclass
class StreamsConfig:
    """Transport between roles."""

    backend: StreamBackend = StreamBackend.files
    segment_bytes: int = 16777216
    """Files: a segment is closed at this size and deleted once committed."""
    redis_executable: str = "redis-server"
    redis_maxmemory_mib: int = 4096


@dataclass
class OrchestratorConfig:
    """Start, watch, restart, end."""

    restarts_per_role: int = 3
    restart_backoff_s: float = 1.0
    """Doubles with each restart of the same role."""
    stall_timeout_s: float = 1800.0
    """No progress anywhere for so long: stacks are dumped and the run ends."""
    shutdown_timeout_s: float = 30.0
    """Between TERM and KILL."""
    bind_address: str = "127.0.0.1"
    """Address on which servers of this run listen."""
    cpu_affinity: bool = False
    """Pin inference, actors and verifier to one half of the cores, trainer and preprocessor to the other."""


@dataclass
class TelemetryConfig:
    """Metrics and logs."""

    wandb: WandbMode = WandbMode.disabled
    wandb_project: str = "pipelinerl"
    log_level: str = "INFO"
    console: bool = True
    """Live view in the terminal (one plain line per step where the output is not a terminal)."""


@dataclass
class Config:
    """One run."""

    output_dir: str = "???"
    seed: int = 0
    overwrite: bool = False
    """Delete an earlier run in output_dir instead of resuming it."""
    dry_run: bool = False
    """Print the plan and start nothing."""
    model: ModelConfig = field(default_factory=ModelConfig)
    domain: DomainConfig = field(default_factory=DomainConfig)
    inference: InferenceConfig = field(default_factory=InferenceConfig)
    actor: ActorConfig = field(default_factory=ActorConfig)
    preprocess: PreprocessConfig = field(default_factory=PreprocessConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    weights: WeightsConfig = field(default_factory=WeightsConfig)
    streams: StreamsConfig = field(default_factory=StreamsConfig)
    orchestrator: OrchestratorConfig = field(default_factory=OrchestratorConfig)
    telemetry: TelemetryConfig = field(default_factory=TelemetryConfig)


def register_schema() -> None:
    """Make `schema` available to the defaults list of every named run."""
    ConfigStore.instance().store(name="schema", node=Config)


def conf_dir() -> Path:
    """Folder of the YAML files: inside the installed package, or beside it in a checkout."""
    inside = Path(__file__).parent / "conf"
    return inside if inside.is_dir() else Path(__file__).parents[1] / "conf"


def to_config(composed: DictConfig) -> Config:
    """Typed, checked configuration of a composed one.

    Raises: ConfigError naming the key(s), what was found and what to do.
    """
    missing = sorted(OmegaConf.missing_keys(composed))
    if missing:
        raise ConfigError(f"{', '.join(missing)}: no value; set it on the command line, e.g. {missing[0]}=...")
    config = OmegaConf.to_object(composed)
    assert isinstance(config, Config)
    check(config)
    return config


def save(config: Config, run_dir: Path) -> None:
    """Write the resolved configuration where roles started by hand find it."""
    (run_dir / CONFIG_FILE).write_text(OmegaConf.to_yaml(OmegaConf.structured(config)))


def load_run(run_dir: Path) -> Config:
    """Configuration of an existing run.

    Raises: ConfigError if the folder holds no run.
    """
    path = run_dir / CONFIG_FILE
    if not path.is_file():
        raise ConfigError(f"{run_dir} is not a run directory: it has no {CONFIG_FILE}")
    return to_config(OmegaConf.merge(OmegaConf.structured(Config), OmegaConf.load(path)))


def check(config: Config) -> None:
    """Contradictions between fields and values out of range, all of them in one message.

    Raises: ConfigError with one line per problem, naming every key involved.
    """
    problems = [text for holds, text in _rules(config) if not holds]
    if problems:
        raise ConfigError("\n".join(problems))


def _rules(c: Config) -> list[tuple[bool, str]]:
    def at_least(key: str, value: float, least: float) -> tuple[bool, str]:
        return value >= least, f"{key}={value}: must be at least {least}"

    a, p, t, m = c.actor, c.preprocess, c.trainer, c.model
    on_gpu = c.inference.gpus_per_server > 0 and t.gpus_per_rank > 0
    return [
        at_least("inference.num_servers", c.inference.num_servers, 1),
        at_least("inference.gpus_per_server", c.inference.gpus_per_server, 0),
        at_least("inference.max_num_seqs", c.inference.max_num_seqs, 1),
        at_least("actor.num_actors", a.num_actors, 1),
        at_least("actor.min_group_size", a.min_group_size, 2),
        at_least("actor.max_completion_tokens", a.max_completion_tokens, 1),
        at_least("actor.eval_every_steps", a.eval_every_steps, 0),
        at_least("preprocess.groups_per_step", p.groups_per_step, 1),
        at_least("preprocess.max_lag_steps", p.max_lag_steps, 0),
        at_least("trainer.num_ranks", t.num_ranks, 1),
        at_least("trainer.max_steps", t.max_steps, 1),
        at_least("trainer.learning_rate", t.learning_rate, 0),
        at_least("trainer.grad_clip", t.grad_clip, 0),
        at_least("trainer.keep_last", t.keep_last, 1),
        at_least("trainer.checkpoint_every_steps", t.checkpoint_every_steps, 1),
        at_least("trainer.logprob_chunk_tokens", t.logprob_chunk_tokens, 1),
        at_least("weights.bucket_bytes", c.weights.bucket_bytes, 1),
        (t.zero_stage in (0, 1, 2, 3), f"trainer.zero_stage={t.zero_stage}: DeepSpeed has stages 0, 1, 2 and 3"),
        (t.gpus_per_rank in (0, 1), f"trainer.gpus_per_rank={t.gpus_per_rank}: 0 (CPU) or 1"),
        (
            a.group_size >= 2,
            f"actor.group_size={a.group_size} with preprocess.advantage={p.advantage.name}: a lone rollout has no baseline; "
            "use at least 2",
        ),
        (
            a.min_group_size <= a.group_size,
            f"actor.min_group_size={a.min_group_size} exceeds actor.group_size={a.group_size}: no group would be trained",
        ),
        (a.temperature > 0, f"actor.temperature={a.temperature}: training needs sampling, use more than 0"),
        (
            m.seq_length > a.max_completion_tokens,
            f"model.seq_length={m.seq_length} leaves no room for a prompt beside "
            f"actor.max_completion_tokens={a.max_completion_tokens}: raise the first or lower the second",
        ),
        (
            p.micro_batch_tokens >= m.seq_length,
            f"preprocess.micro_batch_tokens={p.micro_batch_tokens} is below model.seq_length={m.seq_length}: "
            "the longest sample would not fit into a micro-batch",
        ),
        (
            p.max_token_lag_steps >= p.max_lag_steps,
            f"preprocess.max_token_lag_steps={p.max_token_lag_steps} is below preprocess.max_lag_steps={p.max_lag_steps}: "
            "groups admitted in time would be dropped as stale",
        ),
        (
            t.warmup_steps < t.max_steps,
            f"trainer.warmup_steps={t.warmup_steps} is not below trainer.max_steps={t.max_steps}: the peak is never reached",
        ),
        (
            c.weights.backend is WeightBackend.gloo or on_gpu,
            "weights.backend=nccl needs GPUs on both sides: inference.gpus_per_server="
            f"{c.inference.gpus_per_server}, trainer.gpus_per_rank={t.gpus_per_rank}; on CPUs use weights=gloo",
        ),
        (
            c.loss.importance_clip >= 1,
            f"loss.importance_clip={c.loss.importance_clip}: below 1 even on-policy tokens would be truncated",
        ),
    ]
