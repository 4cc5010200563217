"""Writes smollm2_texts.json: how SmolLM2-135M-Instruct (Q4_1) continues 20 prompts, by transformers in float64.

    pip install torch transformers accelerate gguf && python smollm2_texts.py FILE.gguf

Each prompt has the ids of the tokenizer, and 64 tokens, each the most likely one.
"""

import json
import pathlib
import sys

import torch
import transformers

PROMPTS = [
    "The capital of France is", "Once upon a time", "def fibonacci(n):\n    ", "Water boils at 100", "1, 2, 3, 4, 5,",
    "The quick brown fox jumps over", "In the year 2024, scientists discovered", "Dear Sir or Madam,\n\n", "Q: What is 2 + 2?\nA:",
    "Les enfants jouent dans", "#include <iostream>\n\nint main() {", "She opened the door and", "The three primary colours are",
    "SELECT name FROM users WHERE", "<|im_start|>user\nTell me a joke.<|im_end|>\n<|im_start|>assistant\n", "Photosynthesis is the process",
    "It's a well-known fact that they'll", "    indented\n\n\n\ttabs and  spaces", "Zürich, naïve, 東京 and Ελλάδα are", "12345 + 67890 =",
]


def main():
    path = pathlib.Path(sys.argv[1])
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).double().eval()
    rows = []
    for prompt in PROMPTS:
        ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        given, cache, text, margins = torch.tensor([ids]), None, [], []
        with torch.no_grad():
            for _ in range(64):
                result = model(given, past_key_values=cache, use_cache=True)
                cache = result.past_key_values
                best = torch.topk(result.logits[0, -1], 2)
                text.append(int(best.indices[0]))
                margins.append(float(best.values[0] - best.values[1]))
                given = torch.tensor([[text[-1]]])
        rows.append({"text": prompt, "ids": ids, "greedy": text, "smallest_margin": float(f"{min(margins):.3g}")})
        print(rows[-1]["smallest_margin"], repr(tokenizer.decode(text))[:80], flush=True)
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    pathlib.Path(__file__).with_name("smollm2_texts.json").write_text(
        '{"transformers":"%s","texts":[\n%s\n]}\n' % (transformers.__version__, lines))


if __name__ == "__main__":
    main()
