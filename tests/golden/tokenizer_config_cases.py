"""Writes tokenizer_config_cases.json: the ids that transformers gives where tokenizer_config.json, config.json and tokenizer.json disagree.

    python -m venv v4 && v4/bin/pip install 'transformers<5'
    python -m venv v5 && v5/bin/pip install 'transformers>=5'
    python tokenizer_config_cases.py v4/bin/python v5/bin/python

Each case changes the files of a folder in tests/data/transformers5: `json` is a merge patch (RFC 7396) of tokenizer.json, `config` replaces
tokenizer_config.json (absent: there is no such file). The further members become config.json (`model`), special_tokens_map.json (`map`) and
added_tokens.json (`added`); with `split`, the vocabulary stands in vocab.txt, or vocab.json and merges.txt, in place of tokenizer.json.
`max_length` truncates. `ids` are those of AutoTokenizer where both versions agree, one list a text; `ids4` and `ids5` are given apart where they
differ. A null stands for a folder that the version does not load.
"""

import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data/transformers5"
TEXTS = {
    "bert": ["The king", "thé café", "the 中文 日", "THÉ 中文 king", "the\u0007re a\u200db", "[PAD]the[MASK] king", "brutus " + "the" * 34, "king zzz ☃"],
    "gpt2": ["the king", " the king", "Hello, world", "", "a<|endoftext|>b", "<|endoftext|> king's"],
    "roberta": ["the king", " the king", "", "a <s>b</s> \t<mask> c<mask>d", "<pad> king's<unk>", ["the king", "of cats"], ["", " a<mask>"]],
    "albert": ["The  Kíng", " the king ", "", "a [CLS] b \t[MASK]\u2603 c ``d''", ["the king", "of cats"]],
    "xlm_roberta": ["The  Kíng", " the king ", "", "a <s> b \t<mask>\u2603 c ｄ", ["the king", "of cats"]],
    "t5": ["The  Kíng", " the king ", "", "a </s> b<extra_id_1> \u2603 c ｄ", ["the king", "of cats"]],
    "camembert": ["The  Kíng", " the king ", "", "a <s> b \t<mask>\u2603 c <s>NOTUSED", ["the king", "of cats"]],
}
FLAG = [None, True, False]


def case(base, config, patch=None, model=None, **more):
    return {"base": base, **{key: value for key, value in {"config": config, "json": patch, "model": model, **more}.items() if value is not None}}


def without_absent(**members):
    """None stands for an absent key; the text "null" for a null."""
    return {key: None if value == "null" else value for key, value in members.items() if value is not None}


def bert_config(cls, **members):
    return without_absent(tokenizer_class=cls, **members)


def bert_flags():
    for lower, stored in itertools.product(FLAG, [True, False]):
        yield case("bert", bert_config("BertTokenizer", do_lower_case=lower), {"normalizer": {"lowercase": stored}})
    for strip, stored in itertools.product([None, "null", True, False], [None, True, False]):
        yield case("bert", bert_config("DistilBertTokenizer", strip_accents=strip), {"normalizer": {"strip_accents": stored}})
    for chinese, stored in itertools.product(FLAG, [True, False]):
        yield case("bert", bert_config("ElectraTokenizerFast", tokenize_chinese_chars=chinese), {"normalizer": {"handle_chinese_chars": stored}})
    source = random.Random(5)
    for _ in range(24):
        pick = source.choice
        config = without_absent(do_lower_case=pick(FLAG), strip_accents=pick(FLAG + ["null"]), tokenize_chinese_chars=pick(FLAG))
        stored = {"lowercase": pick([True, False]), "strip_accents": pick(FLAG), "handle_chinese_chars": pick([True, False])}
        cls = pick(["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast"])
        yield case("bert", {"tokenizer_class": cls, **config}, {"normalizer": stored})


CASED = {"normalizer": {"lowercase": False, "strip_accents": False, "handle_chinese_chars": False}}


