"""Synthetic weights and ids (examples/synthetic_weights.hpp), so that all engines run the same model without a download."""
import json

import numpy as np


def hashes(tensor, count, first=0):
    """splitmix64 of tensor * 2^32 + i + 1 for `count` elements i from `first`."""
    counter = np.arange(first + 1, first + count + 1, dtype=np.uint64) + np.uint64(tensor << 32)
    z = counter * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def values(tensor, shape, kind):
    """An f32 tensor of a `kind` of the golden file: base + (2 k + 1 - 2^bits) 2^step_exponent, where k is the top bits of the hash."""
    bits = kind["bits"]
    k = (hashes(tensor, int(np.prod(shape))) >> np.uint64(64 - bits)).astype(np.float32)
    step = np.float32(2.0 ** kind["step_exponent"])
    return (np.float32(kind["base"]) + (2 * k + 1 - 2**bits) * step).reshape(shape)


def weights(golden, model):
    """(name, array) of every tensor in the golden file's order; the first four elements and the last one are checked."""
    with open(golden, encoding="utf-8") as file:
        listed = json.load(file)
    for tensor in listed[model]["tensors"]:
        made = values(tensor["index"], tensor["shape"], listed["kinds"][tensor["kind"]])
        flat = made.reshape(-1)
        if flat[:4].tolist() != tensor["first4"] or float(flat[-1]) != tensor["last"]:
            raise SystemExit(f"the generator does not reproduce {tensor['name']}")
        yield tensor["name"], made


def ids(rows, length, vocabulary):
    """Token ids as in model_bench: row r has the hashes of tensor 1000 + r, modulo the vocabulary."""
    return np.stack([hashes(1000 + row, length) % np.uint64(vocabulary) for row in range(rows)]).astype(np.int64)
