#!/usr/bin/env python3
"""Adapter of OpenVINO for cairn-compare: an encoder that export_onnx.py has written, in f32.

    openvino_model.py MODEL.onnx FOLDER      FOLDER: the Hugging Face folder with its tokenizer
"""
import time

import protocol
import texts

options = texts.exported_model(__doc__)


class Model:
    def __init__(self, request):
        import openvino

        self.texts = texts.Texts(options.folder, request)
        self.versions = {"openvino": openvino.__version__, "transformers": self.texts.version}
        core = openvino.Core()
        model = core.read_model(options.model)
        begin = time.perf_counter()
        self.model = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": request["threads"], "PERFORMANCE_HINT": "LATENCY",
                                                       "INFERENCE_PRECISION_HINT": "f32"})
        self.compile_seconds = time.perf_counter() - begin
        self.names = {each.any_name for each in self.model.inputs}

    def answer(self, rows):
        inputs = self.texts.inputs(rows)
        output = self.model({name: value for name, value in inputs.items() if name in self.names})[0]
        return self.texts.answers(output, inputs["attention_mask"])


protocol.serve(Model)