def bert_classes():
    """Which class reads the config, and which file names the class."""
    for cls in ["BertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", "MobileBertTokenizer", "LxmertTokenizerFast", "FunnelTokenizer",
                "SqueezeBertTokenizer", "ConvBertTokenizer", "LayoutLMTokenizer", "RetriBertTokenizer", "MPNetTokenizer", "DPRQuestionEncoderTokenizer",
                "DPRReaderTokenizer", "DPRContextEncoderTokenizer", "SplinterTokenizer", "RealmTokenizer", "LayoutLMv2Tokenizer", "HerbertTokenizer", "NoSuchTokenizer"]:
        for lower in (True, None):
            yield case("bert", bert_config(cls, do_lower_case=lower), CASED)
    for lower in FLAG:
        yield case("bert", bert_config(None, do_lower_case=lower), CASED)
        for model in ({"model_type": "bert"}, {"model_type": "distilbert"}, {"model_type": "electra"}, {"model_type": "distilbert", "tokenizer_class": "PreTrainedTokenizerFast"},
                      {"model_type": "bert", "tokenizer_class": "BertTokenizer"}, {"model_type": "nosuch"}):
            yield case("bert", bert_config(None, do_lower_case=lower), CASED, model)
    yield case("bert", bert_config("PreTrainedTokenizerFast", do_lower_case=True), CASED, {"model_type": "bert"})
    yield case("bert", bert_config("BertTokenizer", do_lower_case=True), CASED, {"model_type": "nosuch", "tokenizer_class": "PreTrainedTokenizerFast"})
    for model in (None, {"model_type": "bert"}, {"model_type": "distilbert"}):
        yield case("bert", None, CASED, model)


def bert_parts():
    """Members of tokenizer.json that some versions rebuild from the class."""
    for cls in ("BertTokenizer", "PreTrainedTokenizerFast"):
        yield case("bert", bert_config(cls), {"normalizer": {"clean_text": False}})
        yield case("bert", bert_config(cls), {"model": {"max_input_chars_per_word": 200}})
        yield case("bert", bert_config(cls), {"model": {"max_input_chars_per_word": 3}})
        yield case("bert", bert_config(cls), {"post_processor": None})
        yield case("bert", bert_config(cls, unk_token="[MASK]"))
        yield case("bert", bert_config(cls), {"model": {"unk_token": "[MASK]"}})
        yield case("bert", bert_config(cls, unk_token="[MASK]"), {"model": {"unk_token": "[MASK]"}})
        yield case("bert", bert_config(cls, cls_token="[MASK]", sep_token="[PAD]"))
        yield case("bert", bert_config(cls, pad_token="the"))
        yield case("bert", bert_config(cls, mask_token="king"))
        yield case("bert", bert_config(cls, additional_special_tokens=["king"]))
        yield case("bert", bert_config(cls, extra_special_tokens=["king"]))
        yield case("bert", bert_config(cls, extra_special_tokens={"crown": "king"}))
        yield case("bert", bert_config(cls, additional_special_tokens=["ki"]))
        yield case("bert", bert_config(cls, additional_special_tokens=["zzz"]))
        yield case("bert", bert_config(cls, split_special_tokens=True))
        yield case("bert", bert_config(cls, add_bos_token=True, add_eos_token=True))
        yield case("bert", bert_config(cls, add_prefix_space=True))
        yield case("bert", bert_config(cls, added_tokens_decoder={"206": {"content": "king", "special": True, "normalized": False}}))
        yield case("bert", bert_config(cls, added_tokens_decoder={"600": {"content": "zzz", "special": False, "normalized": False}}))
        yield case("bert", bert_config(cls, added_tokens_decoder={"4": {"content": "[MASK]", "special": True, "normalized": False, "lstrip": True, "rstrip": True}}))
        yield case("bert", bert_config(cls, do_lower_case=False, do_basic_tokenize=False, never_split=["king"]))


