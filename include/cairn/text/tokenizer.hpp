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

/// How `Tokenizer::encode` treats special tokens and length.
struct EncodeOptions {
    /// Put the model's own tokens around the text, as its files say: `[CLS] A [SEP]` for BERT, nothing for GPT-2.
    bool add_special = true;
    /// Read a special token written in the text (`<|endoftext|>`, `[MASK]`) as that token; false: as plain characters,
    /// which is what untrusted text wants, and what always holds where the files say `split_special_tokens`.
    bool parse_special = true;
    /// The most ids to return, those of `add_special` included and kept; 0 means no limit. The end of a text is cut, or
    /// its start where `truncation_side` of the files is `left`.
    std::size_t max_length = 0;
};

/// The ids of the tokens that have a role, where the tokenizer's files name one.
struct SpecialIds {
    std::optional<std::int32_t> bos;   ///< beginning of a text
    std::optional<std::int32_t> eos;   ///< end of a text; generation stops here
    std::optional<std::int32_t> unk;   ///< stands for a word that the vocabulary cannot spell
    std::optional<std::int32_t> sep;   ///< ends each of the texts given to BERT
    std::optional<std::int32_t> pad;   ///< fills up the shorter rows of a batch
    std::optional<std::int32_t> cls;   ///< first token of BERT's input
    std::optional<std::int32_t> mask;  ///< a word to be guessed
};

/// Text to ids and back. Every member function is const and free of hidden state, so one Tokenizer serves any number of
/// threads.
///
///     auto tokenizer = cairn::text::load_tokenizer("examples/models/shakespeare-gpt2");
///     std::vector<std::int32_t> ids = tokenizer->encode("ROMEO:\n");
class CAIRN_API Tokenizer {
public:
    Tokenizer() = default;
    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;
    virtual ~Tokenizer();

    /// The ids of a UTF-8 text, in time linear in its length but for a logarithm (byte-level BPE).
    /// Ill-formed bytes are kept as they are by byte-level BPE; WordPiece reads each ill-formed sequence as U+FFFD.
    /// Throws Error (argument) where `max_length` has no room for the tokens of `add_special`.
    virtual std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const = 0;

    /// The ids of two texts for one input: `[CLS] A [SEP] B [SEP]` for BERT, A then B for GPT-2. With `max_length` the
    /// longer of the two is cut first.
    virtual std::vector<std::int32_t> encode_pair(std::string_view first, std::string_view second,
                                                  const EncodeOptions& options = {}) const = 0;

    /// The text of the ids, special tokens spelled out. Byte-level BPE: exactly the bytes that were encoded, which need
    /// not be UTF-8. WordPiece: words joined by one space, since the vocabulary does not keep the spacing, but none
    /// before
    /// `.` `?` `!` `,` where the files' decoder has `cleanup` (as it is unless they say otherwise).
    /// Throws Error (argument) for an id outside the vocabulary.
    std::string decode(std::span<const std::int32_t> ids) const;

    /// The bytes that one id adds to a text; `first` says that the text is empty so far. `decode` is the concatenation
    /// of these, cleaned up where `cleans_up`. Throws as `decode`.
    virtual std::string piece(std::int32_t id, bool first) const = 0;

    /// Whether `decode` ends by taking spaces out around English punctuation and contractions: "don ' t" -> "don't". As
    /// `clean_up_tokenization_spaces` of tokenizer_config.json says; byte-level BPE never does, its spaces being the
    /// text's.
    virtual bool cleans_up() const noexcept { return false; }

    /// Number of ids: they are 0 .. vocabulary_size() - 1, added tokens included.
    virtual std::size_t vocabulary_size() const noexcept = 0;

    /// The id of a token spelled as in the vocabulary file (`Ġthe`, `##ing`, `[SEP]`), or nothing.
    virtual std::optional<std::int32_t> id_of(std::string_view token) const = 0;

    /// The spelling of an id in the vocabulary file. Throws Error (argument) for an id outside the vocabulary.
    virtual const std::string& token(std::int32_t id) const = 0;

    /// The ids of the tokens with a role.
    virtual const SpecialIds& special() const noexcept = 0;

    /// `model_max_length` of tokenizer_config.json, or nothing. Only told: `encode` cuts where `max_length` asks for
    /// it.
    virtual std::optional<std::size_t> model_max_length() const noexcept = 0;
};

/// Reads the tokenizer of a Hugging Face model folder. The files decide the kind, the first line that holds wins:
///
///     tokenizer.json            byte-level BPE (GPT-2) or WordPiece (BERT), as its `model.type` says
///     vocab.json + merges.txt   byte-level BPE
///     vocab.txt                 WordPiece
///
/// tokenizer_config.json beside them gives names of special tokens, added and additional special tokens,
/// `add_prefix_space`, `do_lower_case`, `strip_accents`, `tokenize_chinese_chars`, `clean_up_tokenization_spaces`,
/// `add_bos_token`, `split_special_tokens`, `truncation_side`, `model_max_length`. Without an `added_tokens_decoder`
/// there, special_tokens_map.json and added_tokens.json are read too; without a `tokenizer_class`, config.json names
/// the class by `tokenizer_class` or `model_type`. Truncation and padding stored in tokenizer.json are not used:
/// `EncodeOptions::max_length` says what a call wants.
///
/// Where tokenizer.json and tokenizer_config.json state a setting differently, the class decides, as in transformers:
///
///     BertTokenizer, DistilBertTokenizer, ...    `do_lower_case`, `strip_accents` and `tokenize_chinese_chars` of the
///                                                configuration hold, and true, null and true where it has none
///     GPT2Tokenizer                              `add_prefix_space` of the configuration holds; default false
///     PreTrainedTokenizerFast, TokenizersBackend tokenizer.json holds
///
/// A contradiction that versions 4 and 5 of transformers read differently, or that stands beside an unknown class or
/// none, is an Error (unsupported) that names both values.
///
/// Unicode is that of the installed utf8proc (15.0 in Debian 12). With it, byte-level BPE cuts every code point that
/// Unicode 15.0 assigns as Hugging Face tokenizers 0.23 does. That library knows Unicode 16: the 5,004 letters and
/// digits that 15.1 and 16 added are letters and digits there, and signs here. WordPiece differs from it for some 570
/// marks, punctuation signs and format characters that Unicode added or re-classified after version 8, whose categories
/// that library uses there.
///
/// Throws Error: `file` where files are missing, malformed or contradict each other, `unsupported` (naming the part)
/// where they describe another kind of tokenizer.
CAIRN_API std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace cairn::inline v0::text
