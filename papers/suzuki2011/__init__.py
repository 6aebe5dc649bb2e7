"""Suzuki, Isozaki and Nagata (2011)."""
