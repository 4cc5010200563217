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


# The letters with a case that DeepSeek LLM lists.
CASED_LETTERS = [
    (0x41, 0x5A), (0x61, 0x7A), (0xB5, 0xB5), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x1BA), (0x1BC, 0x1BF), (0x1C4, 0x293), (0x295, 0x2AF), (0x370, 0x373),
    (0x376, 0x376), (0x377, 0x377), (0x37B, 0x37D), (0x37F, 0x37F), (0x386, 0x386), (0x388, 0x38A), (0x38C, 0x38C), (0x38E, 0x3A1), (0x3A3, 0x3F5),
    (0x3F7, 0x481), (0x48A, 0x52F), (0x531, 0x556), (0x10A0, 0x10C5), (0x13A0, 0x13F5), (0x13F8, 0x13FD), (0x1C90, 0x1CBA), (0x1CBD, 0x1CBF), (0x1D00,
    0x1D2B), (0x1D6B, 0x1D77), (0x1D79, 0x1D9A), (0x1E00, 0x1F15), (0x1F18, 0x1F1D), (0x1F20, 0x1F45), (0x1F48, 0x1F4D), (0x1F50, 0x1F57), (0x1F59,
    0x1F59), (0x1F5B, 0x1F5B), (0x1F5D, 0x1F5D), (0x1F5F, 0x1F7D), (0x1F80, 0x1FB4), (0x1FB6, 0x1FBC), (0x1FBE, 0x1FBE), (0x1FC2, 0x1FC4), (0x1FC6,
    0x1FCC), (0x1FD0, 0x1FD3), (0x1FD6, 0x1FDB), (0x1FE0, 0x1FEC), (0x1FF2, 0x1FF4), (0x1FF6, 0x1FFC), (0x2102, 0x2102), (0x2107, 0x2107), (0x210A,
    0x2113), (0x2115, 0x2115), (0x2119, 0x211D), (0x2124, 0x2124), (0x2126, 0x2126), (0x2128, 0x2128), (0x212A, 0x212D), (0x212F, 0x2134), (0x2139,
    0x2139), (0x213C, 0x213F), (0x2145, 0x2149), (0x214E, 0x214E), (0x2183, 0x2183), (0x2184, 0x2184), (0x2C00, 0x2C7B), (0x2C7E, 0x2CE4), (0x2CEB,
    0x2CEE), (0x2CF2, 0x2CF2), (0x2CF3, 0x2CF3), (0xA640, 0xA66D), (0xA680, 0xA69B), (0xA722, 0xA76F), (0xA771, 0xA787), (0xA78B, 0xA78E), (0xAB70,
    0xABBF), (0xFB00, 0xFB06), (0xFB13, 0xFB17), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A), (0x10400, 0x1044F), (0x104B0, 0x104D3), (0x104D8, 0x104FB), (0x10C80,
    0x10CB2), (0x10CC0, 0x10CF2), (0x118A0, 0x118DF), (0x1E900, 0x1E943),
]


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
    "deepseek-llm": splits("[\r\n]", r"\s?[%s]+" % "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in CASED_LETTERS),
                           r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", "[一-龥\u0800-一가-\ud7ff]+", r"\p{N}"),
    "falcon": splits(r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"),
}
PIECES = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "a", "Zebra", "\u00e9", "\u6f22", "1", "23", "\u00bd", "\u2167", "\u0663", "'", "'s",
          "'LL", "'Re", "!", "...", "-", "_", "\U0001f600", "\u0301", "(", "'d", "\u2019",
          "B", "CD", "xY", "\u01c5", "\u02b0", "\u3042", "\u30ab", "\uac00", "/", "\r", "'\u017f", "$", "`", "\ufffd", "\u0001", "\u200b", "\u0903", "4567", "\u03b1", "\u10d0", "\u0561", "\uff01", "\u3002"]


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
