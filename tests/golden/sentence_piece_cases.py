"""Writes sentence_piece_cases.json: a small BPE of SentencePiece, and the ids that it gives texts.

    pip install sentencepiece && python sentence_piece_cases.py

The model is trained on the guide of this repository, with tokens for bytes.
"""

import io
import json
import pathlib
import random

import sentencepiece

HERE = pathlib.Path(__file__).resolve().parent
FIXED = ["", " ", "a", "  two  spaces ", "A graph of tensors\n\twith a tab", "na\u00efve \u6771\u4eac \U0001f680 \u0391\u03b8", "<s> is text", "\u2581 is a space", "123456",
         "e\u0301 and \u00e9", "x" * 200]
PIECES = [" ", "  ", "\n", "graph", "Tensor", "tion", "the", "s", "\u00e9", "\u6771", "\U0001f680", "_", "::", "0", "42", "\u2581", "ing", "compile", "<", ">", "\u0301"]


def main():
    model = io.BytesIO()
    text = (HERE.parent.parent / "docs" / "guide.md").read_text(encoding="utf-8").split("\n")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in text if line.strip()]), model_writer=model, model_type="bpe", vocab_size=700,
        byte_fallback=True, character_coverage=1.0, normalization_rule_name="identity", remove_extra_whitespaces=False,
        max_sentence_length=10000, num_threads=1)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    kinds = [2 if processor.is_unknown(i) else 3 if processor.is_control(i) else 6 if processor.is_byte(i) else 1
             for i in range(processor.vocab_size())]
    random.seed(3)
    texts = FIXED + ["".join(random.choice(PIECES) for _ in range(random.randint(1, 12))) for _ in range(500)]
    cases = [{"text": each, "ids": processor.encode(each), "decoded": processor.decode(processor.encode(each))} for each in texts]
    lines = ",\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in cases)
    head = {"tokens": [processor.id_to_piece(i) for i in range(processor.vocab_size())],
            "scores": [processor.get_score(i) for i in range(processor.vocab_size())], "types": kinds}
    body = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"cases":[\n' + lines + "\n]}\n"
    (HERE / "sentence_piece_cases.json").write_text(body, encoding="utf-8")


if __name__ == "__main__":
    main()
