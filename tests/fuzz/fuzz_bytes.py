"""Read thousands of mutated model files; fail on anything but the clean error, and on any code that runs.

A quarter of the files are mutated as they are; the others get a fresh checksum, so that damage reaches the decoder:
in the bytes of the text, in single values of the text, or in the numbers of the arrays.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tiny_model import find_tiny, fitted_tiny

from handful.errors import ModelFileError
from handful.persistence.model_file import load, save

FORBIDDEN = {"exec", "compile", "os.system", "subprocess.Popen", "pickle.find_class", "import", "socket.connect"}
armed = False
seen: list[str] = []


def watch(event: str, args: tuple[object, ...]) -> None:
    if armed and event in FORBIDDEN:
        seen.append(f"{event} {args!r:.200}")


def mutate(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not data:
            break
        place = rng.randrange(len(data))
        match rng.randrange(6):
            case 0:
                data[place] = rng.randrange(256)
            case 1:
                data[place] ^= 1 << rng.randrange(8)
            case 2:
                del data[place : place + rng.randrange(1, 40)]
            case 3:
                data[place:place] = rng.randbytes(rng.randrange(1, 20))
            case 4:
                other = rng.randrange(len(data))
                data[place : place + 8] = data[other : other + 8]
            case 5:
                data[place : place + 1] = rng.choice(
                    [b"-1", b"999999999999", b"null", b"[", b"{", b'"', b"1e400", b"\xff"]
                )
    return bytes(data)


def replace_value(text: bytes, rng: random.Random) -> bytes:
    content = json.loads(text)
    places = []

    def collect(node: object) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in items:
            places.append((node, key))
            collect(value)

    collect(content)
    holder, key = rng.choice(places)
    other, other_key = rng.choice(places)
    odd = [None, -1, 0, 2**62, 1e308, "", "0", "nan", [], {}, [[]], {"$": "array", "name": "0"}, True, other[other_key]]
    holder[key] = json.loads(json.dumps(rng.choice(odd)))
    return json.dumps(content).encode()


def change_numbers(arrays: bytes, rng: random.Random) -> bytes:
    start = 8 + int.from_bytes(arrays[:8], "little")
    data = bytearray(arrays)
    for _ in range(rng.randrange(1, 8)):
        data[rng.randrange(start, len(data))] = rng.randrange(256)
    return bytes(data)


def signed(head: bytes, text: bytes, arrays: bytes) -> bytes:
    head = head[:16] + struct.pack("<QQ", len(text), len(arrays))
    return head + hashlib.sha256(head + text + arrays).digest() + text + arrays


def main(folder: Path, count: int) -> int:
    global armed
    path = folder / "model.handful"
    save(fitted_tiny(), path)
    good = path.read_bytes()
    load(path, find_tiny)  # everything that reading imports is imported now
    text_bytes, array_bytes = struct.unpack("<QQ", good[16:32])
    text, arrays = good[64 : 64 + text_bytes], good[64 + text_bytes :]
    assert len(arrays) == array_bytes
    rng = random.Random(0)
    refused = 0
    sys.addaudithook(watch)
    for number in range(count):
        match number % 4:
            case 0:
                content = mutate(good, rng)
            case 1:
                content = signed(good[:32], mutate(text, rng), arrays)
            case 2:
                content = signed(good[:32], replace_value(text, rng), arrays)
            case 3:
                content = signed(good[:32], text, rng.choice([mutate, change_numbers])(arrays, rng))
        path.unlink()  # a new file each time: overwriting waits for the disk
        path.write_bytes(content)
        armed = True
        try:
            load(path, find_tiny)
        except ModelFileError:
            refused += 1
        finally:
            armed = False
    print(f"{count} files, {refused} refused, {count - refused} still whole, forbidden events: {seen[:5]}")
    return 1 if seen or refused < count // 2 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
