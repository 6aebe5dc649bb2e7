"""Dependency parsing: trees learned from trees."""

from __future__ import annotations

from handful.parsing.parser import DependencyParser
from handful.parsing.scoring import ParseScores, score_trees

__all__ = ["DependencyParser", "ParseScores", "score_trees"]
