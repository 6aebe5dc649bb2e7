"""Bytes and lines of a file: packed or plain, always bounded, each kind of trouble with its own sentence."""

import lazy_loader

# Loaded on first use: who reads does not wait for what writes. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
