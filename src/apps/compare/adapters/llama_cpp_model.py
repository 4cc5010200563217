#!/usr/bin/env python3
"""Adapter of llama.cpp for cairn-compare, by llama-cpp-python: the most likely tokens after a text.

    llama_cpp_model.py MODEL.gguf
"""
import argparse

import protocol

options = argparse.ArgumentParser()
options.add_argument("model")
options = options.parse_args()


class Model:
    def __init__(self, request):
        import llama_cpp

        self.versions = {"llama-cpp-python": llama_cpp.__version__}
        self.tokens, self.max_length = request["tokens"], request["max_length"]
        context = self.max_length + self.tokens if self.max_length else 0
        self.model = llama_cpp.Llama(options.model, n_ctx=context, n_threads=request["threads"], n_threads_batch=request["threads"],
                                     verbose=False)

    def answer(self, rows):
        answers = []
        for text in rows:
            ids = self.model.tokenize(text.encode(), special=True)
            if self.max_length:
                ids = ids[: self.max_length]
            self.model.reset()
            written = []
            for token in self.model.generate(ids, temp=0.0, top_k=1, repeat_penalty=1.0):
                written.append(token)
                if len(written) == self.tokens:
                    break
            answers.append({"tokens": written})
        return answers


protocol.serve(Model)
