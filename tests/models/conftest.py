"""What is here beside tests: a script, and what it shares with them."""

from __future__ import annotations

collect_ignore = ["asking.py", "write.py"]
