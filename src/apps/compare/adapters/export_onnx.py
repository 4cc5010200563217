#!/usr/bin/env python3
"""Writes an encoder in a Hugging Face folder as an ONNX file with symbolic sizes, for ONNX Runtime and OpenVINO.

    export_onnx.py FOLDER MODEL.onnx --task classify|embed
"""
import argparse

import torch
import transformers

import texts

options = argparse.ArgumentParser()
options.add_argument("folder")
options.add_argument("output")
options.add_argument("--task", choices=("classify", "embed"), required=True)
options = options.parse_args()


class First(torch.nn.Module):
    """The first output of a model, with inputs in order."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)), return_dict=False)[0]


tokenizer = transformers.AutoTokenizer.from_pretrained(options.folder)
example = dict(tokenizer(["a text", "a longer text"], padding=True, return_tensors="pt"))
names = list(example)
model = First(texts.load_torch(options.folder, options.task == "classify"), names)
batch, length = torch.export.Dim("batch"), torch.export.Dim("length", max=model.model.config.max_position_embeddings)
torch.onnx.export(model, tuple(example.values()), options.output, input_names=names, output_names=["output"], dynamo=True,
                  external_data=False, dynamic_shapes=(tuple({0: batch, 1: length} for _ in names),))
