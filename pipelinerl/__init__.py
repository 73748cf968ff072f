"""Asynchronous reinforcement learning of language models on Slurm clusters."""
