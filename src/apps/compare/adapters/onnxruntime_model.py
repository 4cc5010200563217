#!/usr/bin/env python3
"""Adapter of ONNX Runtime for cairn-compare: an encoder that export_onnx.py has written.

    onnxruntime_model.py MODEL.onnx FOLDER      FOLDER: the Hugging Face folder with its tokenizer
"""
import protocol
import texts

options = texts.exported_model(__doc__)


class Model:
    def __init__(self, request):
        import onnxruntime

        how = onnxruntime.SessionOptions()
        how.intra_op_num_threads = request["threads"]
        how.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.texts = texts.Texts(options.folder, request)
        self.versions = {"onnxruntime": onnxruntime.__version__, "transformers": self.texts.version}
        self.session = onnxruntime.InferenceSession(options.model, how, providers=["CPUExecutionProvider"])
        self.names = {each.name for each in self.session.get_inputs()}

    def answer(self, rows):
        inputs = self.texts.inputs(rows)
        output = self.session.run(None, {name: value for name, value in inputs.items() if name in self.names})[0]
        return self.texts.answers(output, inputs["attention_mask"])


protocol.serve(Model)