def gpt2_cases():
    for cls, space, stored in itertools.product(["GPT2Tokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend", None], FLAG, [True, False]):
        yield case("gpt2", bert_config(cls, add_prefix_space=space), {"pre_tokenizer": {"add_prefix_space": stored}}, {"model_type": "gpt2"} if cls is None else None)
    yield case("gpt2", None, {"pre_tokenizer": {"add_prefix_space": True}}, {"model_type": "gpt2"})
    for base, cls in itertools.product(["gpt2", "gpt2_bos"], ["GPT2Tokenizer", "PreTrainedTokenizerFast"]):
        special = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}
        for bos, eos in itertools.product(FLAG, FLAG):
            yield case(base, bert_config(cls, **special, add_bos_token=bos, add_eos_token=eos))
        yield case(base, bert_config(cls, **special), {"post_processor": None})
        template = {"single": None, "pair": None, "special_tokens": None}
        yield case(base, bert_config(cls, **special), {"post_processor": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, **template}})
        yield case(base, bert_config(cls))
    for cls in ("GPT2Tokenizer", "PreTrainedTokenizerFast"):
        yield case("gpt2", bert_config(cls, additional_special_tokens=["king"]))
        yield case("gpt2", bert_config(cls, additional_special_tokens=["th"]))
        yield case("gpt2", bert_config(cls, split_special_tokens=True))
        yield case("gpt2", bert_config(cls, pad_token="<pad>"))
        yield case("gpt2", bert_config(cls, eos_token="th"))
        yield case("gpt2", bert_config(cls, added_tokens_decoder={"0": {"content": "<|endoftext|>", "special": True, "normalized": False, "rstrip": True}}))
        yield case("gpt2", bert_config(cls, added_tokens_decoder={"400": {"content": "king", "special": False, "normalized": True}}))


def split_cases():
    """Vocabulary files without a tokenizer.json."""
    for cls in ("MobileBertTokenizer", "SqueezeBertTokenizer", "LayoutLMTokenizer", "LxmertTokenizer"):
        yield case("bert", bert_config(cls), split=True)
        yield case("bert", bert_config(cls, do_lower_case=False), split=True)
    for cls in ("BertTokenizer", "DistilBertTokenizerFast", "ElectraTokenizer"):
        yield case("bert", bert_config(cls), split=True)
        yield case("bert", bert_config(cls, do_lower_case=False), split=True)
        yield case("bert", bert_config(cls, strip_accents=False), split=True)
        yield case("bert", bert_config(cls, do_lower_case=False, strip_accents=True, tokenize_chinese_chars=False), split=True)
    yield case("bert", bert_config("DPRQuestionEncoderTokenizer", do_lower_case=False), split=True)
    for model in ({"model_type": "bert"}, {"model_type": "distilbert"}):
        yield case("bert", None, None, model, split=True)
        yield case("bert", {"do_lower_case": False}, None, model, split=True)
    for more in ({"do_basic_tokenize": False}, {"do_basic_tokenize": False, "do_lower_case": False}, {"never_split": ["king"]}, {"unk_token": "[MASK]"},
                 {"cls_token": "[MASK]", "sep_token": "[PAD]"}, {"additional_special_tokens": ["king"]}, {"split_special_tokens": True}):
        yield case("bert", {"tokenizer_class": "BertTokenizer", **more}, split=True)
    for cls in ("GPT2Tokenizer", "GPT2TokenizerFast"):
        for space in FLAG:
            yield case("gpt2", bert_config(cls, add_prefix_space=space), split=True)
        for bos, eos in itertools.product(FLAG, FLAG):
            yield case("gpt2", bert_config(cls, add_bos_token=bos, add_eos_token=eos), split=True)
        yield case("gpt2", bert_config(cls, additional_special_tokens=["king"]), split=True)
        yield case("gpt2", bert_config(cls, split_special_tokens=True), split=True)
    yield case("gpt2", None, None, {"model_type": "gpt2"}, split=True)


