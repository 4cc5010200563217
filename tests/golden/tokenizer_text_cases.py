"""Writes the small tokenizers of tests/data/transformers5 that have parts of RoBERTa, Unigram models or Llama's relatives, and tokenizer_text_cases.json.

    python -m venv v5 && v5/bin/pip install 'transformers>=5' sentencepiece protobuf
    v5/bin/python tokenizer_text_cases.py            # the cases, for the tokenizers that are there
    v5/bin/python tokenizer_text_cases.py --train [FOLDER..]    # trains the tokenizers, or those of the folders, first, on the pages of docs/

For each folder the file has `cases`: a text, or its bytes in hexadecimal where they are no UTF-8, with `ids`, `plain` (ids with special tokens read as text,
and none added), `pair` (ids of the text and the one after it), `short` (at most 7 ids) and `decoded`; a member that equals one above it is left out. `random`
has 4 hexadecimal digits for each random text: the hash of its ids (FNV-1a with 32 bits over the ids as 4 bytes each, its two halves added by xor). Text number
n, from 0, draws from a generator x -> 6364136223846793005 x + 1442695040888963407 (mod 2^64) that begins with x = n, and a number is x >> 33 after a step: the
count of parts is a number mod 24, and each part is parts[number mod size].
"""

import io
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data/transformers5"
FOLDERS = ["roberta", "roberta_template", "albert", "xlm_roberta", "t5", "camembert", "unigram_bytes", "unigram_first", "llama2", "llama_metaspace", "gemma", "characters", "llama3",
           "qwen2", "smollm"]
RANDOM_TEXTS = 2400

LANGUAGES = """Die Straße führt über den Fluß nach Süden, und alle Häuser stehen schön da.
Où est l'école française? Çà et là, près du château, où naît l'été.
El niño comió jalapeños mañana por la mañana en la montaña.
Привет, мир! Это короткий русский текст о словах и буквах.
Καλημέρα κόσμε, αυτό είναι ένα μικρό ελληνικό κείμενο.
שלום עולם, זה טקסט קצר. مرحبا بالعالم، هذا نص قصير.
नमस्ते दुनिया, यह एक छोटा पाठ है। สวัสดีชาวโลก นี่คือข้อความสั้น
你好，世界。这是一个短文本，用来训练分词器。これは短い日本語の文章です。안녕하세요 세계, 이것은 짧은 글입니다.
Xin chào thế giới, đây là một đoạn văn ngắn. İstanbul'da güzel bir gün, ışık doğdu.
""" * 3

