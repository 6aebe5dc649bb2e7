"""The claims of the five papers, run again and held against what was printed."""

from handful.papers.claims import KEYS, Claim, Findings, Outcome, Paper, Settings, load_paper, run_paper

__all__ = ["KEYS", "Claim", "Findings", "Outcome", "Paper", "Settings", "load_paper", "run_paper"]
