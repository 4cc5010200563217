"""Writes minilm_sentences.json: the vectors that transformers computes for sentences with all-MiniLM-L6-v2.

    pip install torch transformers && python minilm_sentences.py FOLDER

FOLDER is the model's folder, as scripts/assets installs it. The vectors are means over the tokens, normalized, in
float64 weights; texts are cut at 256 tokens.
"""

import json
import pathlib
import sys

import torch
import transformers

HERE = pathlib.Path(__file__).parent


def main():
    texts = [case["text"] for case in json.loads((HERE / "sst2_distilbert.json").read_text())["cases"]][:24]
    texts.append(" ".join(f"{text}" for text in texts * 3))  # longer than the limit
    tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
    model = transformers.AutoModel.from_pretrained(sys.argv[1]).double().eval()
    rows = []
    for text in texts:
        inputs = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            vector = model(**inputs).last_hidden_state[0].mean(0)
        vector = torch.nn.functional.normalize(vector, dim=0)
        rows.append({"text": text, "tokens": inputs["input_ids"].shape[1],
                     "vector": [float(f"{x:.6g}") for x in vector.tolist()]})
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    (HERE / "minilm_sentences.json").write_text('{"transformers":"%s","sentences":[\n%s\n]}\n' % (transformers.__version__, lines))


if __name__ == "__main__":
    main()
