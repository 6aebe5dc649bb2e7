"""The studio: label rows and sentences, collect prototypes and watch labels spread, on a page of this machine."""

import lazy_loader

# Loaded on first use; the names are in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