TEXTS = [
    "", " ", "  ", "\t", "\n", " \t\r\n ", "a", " a", "a ", "  a  b  ", "the  words\tof\na\r\ntext", "Hello, World!", "THE QUICK Brown fox", "don't you'll we've",
    "naïve café Ångström", "cafe\u0301 A\u030a e\u0301\u0302\u0303", "\u0301", "\u0301abc", "a\u0301\u0302", "ｆｕｌｌｗｉｄｔｈ　ｔｅｘｔ", "ﬁne ﬂow ﬀ", "½ ² ③ Ⅳ ™ ℃", "中文 と 日本語 한국어", "각 \u1100\u1161\u11a8",
    "👩‍👩‍👧‍👦 👍🏽 🇩🇪 ☃️", "हिन्दी क्ष", "สวัสดี", "مرحبا", "ΣΑΣ Σ ΟΔΟΣ", "İstanbul ısı I", "ẞ ß SS", "``quoted'' text", "''''", "``", "\u200b\u200d\ufeff\u00ad", "\u0000a\u0007b", "\u00a0nbsp\u3000wide\u2028line",
    "▁", "▁▁a ▁b", "a▁b", "_a_", "<s> a </s>", "<s>a</s><pad>", "a <mask> b", "a  \t<mask>  b<mask>", "[CLS] a [SEP] b", "x [MASK]\u3000[MASK] y", "<unk>", "x<unk>y", "<unk>\u2603<unk>", "<extra_id_0> to <extra_id_1>.",
    "\u2603\u2604\u2605", "a\u2603b \u2603\u2604 c", "<0x41><0xE2>", "zzz ZZZ zzz", "  zzz", "the<tag>of <tag> a", " <tag> ", "123 4567 89.01 1,000", "https://example.org/a?b=c&d=e", "a" * 300, "ab" * 200, "\u2603" * 120, " " * 40, "\u0301" * 90,
    "the compiler " * 20, "foo(bar[0], \"baz\") { return x != y; }",
]
BROKEN = [b"\xff", b"a\xc3", b"\xc3\x28b", b"\xe4\xb8", b"x\xf0\x9f\x98 y", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80 the", b"a \xe2\x96 \xe2\x96\x81"]

PARTS = [
    " ", " ", " ", "  ", "\t", "\n", "\u00a0", "\u3000", "a", "e", "s", "t", "the", "ing", "The", "ABC", "tion", "word", " of", " and ", "compiler", "tensor", "0", "7", "42", ".", ",", "!", "?", "'", "\"", "``", "''", "(", "]", "#", "-", "_", "$",
    "é", "e\u0301", "ü", "u\u0308", "ñ", "Å", "A\u030a", "ß", "ẞ", "İ", "ı", "ø", "đ", "\u0301", "\u0302", "\u0323", "\u0308\u0301", "Ж", "ж", "мир", "Σ", "ς", "λόγος", "ש", "שָׁ", "ع", "مر", "ﻻ", "न", "क्ष", "ि", "ส", "ำ", "中", "文", "日本", "か\u3099", "が", "ｶﾞ",
    "한", "\u1100", "\u1161", "\u11a8", "각", "ａ", "Ｂ", "１", "ﬁ", "ﬀ", "²", "½", "™", "Ⅳ", "③", "…", "—", "“", "«", "€", "😀", "👩‍👩‍👧", "👍🏽", "🇩🇪", "☃", "\ufe0f", "\u200d", "\u200b", "\ufeff", "\u00ad", "\u0000", "\u0007", "\u007f", "\ufffd", "▁", "▁the",
    "<s>", "</s>", "<pad>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[MASK]", "<extra_id_0>", "<tag>", "zzz", "ZZZ", "<0x41>", "𝔸", "𐍈", "\u0344", "Ω", "ǅ", "ﷺ", "᾿", "\u0345", "ᾳ",
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<start_of_turn>", "<0xE2>", "\r\n", "\n\n", "'S", "'ll", "HTTPServer", "12345", "⅔", "a\u0301b", "/", "    ",
]


def random_text(number):
    state = number

    def draw(count):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % count

    return "".join(PARTS[draw(len(PARTS))] for _ in range(draw(24)))


def hashed(ids):
    value = 2166136261
    for byte in b"".join(id.to_bytes(4, "little") for id in ids):
        value = (value ^ byte) * 16777619 % 2**32
    return f"{value >> 16 ^ value & 0xFFFF:04x}"


def training_text():
    pages = [page.read_text() for page in sorted((HERE.parents[1] / "docs").glob("*.md"))]
    return [line for page in [*pages, LANGUAGES] for line in page.splitlines()]


def character_map():
    """A few rules of the normalizer of SentencePiece, as it compiles them."""
    import unicodedata

    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    rules = {"\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\u2028": " ", "\u200b": " ", "\ufeff": "", "\u00ad": "", "\u0007": "", "…": "...", "ﬁ": "fi", "ﬀ": "ff", "ﷺ": "صلى"}
    for first in "aeuAEU":
        for mark in "\u0301\u0302\u0308\u030a":
            rules[first + mark] = unicodedata.normalize("NFC", first + mark)
    for code in [*range(0xFF01, 0xFF5F), 0xB2, 0xBD, 0x2122, 0x2163, 0x2462, *range(0xFF71, 0xFF81)]:
        rules[chr(code)] = unicodedata.normalize("NFKC", chr(code))
    path = HERE / "rules.tsv"
    path.write_text("".join(" ".join(f"{ord(c):X}" for c in key) + "\t" + " ".join(f"{ord(c):X}" for c in value) + "\n" for key, value in rules.items() if key != value))
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a text of words"] * 20), model_writer=model, vocab_size=20, hard_vocab_limit=False, minloglevel=2,
                                             normalization_rule_tsv=str(path))
    path.unlink()
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def trained(kind, size, special, normalizer, pre_tokenizer):
    """A tokenizer whose model is trained; its vocabulary begins with the special tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    if kind == "bpe":
        tokenizer = Tokenizer(models.BPE())
        trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    else:
        tokenizer = Tokenizer(models.Unigram())
        trainer = trainers.UnigramTrainer(vocab_size=size, special_tokens=special, unk_token="<unk>", show_progress=False)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(training_text(), trainer)
    return tokenizer


def flags(content, **more):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **more}


def write_folder(name, file, config):
    if len(sys.argv) > 2 and name not in sys.argv:
        return
    folder = DATA / name
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(file, ensure_ascii=False, separators=(",", ":")))
    (folder / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n")


def as_file(tokenizer, added, **parts):
    """The JSON of a tokenizer with these added tokens, whose ids follow from the vocabulary or continue it."""
    file = json.loads(tokenizer.to_str())
    vocabulary = file["model"]["vocab"]
    ids = dict(vocabulary) if isinstance(vocabulary, dict) else {piece: id for id, (piece, _) in enumerate(vocabulary)}
    tokens = []
    for token in added:
        tokens.append({"id": ids.setdefault(token["content"], len(ids)), **token})
    return {**file, "added_tokens": sorted(tokens, key=lambda token: token["id"]), **parts}


def template(before, after, pair):
    """Templates written as "<s> A </s>"."""
    def pieces(text):
        return [{"Sequence": {"id": name, "type_id": 0}} if name in "AB" else {"SpecialToken": {"id": name, "type_id": 0}} for name in text.split()]

    return lambda ids: {"type": "TemplateProcessing", "single": pieces(f"{before} A {after}"), "pair": pieces(pair),
                        "special_tokens": {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in {*before.split(), *after.split()}}}


def piece_ids(tokenizer, added=()):
    ids = dict(tokenizer.get_vocab())
    for token in added:
        ids.setdefault(token["content"], len(ids))
    return ids


def train():
    from tokenizers import normalizers, pre_tokenizers

    roberta_roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>", "pad_token": "<pad>", "cls_token": "<s>", "mask_token": "<mask>"}
    byte_level = trained("bpe", 599, ["<s>", "<pad>", "</s>", "<unk>"], None, pre_tokenizers.ByteLevel(add_prefix_space=False))
    added = [flags(token, normalized=True) for token in ("<s>", "<pad>", "</s>", "<unk>")] + [flags("<mask>", lstrip=True)]
    ids = piece_ids(byte_level, added)
    file = as_file(byte_level, added, decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True})
    file["model"]["vocab"]["<mask>"] = ids["<mask>"]
    write_folder("roberta", {**file, "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False}},
                 {"tokenizer_class": "RobertaTokenizer", **roberta_roles, "add_prefix_space": False, "model_max_length": 512})
    write_folder("roberta_template", {**file, "post_processor": template("<s>", "</s>", "<s> A </s> </s> B </s>")(ids)},
                 {"tokenizer_class": "BartTokenizer", **roberta_roles, "add_prefix_space": True})

    characters = normalizers.Precompiled(character_map())
    words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    albert = trained("unigram", 700, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"],
                     normalizers.Sequence([*quotes, normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), characters]), words)
    added = [*map(flags, ["<pad>", "<unk>", "[CLS]", "[SEP]"]), flags("[MASK]", lstrip=True)]
    write_folder("albert", as_file(albert, added, post_processor=template("[CLS]", "[SEP]", "[CLS] A [SEP] B [SEP]")(piece_ids(albert)), decoder=metaspace),
                 {"tokenizer_class": "AlbertTokenizer", "do_lower_case": True, "keep_accents": False, "mask_token": "[MASK]", "model_max_length": 512})

    xlm = trained("unigram", 700, ["<s>", "<pad>", "</s>", "<unk>"], characters, words)
    added = [*map(flags, ["<s>", "<pad>", "</s>", "<unk>"]), flags("<mask>", lstrip=True)]
    separated = template("<s>", "</s>", "<s> A </s> </s> B </s>")
    write_folder("xlm_roberta", as_file(xlm, added, post_processor=separated(piece_ids(xlm)), decoder=metaspace), {"tokenizer_class": "XLMRobertaTokenizer", **roberta_roles})

    t5 = trained("unigram", 500, ["<pad>", "</s>", "<unk>"], characters, words)
    extra = [f"<extra_id_{i}>" for i in range(3)]
    added = [*map(flags, ["<pad>", "</s>", "<unk>", *extra])]
    write_folder("t5", as_file(t5, added, post_processor=template("", "</s>", "A </s> B </s>")(piece_ids(t5)), decoder=metaspace),
                 {"tokenizer_class": "T5Tokenizer", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": 3, "additional_special_tokens": extra})

    unused = ["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"]
    camembert = trained("unigram", 500, [unused[0], "<pad>", unused[1], "<unk>", unused[2], "<s>", "</s>"], characters, words)
    added = [*map(flags, ["<s>", "<pad>", "</s>", "<unk>", *unused]), flags("<mask>", lstrip=True)]
    write_folder("camembert", as_file(camembert, added, post_processor=separated(piece_ids(camembert)), decoder=metaspace),
                 {"tokenizer_class": "CamembertTokenizer", **roberta_roles, "additional_special_tokens": unused})

    # Parts that no class of its own has.
    whole = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    plain = trained("unigram", 600, ["<unk>", "<s>", "</s>"], normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), words)
    plain.pre_tokenizer = whole
    file = as_file(plain, [])
    file["model"]["vocab"] += [[piece, 0.0] for piece in byte_pieces]
    file["model"]["byte_fallback"] = True
    size = len(file["model"]["vocab"])
    more = [flags("<tag>", special=False, lstrip=True, rstrip=True), flags("zzz", special=False, normalized=True)]
    tokens = [{"id": id, **flags(token)} for id, token in enumerate(["<unk>", "<s>", "</s>"])] + [{"id": size + i, **token} for i, token in enumerate(more)]
    write_folder("unigram_bytes", {**file, "added_tokens": tokens, "decoder": {**metaspace, "prepend_scheme": "first", "split": False}},
                 {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "clean_up_tokenization_spaces": False})

    from tokenizers import Regex

    steps = [normalizers.Strip(), normalizers.NFD(), normalizers.StripAccents(), normalizers.NFC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Replace("zz", "")]
    first = trained("unigram", 500, ["<unk>"], normalizers.Sequence(steps), words)
    first.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first")
    tokens = [flags("<unk>"), flags("<tag>", special=False, normalized=True, lstrip=True), flags("<mask>", rstrip=True)]
    write_folder("unigram_first", as_file(first, tokens, decoder={**metaspace, "prepend_scheme": "never"}), {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"})


def byte_pieces_first(tokenizer, special):
    """The JSON of a BPE whose vocabulary is the special tokens, 256 pieces of bytes, and what was trained."""
    file = json.loads(tokenizer.to_str())
    trained_tokens = sorted(file["model"]["vocab"], key=file["model"]["vocab"].get)
    tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *(token for token in trained_tokens if token not in special)]
    file["model"].update({"vocab": {token: id for id, token in enumerate(tokens)}, "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"})
    return file


def named(ids, contents, **more):
    return [{"id": ids[content], **flags(content, **more)} for content in contents]


def train_llamas():
    """The pipelines of Llama 1 to 3, Gemma, Qwen 2 and SmolLM."""
    from tokenizers import Regex, decoders, normalizers, pre_tokenizers

    class_of = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    words = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = ["<unk>", "<s>", "</s>"]
    file = byte_pieces_first(trained("bpe", 600, special, None, words), special)
    ids = file["model"]["vocab"]
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]

    def decoder(*more):
        return json.loads(decoders.Sequence([*steps, *more]).__getstate__())

    def normalizer(*parts):
        return json.loads((parts[0] if len(parts) == 1 else normalizers.Sequence(list(parts))).__getstate__())

    begins = template("<s>", "", "<s> A <s> B")(ids)
    strips = decoder(decoders.Strip(" ", 1, 0))
    merges = file["model"]["merges"]
    file["model"]["merges"] = [" ".join(merge) for merge in merges]
    tags = [{"id": len(ids), **flags("<tag>", special=False, normalized=True)}, {"id": len(ids) + 1, **flags("<|im_start|>")}]
    write_folder("llama2", {**file, "normalizer": normalizer(normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")), "pre_tokenizer": None, "post_processor": begins,
                            "decoder": strips, "added_tokens": [*named(ids, special), *tags]}, {**class_of, **roles})
    file["model"]["merges"] = merges
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    write_folder("llama_metaspace", {**file, "normalizer": None, "pre_tokenizer": metaspace, "post_processor": begins, "decoder": strips,
                                     "added_tokens": [*named(ids, special), *tags]}, {**class_of, **roles, "truncation_side": "left"})

    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    file = byte_pieces_first(trained("bpe", 600, special, normalizers.Replace(" ", "▁"), pre_tokenizers.Metaspace(prepend_scheme="never")), special)
    ids = file["model"]["vocab"]
    tags = [{"id": len(ids), **flags("<start_of_turn>")}, {"id": len(ids) + 1, **flags("\n\n", special=False)}]
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    write_folder("gemma", {**file, "normalizer": normalizer(normalizers.Replace(" ", "▁")), "pre_tokenizer": split,
                           "post_processor": template("<bos>", "", "<bos> A <bos> B")(ids), "decoder": decoder(), "added_tokens": [*named(ids, special), *tags]},
                 {**class_of, "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"})

    # Parts that no model above has: words that keep their space, some bytes without a piece, unknown tokens that are not fused, merges that are ignored.
    plain = json.loads(trained("bpe", 400, ["<unk>"], None, pre_tokenizers.Split(" ", "merged_with_previous")).to_str())
    vocabulary = plain["model"]["vocab"]
    for byte in (0xE2, 0x98, 0x83, 0xC3, 0xA9):
        vocabulary[f"<0x{byte:02X}>"] = len(vocabulary)
    plain["model"].update({"byte_fallback": True, "fuse_unk": False, "unk_token": "<unk>", "ignore_merges": True})
    write_folder("characters", {**plain, "normalizer": normalizer(normalizers.NFKC()), "pre_tokenizer": split, "decoder": decoder(),
                                "added_tokens": named(vocabulary, ["<unk>"])}, {**class_of, "unk_token": "<unk>"})

    def byte_level(use_regex):
        return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}

    def in_sequence(*steps):
        return {"type": "Sequence", "pretokenizers": list(steps)}

    def isolated(expression):
        return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}

    llama3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    qwen2 = llama3.replace("{1,3}", "")
    for name, tokens, expression, steps, post in [
            ("llama3", ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"], llama3, in_sequence(isolated(llama3), byte_level(False)), True),
            ("qwen2", ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], qwen2, in_sequence(isolated(qwen2), byte_level(False)), False),
            ("smollm", ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], r"\p{N}", in_sequence({"type": "Digits", "individual_digits": True}, byte_level(True)), False)]:
        trainer_words = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not post)])
        file = json.loads(trained("bpe", 700, [], None, trainer_words).to_str())
        model = file["model"]
        if name == "smollm":  # its vocabulary lacks some bytes
            model["vocab"] = {token: id for id, token in enumerate(token for token in sorted(model["vocab"], key=model["vocab"].get) if not {"Ù", "Ñ"} & set(token))}
            model["merges"] = [merge for merge in model["merges"] if not {"Ù", "Ñ"} & set("".join(merge))]
        ids = model["vocab"]
        added = [{"id": len(ids) + i, **flags(token)} for i, token in enumerate(tokens)]
        model["ignore_merges"] = post
        begins = template(tokens[0], "", f"{tokens[0]} A {tokens[0]} B")({**ids, tokens[0]: len(ids)})
        both = {"type": "Sequence", "processors": [byte_level(True), begins]}
        config = {**class_of, "bos_token": tokens[0], "eos_token": tokens[1]} if post else {**class_of, "eos_token": tokens[2]}
        write_folder(name, {**file, "normalizer": {"type": "NFC"} if name == "qwen2" else None, "pre_tokenizer": steps, "post_processor": both if post else byte_level(False),
                            "decoder": byte_level(True), "added_tokens": added}, config)


def one_case(tokenizer, text, other):
    case = {"ids": tokenizer(text)["input_ids"]}
    core = tokenizer.backend_tokenizer
    core.encode_special_tokens = True
    core.no_truncation()
    case["plain"] = core.encode(text, add_special_tokens=False).ids
    core.encode_special_tokens = False
    case["pair"] = core.encode(text, other).ids
    case["short"] = tokenizer(text, truncation=True, max_length=7)["input_ids"]
    core.no_truncation()
    case["decoded"] = tokenizer.decode(case["ids"])
    if case["plain"] == case["ids"]:
        del case["plain"]
    if case["short"] == case["ids"]:
        del case["short"]
    return case


def main():
    if "--train" in sys.argv:
        train()
        train_llamas()
    import tokenizers
    import transformers

    transformers.logging.set_verbosity_error()
    texts = [(text, {"text": text}) for text in TEXTS] + [(broken.decode(errors="replace"), {"hex": broken.hex()}) for broken in BROKEN]
    randoms = [random_text(number) for number in range(RANDOM_TEXTS)]
    lines = []
    for name in FOLDERS:
        tokenizer = transformers.AutoTokenizer.from_pretrained(DATA / name)
        cases = [{**shown, **one_case(tokenizer, text, texts[(i + 1) % len(texts)][0])} for i, (text, shown) in enumerate(texts)]
        hashes = [hashed(tokenizer(text)["input_ids"]) for text in randoms]
        body = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
        lines.append(f'"{name}":{{"cases":[\n{body}\n],"random":"{"".join(hashes)}"}}')
    made_by = f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}"
    folders = ",\n".join(lines)
    (HERE / "tokenizer_text_cases.json").write_text(f'{{"made_by":"{made_by}","parts":{json.dumps(PARTS, separators=(",", ":"))},"folders":{{\n{folders}\n}}}}\n')


if __name__ == "__main__":
    main()
