"""Prototype-driven learning for sequence models."""
