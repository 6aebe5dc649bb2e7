"""Søgaard 2011: semi-supervised condensed nearest neighbor for part-of-speech tagging."""
