#!/usr/bin/env python3
"""Adapter of PyTorch for cairn-compare: an encoder in a Hugging Face folder, by transformers.

    torch_model.py FOLDER [--compile]
"""
import argparse
import time

import protocol
import texts

options = argparse.ArgumentParser()
options.add_argument("model")
options.add_argument("--compile", action="store_true", help="by torch.compile, with sizes as symbols")
options = options.parse_args()


class Model:
    compile_seconds = None

    def __init__(self, request):
        import torch

        self.torch = torch
        torch.set_num_threads(request["threads"])
        torch.set_grad_enabled(False)
        self.texts = texts.Texts(options.model, request)
        self.versions = {"torch": torch.__version__, "transformers": self.texts.version}
        self.model = texts.load_torch(options.model, self.texts.classifies)
        if options.compile:
            begin = time.perf_counter()
            self.model = torch.compile(self.model, dynamic=True)
            for size in request["batch_sizes"]:
                self.answer(["a text", "a longer text"] * size)
            self.compile_seconds = time.perf_counter() - begin

    def answer(self, rows):
        inputs = self.texts.inputs(rows)
        output = self.model(**{name: self.torch.from_numpy(value) for name, value in inputs.items()})[0]
        return self.texts.answers(output.numpy(), inputs["attention_mask"])


protocol.serve(Model)
