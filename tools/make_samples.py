"""Write the sample files that come with the package: ``python tools/make_samples.py``."""

import gzip
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from papers.generated import APARTMENT_PROTOTYPES, make_apartment_ads  # noqa: E402

SAMPLES = ROOT / "src" / "handful" / "data" / "samples"


def main() -> None:
    """Write 200 generated apartment ads, their fields and prototypes."""
    SAMPLES.mkdir(exist_ok=True)
    ads = [{"tokens": list(ad.tokens), "field": list(ad["field"])} for ad in make_apartment_ads(200, random_state=0)]
    content = {"prototypes": {field: list(words) for field, words in APARTMENT_PROTOTYPES.items()}, "ads": ads}
    text = json.dumps(content, separators=(",", ":"))
    (SAMPLES / "ads.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
