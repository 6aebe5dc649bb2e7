"""Learned features: Brown clusters, context similarity, condensed features."""

import lazy_loader

# Loaded on first use, so that a user of one representation does not pay for the others. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
