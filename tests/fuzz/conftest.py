"""What is here beside tests: the fuzzer and its child."""

from __future__ import annotations

collect_ignore = ["fuzz_bytes.py", "fuzz_models.py", "pressing.py", "run_models.py", "subjects.py"]
