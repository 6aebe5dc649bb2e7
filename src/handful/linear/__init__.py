"""Linear models over parts: structures that offer best, marginals and parts, and the learners that need no more."""

from __future__ import annotations

from handful.linear.batch import Fitted, log_loss, minimize
from handful.linear.chain import Chain
from handful.linear.chain_steps import ChainSteps
from handful.linear.flat import Flat
from handful.linear.layout import ChainLayout, build_layout
from handful.linear.online import Learned, train_online
from handful.linear.structure import Lazy, Stepwise, Structure, Sweeping, counts
from handful.linear.tree import PartFeatures, Tree
from handful.linear.tree_steps import TreeSteps

__all__ = [
    "Chain",
    "ChainLayout",
    "ChainSteps",
    "Fitted",
    "Flat",
    "Lazy",
    "Learned",
    "PartFeatures",
    "Stepwise",
    "Structure",
    "Sweeping",
    "Tree",
    "TreeSteps",
    "build_layout",
    "counts",
    "log_loss",
    "minimize",
    "train_online",
]
