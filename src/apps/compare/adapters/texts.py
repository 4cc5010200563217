"""What the adapters of libraries share: token ids of texts, and answers of the outputs, in NumPy."""
import argparse
import json
import pathlib

import numpy as np


def exported_model(description):
    """The command line of an adapter of an ONNX file: the file, and the folder with its tokenizer."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("model", help="a file that export_onnx.py has written")
    options.add_argument("folder", help="the Hugging Face folder with its tokenizer")
    return options.parse_args()


class Texts:
    """The tokenizer and the settings of a model in a Hugging Face folder."""

    def __init__(self, folder, request):
        import transformers

        self.version = transformers.__version__
        folder = pathlib.Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
        self.classifies = request["task"] == "classify"
        limits = [request["max_length"], self.config["max_position_embeddings"], self.tokenizer.model_max_length]
        sentence = folder / "sentence_bert_config.json"
        if sentence.exists():
            limits.append(json.loads(sentence.read_text()).get("max_seq_length") or 0)
        self.max_length = min(limit for limit in limits if limit > 0)
        modules = folder / "modules.json"
        self.normalizes = modules.exists() and "Normalize" in modules.read_text()

    def inputs(self, rows):
        """The arrays of a padded batch by the names of the model's inputs."""
        return dict(self.tokenizer(rows, padding=True, truncation=True, max_length=self.max_length, return_tensors="np"))

    def answers(self, output, mask):
        """Labels of logits [B,labels]; or vectors, the means of hidden states [B,S,width] over the mask."""
        if self.classifies:
            labels = self.config["id2label"]
            return [{"label": labels[str(int(np.argmax(row)))], "values": row.tolist()} for row in output]
        weights = mask[:, :, None].astype(output.dtype)
        vectors = (output * weights).sum(1) / weights.sum(1)
        if self.normalizes:
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [{"values": row.tolist()} for row in vectors]


def load_torch(folder, classifies):
    """The model in f32, for running or exporting."""
    import torch
    import transformers

    kind = transformers.AutoModelForSequenceClassification if classifies else transformers.AutoModel
    return kind.from_pretrained(str(folder), dtype=torch.float32).eval()
