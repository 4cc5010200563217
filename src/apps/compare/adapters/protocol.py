"""The protocol of cairn-compare for programs in Python: one JSON object a line each way (docs/compare.md).

    class Model:
        versions = {"numpy": "2.4"}      # of the libraries that compute
        compile_seconds = None           # the part of loading that compiles, if it is known

        def __init__(self, request): ...     # loads; the request has task, threads, batch_sizes, max_length, tokens
        def answer(self, rows): ...          # a list of {"label": ..., "values": [...]} or {"tokens": [...]}, one for each row

    protocol.serve(Model)
"""
import json
import os
import sys
import time


def serve(make):
    """Answers requests until standard input ends. What libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    model = None
    for line in sys.stdin.buffer:
        request = json.loads(line)
        reply = {"id": request["id"]}
        begin = time.perf_counter()
        if request["op"] == "load":
            model = make(request)
            reply |= {"load_seconds": time.perf_counter() - begin, "compile_seconds": getattr(model, "compile_seconds", None),
                      "versions": getattr(model, "versions", {})}
        else:
            results = model.answer(request["rows"])
            reply |= {"seconds": time.perf_counter() - begin, "answers": results}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
