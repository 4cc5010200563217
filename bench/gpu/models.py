"""Full-size models with random weights in f16, made from the bundled ones, whose files they have but for the sizes."""
import json
import math
import random
import shutil
import struct

from gpu.pack import ROOT

# Of each model: its bundled folder, what comes before the number of a layer in a weight's name, the name of the table of
# positions, and the sizes of config.json: of the vocabulary, positions, width and layers first.
MODELS = {
    "gpt2": ("shakespeare-gpt2", "transformer.h.", "wpe.weight",
             {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
              "bos_token_id": 50256, "eos_token_id": 50256}),
    "distilbert": ("sst2-distilbert", "distilbert.transformer.layer.", "position_embeddings.weight",
                   {"vocab_size": 30522, "max_position_embeddings": 512, "dim": 768, "n_layers": 6, "n_heads": 12,
                    "hidden_dim": 3072}),
}
CHUNK = 1 << 20  # elements


def header_of(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    header.pop("__metadata__", None)
    return header


def shapes_of(header, first, positions, small, large):
    """The shapes of all weights by name; `small` and `large`: vocabulary, positions, width and layers of both models."""
    def grown(name, shape):
        if name.endswith(positions):
            return [large[1], large[2]]
        return [large[0] if size == small[0] else size // small[2] * large[2] if size % small[2] == 0 else size
                for size in shape]

    shapes = {}
    for name, tensor in header.items():
        of_layers = [name] if first not in name else []
        if name.startswith(first + "0."):
            of_layers = [f"{first}{layer}.{name[len(first) + 2:]}" for layer in range(large[3])]
        for each in of_layers:
            shapes[each] = grown(name, tensor["shape"])
    return shapes


def elements(name, count, generator):
    """The bytes of a weight: 1 for the factors of a norm, else of either sign and a magnitude from 2^-6 to 2^-5."""
    is_factor = name.endswith("weight") and any(part in name for part in ("ln_", "layer_norm", "LayerNorm"))
    kept, added = (0, 0x3c00) if is_factor else (0x83ff, 0x2400)
    for begin in range(0, count, CHUNK):
        size = min(CHUNK, count - begin)
        masks = [int.from_bytes(struct.pack("<H", bits) * size, "little") for bits in (kept, added)]
        bits = int.from_bytes(generator.randbytes(2 * size), "little") & masks[0] | masks[1]
        yield bits.to_bytes(2 * size, "little")


def make(model, folder):
    """Writes the model to a folder that does not exist, and returns it."""
    bundled, first, positions, sizes = MODELS[model]
    source = ROOT / "examples" / "models" / bundled
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    names = list(sizes)[:4]
    shapes = shapes_of(header_of(source / "model.safetensors"), first, positions, [config[name] for name in names],
                       [sizes[name] for name in names])
    (folder / "config.json").write_text(json.dumps(config | sizes), encoding="utf-8")
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * math.prod(shape)
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    generator = random.Random(1)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            for part in elements(name, math.prod(shape), generator):
                file.write(part)
    return folder
