"""Senses of words in context: features, models per word, scores, and the harvest of unlabeled contexts."""

import lazy_loader

# Loaded on first use: scoring answers does not wait for the kernels of the models. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
