#pragma once

#include "cairn/error.hpp"
#include "cairn/version.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// The bytes of a text from `begin` to before `end`.
struct TextRange {
    std::size_t begin = 0, end = 0;
};

/// Options of `Tokenizer::encode`.
struct EncodeOptions {
    /// Add the model's special tokens, as its files define: `[CLS] A [SEP]` for BERT and ALBERT, `<s> A </s>` for
    /// RoBERTa, nothing for GPT-2.
    bool add_special = true;
    /// Parse a special token written in the text (`<|endoftext|>`, `[MASK]`) as that token; false: as plain characters,
    /// as untrusted text requires. Always false if the files set `split_special_tokens`.
    bool parse_special = true;
    /// The most ids to return, including those of `add_special`, which are kept; 0: no limit. Truncates the end of the
    /// text, or its start if `truncation_side` of the files is `left`.
    std::size_t max_length = 0;
    /// Parts of the text, in order, in which added tokens, special or not, are plain characters although
    /// `parse_special` is set: what others wrote, within a text that the program made. Tokens of white space alone are
    /// recognised there too, unless they are special. Not for `encode_pair`.
    std::span<const TextRange> plain{};
};

/// The ids of tokens with a special role, where the tokenizer's files define one.
struct SpecialIds {
    std::optional<std::int32_t> bos;   ///< beginning of a text
    std::optional<std::int32_t> eos;   ///< end of a text; generation stops here
    std::optional<std::int32_t> unk;   ///< replaces a word that the vocabulary cannot express
    std::optional<std::int32_t> sep;   ///< separator: ends each of BERT's input texts
    std::optional<std::int32_t> pad;   ///< pads the shorter rows of a batch
    std::optional<std::int32_t> cls;   ///< first token of BERT's input
    std::optional<std::int32_t> mask;  ///< masked word, to be predicted
};

/// Converts text to ids and back. Every member function is const and free of hidden state, so one Tokenizer may be used
/// by any number of threads.
///
///     auto tokenizer = cairn::text::load_tokenizer("examples/models/shakespeare-gpt2");
///     std::vector<std::int32_t> ids = tokenizer->encode("ROMEO:\n");
class CAIRN_API Tokenizer {
public:
    Tokenizer() = default;
    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;
    virtual ~Tokenizer();

    /// The ids of a UTF-8 text. Takes time linear in its length, up to a logarithmic factor (byte-level BPE).
    /// Byte-level BPE without a normalizer keeps ill-formed bytes; the others read each ill-formed sequence as U+FFFD.
    /// Throws
    /// Error (argument) if `max_length` leaves no room for the tokens of `add_special`.
    virtual std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const = 0;

    /// The ids of two texts for one input: `[CLS] A [SEP] B [SEP]` for BERT and ALBERT, `<s> A </s></s> B </s>` for
    /// RoBERTa, A then B for GPT-2. `max_length` truncates the longer of the two first.
    virtual std::vector<std::int32_t> encode_pair(std::string_view first, std::string_view second,
                                                  const EncodeOptions& options = {}) const = 0;

    /// The text of the ids, special tokens included. Byte-level BPE: exactly the bytes that were encoded, which need
    /// not be UTF-8. WordPiece: words joined by one space, since the vocabulary does not store the spacing; no space
    /// before `.` `?` `!` `,` if the files' decoder has `cleanup` (the default). Unigram: the pieces, with a space for
    /// each `▁`, but none for those of the first piece unless `prepend_scheme` of the decoder is "never". Throws Error
    /// (argument) for an id outside the vocabulary.
    std::string decode(std::span<const std::int32_t> ids) const;

    /// The bytes that one id adds to a text; `first`: the text is empty so far. `decode` concatenates these, then
    /// cleans up if `cleans_up`. Throws as `decode`.
    virtual std::string piece(std::int32_t id, bool first) const = 0;

    /// True if `decode` finally removes spaces around English punctuation and contractions: "don ' t" -> "don't". Set
    /// by `clean_up_tokenization_spaces` of tokenizer_config.json; always false for byte-level BPE, whose spaces are
    /// the text's.
    virtual bool cleans_up() const noexcept { return false; }

    /// Number of ids, which are 0 .. vocabulary_size() - 1, added tokens included.
    virtual std::size_t vocabulary_size() const noexcept = 0;

    /// The id of a token as written in the vocabulary file (`Ġthe`, `##ing`, `[SEP]`); empty if there is none.
    virtual std::optional<std::int32_t> id_of(std::string_view token) const = 0;

    /// The token of an id as written in the vocabulary file. Throws Error (argument) for an id outside the vocabulary.
    virtual const std::string& token(std::int32_t id) const = 0;

    /// The ids of tokens with a special role.
    virtual const SpecialIds& special() const noexcept = 0;

