"""Structured linear models: chains, trees and classes as structures, and their batch and online learners."""

import lazy_loader

# Loaded on first use: a tagger does not wait for what only a parser needs. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
