"""Classifiers of rows by nearness: condensed, semi-supervised, ordinal, kernel PCA, tri-training."""

import lazy_loader

# Loaded on first use: who needs one classifier does not wait for the kernels of all. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