def legacy_cases():
    """special_tokens_map.json and added_tokens.json, which older versions wrote."""
    names = {"cls_token": "[MASK]", "sep_token": "[PAD]", "unk_token": "[CLS]"}
    for split, cls in itertools.product([None, True], ["BertTokenizer", "PreTrainedTokenizerFast"]):
        if split and cls != "BertTokenizer":
            continue
        yield case("bert", bert_config(cls), map=names, split=split)
        yield case("bert", bert_config(cls, cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"), map=names, split=split)
        yield case("bert", bert_config(cls, added_tokens_decoder={}), map=names, split=split)
        yield case("bert", bert_config(cls), map={"additional_special_tokens": ["king"]}, split=split)
        yield case("bert", bert_config(cls), added={"zzz": 600}, split=split)
        yield case("bert", bert_config(cls, added_tokens_decoder={}), added={"zzz": 600}, split=split)
    for split, cls in itertools.product([None, True], ["GPT2Tokenizer", "PreTrainedTokenizerFast"]):
        if split and cls != "GPT2Tokenizer":
            continue
        yield case("gpt2", bert_config(cls), map={"eos_token": "he", "additional_special_tokens": ["in"]}, split=split)
        yield case("gpt2", bert_config(cls), added={"king": 400}, split=split)


def object_cases():
    """Special tokens as objects, with flags of their own."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    ends = {"__type": "AddedToken", "content": "<|endoftext|>", **plain, "rstrip": True}
    ing = {"content": "ing", **plain, "lstrip": True}
    for split, cls in itertools.product([None, True], ["GPT2Tokenizer", "PreTrainedTokenizerFast"]):
        if split and cls != "GPT2Tokenizer":
            continue
        yield case("gpt2", bert_config(cls, eos_token=ends), split=split)
        yield case("gpt2", bert_config(cls, bos_token=ends, eos_token=ends, unk_token=ends), split=split)
        yield case("gpt2", bert_config(cls, eos_token={**ends, "rstrip": False}), split=split)
        yield case("gpt2", bert_config(cls), map={"eos_token": {key: value for key, value in ends.items() if key != "__type"}}, split=split)
        yield case("gpt2", bert_config(cls, additional_special_tokens=[{"__type": "AddedToken", **ing, "content": "he"}]), split=split)
        yield case("gpt2", bert_config(cls), map={"additional_special_tokens": [{**ing, "content": "he"}]}, split=split)
    for split in (None, True):
        yield case("bert", bert_config("BertTokenizer", mask_token={"__type": "AddedToken", "content": "king", **plain}), split=split)
        yield case("bert", bert_config("BertTokenizer"), map={"mask_token": {"content": "king", **plain}}, split=split)


ROBERTA = ["RobertaTokenizer", "LongformerTokenizer", "BartTokenizer", "LEDTokenizer", "MvpTokenizer"]
NO_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
MASK = {"content": "<mask>", **NO_FLAGS, "lstrip": True}
SPECIAL = {str(id): {"content": token, **NO_FLAGS} for id, token in enumerate(["<s>", "<pad>", "</s>", "<unk>"])}


def roberta_cases():
    for cls, space, stored in itertools.product([*ROBERTA, "RobertaTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend", None], FLAG, [True, False]):
        if cls in ROBERTA[1:] and space == stored:
            continue
        yield case("roberta", bert_config(cls, add_prefix_space=space), {"pre_tokenizer": {"add_prefix_space": stored}}, {"model_type": "roberta"} if cls is None else None)
    for model in ("roberta", "roberta-prelayernorm", "longformer", "bart", "led", "mvp", "blenderbot", "bridgetower", "clap", "data2vec-text", "ibert", "mra",
                  "lilt", "luke", "deberta"):
        for stored in (True, False):
            yield case("roberta", None, {"pre_tokenizer": {"add_prefix_space": stored}}, {"model_type": model})
    tokens = {"cls_token": "<s>", "sep_token": "</s>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    special = {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}
    first, second = ({"Sequence": {"id": id, "type_id": 0}} for id in "AB")
    start, end = ({"SpecialToken": {"id": id, "type_id": 0}} for id in ("<s>", "</s>"))
    processors = [
        None, {"trim_offsets": False}, {"add_prefix_space": True}, {"cls": ["<pad>", 1]}, {"sep": ["<unk>", 3]}, {"type": "BertProcessing", "trim_offsets": None},
        {"type": "ByteLevel", "add_prefix_space": False, "sep": None, "cls": None},
        {"type": "TemplateProcessing", "single": [start, first, end], "pair": [start, first, end, end, second, end], "special_tokens": special, "sep": None, "cls": None},
        {"type": "TemplateProcessing", "single": [start, first, end], "pair": [start, first, end, second, end], "special_tokens": special, "sep": None, "cls": None},
    ]
    for cls, processor in itertools.product(["RobertaTokenizer", "BartTokenizer", "PreTrainedTokenizerFast"], processors):
        yield case("roberta", bert_config(cls, **tokens), {"post_processor": processor})
    for cls in ("RobertaTokenizer", "LongformerTokenizer", "PreTrainedTokenizerFast"):
        yield case("roberta", bert_config(cls, **tokens))
        yield case("roberta", bert_config(cls, cls_token="<pad>"))
        yield case("roberta", bert_config(cls, sep_token="<unk>"))
        yield case("roberta", bert_config(cls, cls_token="<pad>", sep_token="<unk>"), {"post_processor": {"cls": ["<pad>", 1], "sep": ["<unk>", 3]}})
        yield case("roberta", bert_config(cls, trim_offsets=False))
        yield case("roberta", bert_config(cls, add_bos_token=True, add_eos_token=True))
        yield case("roberta", bert_config(cls, add_bos_token=False))
        yield case("roberta", bert_config(cls, split_special_tokens=True))
        yield case("roberta", bert_config(cls, additional_special_tokens=["king"]))
        yield case("roberta", bert_config(cls, unk_token="king"))
    yield from roberta_masks(tokens)
    for cls in ROBERTA:
        yield case("roberta", bert_config(cls), split=True)
        yield case("roberta", bert_config(cls, mask_token={"__type": "AddedToken", **MASK}), split=True)
    for space in FLAG:
        yield case("roberta", bert_config("RobertaTokenizer", add_prefix_space=space, added_tokens_decoder={**SPECIAL, "599": MASK}), split=True)
    flags = {"added_tokens_decoder": {**SPECIAL, "599": MASK}}
    for more in ({}, tokens, {"cls_token": "<pad>"}, {"sep_token": "<unk>"}, {"cls_token": "<pad>", "bos_token": "<pad>", "sep_token": "<unk>", "eos_token": "<unk>"}, {"add_bos_token": True},
                 {"add_eos_token": False}, {"split_special_tokens": True}, {"additional_special_tokens": ["king"]}, {"trim_offsets": False}, {"truncation_side": "left"}):
        yield case("roberta", bert_config("RobertaTokenizer", **flags, **more), split=True)
    for split in (None, True):
        yield case("roberta", bert_config("RobertaTokenizer", **tokens), {"added_tokens": None}, split=split)
        yield case("roberta", bert_config("RobertaTokenizer", **{**tokens, "mask_token": {"__type": "AddedToken", **MASK}}), {"added_tokens": None}, split=split)
    for cls in ("BlenderbotTokenizer", "DebertaTokenizer"):
        yield case("roberta", bert_config(cls))
    for cls in ("GPT2Tokenizer", "NoSuchTokenizer"):
        yield case("roberta", bert_config(cls, **tokens, add_prefix_space=False, **flags))
    yield case("roberta", flags)
    yield case("gpt2", bert_config("RobertaTokenizer"))
    for model in ("roberta", "longformer", "bart"):
        yield case("roberta", flags, None, {"model_type": model}, split=True)
    for side in (None, "left"):
        yield case("roberta", bert_config("RobertaTokenizer", truncation_side=side), max_length=5)


def roberta_masks(tokens):
    """Which file says that the mask takes the space before it."""
    for cls, stored in itertools.product(["RobertaTokenizer", "BartTokenizer", "PreTrainedTokenizerFast"], [True, False]):
        listed = [*({"id": int(id), **token} for id, token in SPECIAL.items()), {"id": 599, **MASK, "lstrip": stored}]
        file = {"added_tokens": listed}
        yield case("roberta", bert_config(cls), file)
        yield case("roberta", bert_config(cls, **tokens), file)
        for lstrip in (True, False):
            mask = {**MASK, "lstrip": lstrip}
            yield case("roberta", bert_config(cls, mask_token={"__type": "AddedToken", **mask}), file)
            yield case("roberta", bert_config(cls), file, map={"mask_token": {key: value for key, value in mask.items() if key != "special"}})
            yield case("roberta", bert_config(cls, **tokens, added_tokens_decoder={**SPECIAL, "599": mask}), file)
        yield case("roberta", bert_config(cls), {"added_tokens": listed[:4]})
    for lstrip in (True, False):
        mask = {**MASK, "lstrip": lstrip}
        yield case("roberta", bert_config("RobertaTokenizer"), map={"mask_token": {key: value for key, value in mask.items() if key != "special"}}, split=True)
        yield case("roberta", bert_config("RobertaTokenizer", added_tokens_decoder={"599": mask}), split=True)


UNIGRAM = {"albert": "AlbertTokenizer", "xlm_roberta": "XLMRobertaTokenizer", "t5": "T5Tokenizer", "camembert": "CamembertTokenizer"}
EXTRA = [f"<extra_id_{i}>" for i in range(3)]


def unigram_config(base, cls, **members):
    """T5's class adds 100 tokens unless the configuration says otherwise."""
    return bert_config(cls, **({"extra_ids": 3, "additional_special_tokens": EXTRA} if base == "t5" else {}), **members)


def unigram_cases():
    steps = [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True}]
    never = {"pre_tokenizer": {"pretokenizers": steps}, "decoder": {"prepend_scheme": "never"}}
    alone = {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True, "pretokenizers": None}}
    old = {"pre_tokenizer": {"pretokenizers": [steps[0], {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}]}}
    spaces = {"normalizer": {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " ", "normalizers": None, "precompiled_charsmap": None}}
    patches = [None, never, {"pre_tokenizer": never["pre_tokenizer"]}, alone, old, spaces, {"model": {"unk_id": 4}}, {"model": {"byte_fallback": True}}, {"post_processor": None}]
    for base, name in UNIGRAM.items():
        for cls, patch in itertools.product([name, name + "Fast", "PreTrainedTokenizerFast"], patches):
            if cls.endswith("Fast") and cls != "PreTrainedTokenizerFast" and patch is not None:
                continue
            yield case(base, unigram_config(base, cls), patch)
        for space, patch in itertools.product(FLAG, [None, never]):
            yield case(base, unigram_config(base, name, add_prefix_space=space), patch)
            yield case(base, unigram_config(base, "PreTrainedTokenizerFast", add_prefix_space=space), patch)
        yield case(base, unigram_config(base, "NoSuchTokenizer"))
        yield case(base, unigram_config(base, "BigBirdTokenizer"))
        yield case(base, unigram_config(base, None))
        yield case(base, unigram_config(base, name, split_special_tokens=True))
        yield case(base, unigram_config(base, name, additional_special_tokens=["▁the", *EXTRA]) if base != "t5" else bert_config(name, extra_ids=3))
        yield case(base, unigram_config(base, name, truncation_side="left"), max_length=5)
        yield case(base, unigram_config(base, name, unk_token="▁the"))
    for model, base in [("albert", "albert"), ("yoso", "albert"), ("xlm-roberta", "xlm_roberta"), ("xmod", "xlm_roberta"), ("metaclip_2", "xlm_roberta"), ("camembert", "camembert"), ("mt5", "t5"),
                        ("t5", "t5"), ("switch_transformers", "t5")]:
        yield case(base, unigram_config(base, None), None, {"model_type": model})
    yield case("t5", bert_config("T5Tokenizer"))
    yield case("t5", bert_config("T5Tokenizer", eos_token="<pad>", extra_ids=3))
    yield case("camembert", bert_config("CamembertTokenizer", unk_token="<pad>"), {"model": {"unk_id": 1}})
    for base in ("xlm_roberta", "camembert"):
        yield case(base, bert_config(UNIGRAM[base], bos_token="<pad>"))
        yield case(base, bert_config(UNIGRAM[base], cls_token="<pad>", sep_token="<pad>"))
        yield case(base, bert_config(UNIGRAM[base], mask_token={"__type": "AddedToken", **MASK, "lstrip": False}))
    for lower, keep, stored in itertools.product(FLAG, FLAG, range(4)):
        normalizer = json.loads((DATA / "albert/tokenizer.json").read_text())["normalizer"]["normalizers"]
        dropped = ("Lowercase",) * (stored % 2) + ("NFKD", "StripAccents") * (stored // 2)
        kept = {"normalizer": {"normalizers": [step for step in normalizer if step["type"] not in (*dropped, "Precompiled")]}}
        yield case("albert", bert_config("AlbertTokenizer", do_lower_case=lower, keep_accents=keep), kept)
        if lower is not keep:
            yield case("albert", bert_config("PreTrainedTokenizerFast", do_lower_case=lower, keep_accents=keep), kept)
    for lstrip in (True, False):
        listed = [{"id": id, **NO_FLAGS, "content": token} for id, token in enumerate(["<pad>", "<unk>", "[CLS]", "[SEP]"])] + [{"id": 4, **NO_FLAGS, "content": "[MASK]", "lstrip": lstrip}]
        for mask in (None, "[MASK]", {"__type": "AddedToken", **MASK, "content": "[MASK]"}):
            yield case("albert", bert_config("AlbertTokenizer", mask_token=mask), {"added_tokens": listed})
    yield case("albert", bert_config("AlbertTokenizer", cls_token="<pad>"))
    yield case("albert", bert_config("AlbertTokenizer", cls_token="<pad>"), {"post_processor": None})
    yield case("albert", bert_config("AlbertTokenizer", remove_space=False))


def truncation_cases():
    for side in (None, "right", "left"):
        for cls in ("BertTokenizer", "PreTrainedTokenizerFast"):
            yield case("bert", bert_config(cls, truncation_side=side), max_length=4)
        yield case("bert", bert_config("BertTokenizer", truncation_side=side), max_length=4, split=True)
        for cls in ("GPT2Tokenizer", "PreTrainedTokenizerFast"):
            yield case("gpt2", bert_config(cls, truncation_side=side), max_length=3)
            yield case("gpt2_bos", bert_config(cls, truncation_side=side), max_length=3)


def all_cases():
    return [*bert_flags(), *bert_classes(), *bert_parts(), *gpt2_cases(), *split_cases(), *legacy_cases(), *object_cases(), *truncation_cases(), *roberta_cases(), *unigram_cases()]


def merged(target, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def write_folder(folder, one):
    tokenizer = merged(json.loads((DATA / one["base"] / "tokenizer.json").read_text()), one.get("json", {}))
    files = {"tokenizer_config.json": "config", "config.json": "model", "special_tokens_map.json": "map", "added_tokens.json": "added"}
    for name, member in files.items():
        if member in one:
            (folder / name).write_text(json.dumps(one[member]))
    vocabulary = tokenizer["model"]["vocab"]
    if "split" not in one:
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    elif one["base"] == "bert":
        (folder / "vocab.txt").write_text("".join(token + "\n" for token in sorted(vocabulary, key=vocabulary.get)))
    else:
        (folder / "vocab.json").write_text(json.dumps(vocabulary))
        (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(" ".join(merge) + "\n" for merge in tokenizer["model"]["merges"]))


def answer():
    """In the interpreter of one version: the ids of all cases."""
    import transformers

    transformers.logging.set_verbosity_error()
    results = []
    for one in all_cases():
        with tempfile.TemporaryDirectory() as folder:
            write_folder(pathlib.Path(folder), one)
            try:
                tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
                cut = {"truncation": True, "max_length": one["max_length"]} if "max_length" in one else {}
                texts = TEXTS.get(one["base"]) or TEXTS[one["base"][:4]]
                results.append([tokenizer(*(text if isinstance(text, list) else [text]), **cut)["input_ids"] for text in texts])
            except Exception as error:
                results.append(None)
                print(json.dumps(one), error, file=sys.stderr)
    json.dump({"version": transformers.__version__, "results": results}, sys.stdout)


def main():
    answers = [json.loads(subprocess.run([python, __file__, "--answer"], stdout=subprocess.PIPE, check=True).stdout) for python in sys.argv[1:3]]
    cases = all_cases()
    for one, ids4, ids5 in zip(cases, answers[0]["results"], answers[1]["results"]):
        one.update({"ids": ids4} if ids4 == ids5 else {"ids4": ids4, "ids5": ids5})
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in cases)
    texts = json.dumps(TEXTS, ensure_ascii=False)
    (HERE / "tokenizer_config_cases.json").write_text(
        f'{{"made_by":"transformers {answers[0]["version"]} and {answers[1]["version"]}","texts":{texts},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    answer() if sys.argv[1:] == ["--answer"] else main()
