"""Readers and writers: bytes to records and back, one file for each format."""

import lazy_loader

# Loaded on first use: a file of one format does not wait for the readers of all. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
