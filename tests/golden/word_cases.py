"""Writes word_cases.json: how the regular expressions of tokenizers split random texts.

    pip install tokenizers && python word_cases.py

For each text, the lengths in bytes of its words by each rule of word_length.hpp, as the tokenizers library splits it.
"""

import json
import pathlib
import random

from tokenizers import Regex, pre_tokenizers

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CASED = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+C|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*C|"
         r"\p{N}D| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK3 = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"


def splits(*expressions):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(each), "isolated") for each in expressions])


RULES = {
    "gpt-2": pre_tokenizers.Split(Regex(GPT2), "isolated"),
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\p{N}"), "isolated"), pre_tokenizers.Split(Regex(GPT2), "isolated")]),
    "llama-bpe": pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
    "qwen2": pre_tokenizers.Split(Regex(LLAMA3.replace("{1,3}", "")), "isolated"),
    "qwen35": splits(LLAMA3.replace("{1,3}", "").replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"\s\p{L}\p{N}]+", r"\s\p{L}\p{M}\p{N}]+")),
    "gpt-4o": splits(CASED.replace("C|", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|").replace("D|", "{1,3}|")),
    "tekken": splits(CASED.replace("C|", "|").replace("D|", "|")),
    "deepseek-v3": splits(r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", DEEPSEEK3),
    "deepseek-coder": splits("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥\u0800-一가-\ud7ff]+", r"\p{N}"),
    "falcon": splits(r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"),
}
PIECES = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "a", "Zebra", "\u00e9", "\u6f22", "1", "23", "\u00bd", "\u2167", "\u0663", "'", "'s",
          "'LL", "'Re", "!", "...", "-", "_", "\U0001f600", "\u0301", "(", "'d", "\u2019",
          "B", "CD", "xY", "\u01c5", "\u02b0", "\u3042", "\u30ab", "\uac00", "/", "\r", "'\u017f", "$", "`", "\ufffd", "\u0001", "\u200b", "\u0903", "4567"]


def main():
    random.seed(5)
    cases = []
    for _ in range(700):
        text = "".join(random.choice(PIECES) for _ in range(random.randint(1, 14)))
        words = {name: [word for word, _ in rule.pre_tokenize_str(text)] for name, rule in RULES.items()}
        assert all("".join(each) == text for each in words.values())
        cases.append({"text": text, "lengths": {name: [len(w.encode()) for w in each] for name, each in words.items()}})
    lines = ",\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in cases)
    pathlib.Path(__file__).with_name("word_cases.json").write_text('{"cases":[\n%s\n]}\n' % lines, encoding="utf-8")


if __name__ == "__main__":
    main()