    /// `model_max_length` of tokenizer_config.json; empty if not set. For information only: `encode` truncates to
    /// EncodeOptions::max_length.
    virtual std::optional<std::size_t> model_max_length() const noexcept = 0;
};

/// Loads the tokenizer of a Hugging Face model folder. The files determine its kind; the first row that applies counts:
///
///     tokenizer.json            BPE (GPT-2, RoBERTa, Llama, Gemma, Qwen), WordPiece (BERT) or Unigram (ALBERT,
///                               XLM-RoBERTa, T5), by its `model.type`
///     vocab.json + merges.txt   byte-level BPE: RoBERTa's if the class says so, otherwise GPT-2's
///     vocab.txt                 WordPiece
///
/// With BPE and Unigram the normalizer may consist of Replace (of a string, or of the regular expression ` {2,}`), NFC,
/// NFD, NFKC, NFKD, StripAccents, Lowercase, Precompiled, Prepend and Strip. BPE is byte-level with a ByteLevel
/// pre-tokenizer, before which Split by the regular expressions of GPT-2, GPT-4, GPT-4o, Llama 3, Qwen 2 and 3.5,
/// Tekken and DeepSeek and Digits may stand; other regular expressions are refused with their text. Otherwise it is of
/// characters: the pre-tokenizer of WhitespaceSplit, Metaspace, and Split at a string that belongs to the word before
/// it, the decoder of Replace, ByteFallback, Fuse and Strip. With Unigram the pre-tokenizer is of WhitespaceSplit and
/// Metaspace, the decoder Metaspace. The post-processor of any kind is none, ByteLevel, BertProcessing,
/// RobertaProcessing, TemplateProcessing, or a Sequence with one of them besides ByteLevel.
///
/// tokenizer_config.json in the same folder gives names of special tokens, added and additional special tokens,
/// `add_prefix_space`, `do_lower_case`, `strip_accents`, `tokenize_chinese_chars`, `keep_accents`, `extra_ids`,
/// `clean_up_tokenization_spaces`, `add_bos_token`, `split_special_tokens`, `truncation_side`, `model_max_length`. If
/// it has no `added_tokens_decoder`, special_tokens_map.json and added_tokens.json are read too; if it has no
/// `tokenizer_class`, config.json gives the class by `tokenizer_class` or `model_type`. Truncation and padding stored
/// in tokenizer.json are ignored: `EncodeOptions::max_length` sets the truncation of each call.
///
/// If tokenizer.json and tokenizer_config.json give different values of a setting, the class decides, as in
/// transformers:
///
///     BertTokenizer, DistilBertTokenizer, ...    `do_lower_case`, `strip_accents` and `tokenize_chinese_chars` of the
///                                                configuration apply; if absent: true, null and true
///     GPT2Tokenizer                              `add_prefix_space` of the configuration applies; default false
///     RobertaTokenizer, LongformerTokenizer,     the same; the post-processor must be that of `cls_token` and
///     BartTokenizer, LEDTokenizer, MvpTokenizer  `sep_token`, and a file must state whether `<mask>` takes the
///                                                white space before it (`lstrip`)
///     AlbertTokenizer, XLMRobertaTokenizer,      tokenizer.json applies, which must be as version 5 builds it from
///     CamembertTokenizer, T5Tokenizer            `do_lower_case`, `keep_accents` and `add_prefix_space`
///     LlamaTokenizer, GemmaTokenizer,            tokenizer.json applies; its post_processor must add the tokens of
///     CodeLlamaTokenizer                         `add_bos_token` (default true) and `add_eos_token`
///     PreTrainedTokenizerFast, TokenizersBackend tokenizer.json applies
///
/// Version 5 builds the pipelines of some classes of BPE (GPT2Tokenizer, LlamaTokenizer, GemmaTokenizer,
/// Qwen2Tokenizer) itself; here that of tokenizer.json counts, with which the model was trained. Another contradiction
/// that versions 4 and 5 of transformers resolve differently, or with an unknown class or none, throws Error
/// (unsupported) with both values.
///
/// Unicode data is that of the installed utf8proc (15.0 in Debian 12). With it, byte-level BPE splits every code point
/// that Unicode 15.0 assigns as Hugging Face tokenizers 0.23 does. That library uses Unicode 16: the 5,004 letters and
/// digits that 15.1 and 16 added are letters and digits there, and symbols here. WordPiece differs from it for about
/// 570 marks, punctuation signs and format characters that Unicode added or re-classified after version 8, whose
/// categories that library uses there. Unigram differs from it for 546 code points, almost all of which Unicode added
/// after version 9: 194 in a normalization form, 357 marks of StripAccents, 55 letters of Lowercase.
///
/// Throws Error: `file` if files are missing, malformed or contradict each other, `unsupported` (naming the feature) if
/// they describe another kind of tokenizer.
CAIRN_API std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace cairn::inline v0::text
