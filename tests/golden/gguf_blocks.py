"""Writes gguf_blocks.json: quantized blocks of GGUF files and their elements, by the Python package gguf 0.19.0.

    python3 -m venv venv && venv/bin/pip install gguf==0.19.0 numpy && venv/bin/python gguf_blocks.py > gguf_blocks.json
"""
import json

import gguf
import numpy as np

# The bytes of a block at which an f16 begins.
HALVES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "MXFP4": []}
# Ordinary ones, and the largest, the smallest, a subnormal one and both zeros.
SCALES = [0.013, -0.4, 1.0, 65504.0, 6.0e-8, 3.1e-5, 0.0, -0.0]

random = np.random.default_rng(1)
cases = []
for name, places in HALVES.items():
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    shape = (2, 2) if elements > 32 else (3, 4)
    blocks = random.integers(0, 256, (*shape, size), dtype=np.uint8)
    for n, at in enumerate(places):
        scales = np.resize(np.roll(SCALES, n), shape).astype(np.float16)
        blocks[..., at:at + 2] = scales[..., np.newaxis].view(np.uint8)
    if name == "MXFP4":  # exponents of infinite products are left out: NumPy warns of them
        blocks[..., 0] = np.resize([0, 1, 2, 127, 128, 200, 100, 251], shape)
    values = gguf.dequantize(blocks.reshape(shape[0], -1), kind)
    assert values.shape == (shape[0], shape[1] * elements) and np.isfinite(values).all()
    cases.append({"type": name, "shape": blocks.shape, "bytes": blocks.tobytes().hex(),
                  "elements": values.astype("<f4").tobytes().hex()})
print("[" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "]")
