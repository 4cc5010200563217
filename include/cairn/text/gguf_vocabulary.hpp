#pragma once

#include "cairn/text/tokenizer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// The tokenizer of a GGUF file: its keys `tokenizer.ggml.*` (ggml-org/ggml, docs/gguf.md).
/// models::gguf_vocabulary reads them.
struct GgufVocabulary {
    std::string source{};  ///< the file, for errors
    std::string model{};   ///< `model`: `gpt2` is byte-level BPE, `bert` WordPiece, `llama` SentencePiece BPE,
                           ///< `gemma4` a BPE of characters
    std::string pre{};     ///< `pre`, how BPE splits text into words; `gpt-2` if empty
    std::vector<std::string> tokens{};  ///< `tokens`, by id
    std::vector<std::int64_t>
        types{};                   ///< `token_type`: 1 normal, 3 control, 4 user-defined, 6 byte; empty: all normal
    std::vector<double> scores{};  ///< `scores`, of SentencePiece BPE, by id
    std::vector<std::string> merges{};  ///< `merges`, of BPE, in descending priority: two tokens and a space between
    std::optional<std::int64_t> bos{}, eos{}, unk{}, sep{}, pad{}, cls{}, mask{};  ///< `bos_token_id`, ..
    /// `add_bos_token`, `add_eos_token`: of BPE. Not stated: a text of SentencePiece, Llama 3 and Gemma 4 begins with
    /// `bos`.
    std::optional<bool> add_bos{}, add_eos{};
    bool add_space_prefix = true;  ///< `add_space_prefix`, of SentencePiece BPE
};

/// Makes the tokenizer. Control and user-defined tokens are recognised in text; control tokens are special.
///
/// Of WordPiece, tokens that begin a word have U+2581 in front, in place of the `##` of those that continue one; text
/// is lower case without accents, as in llama.cpp. `[CLS]` and `[SEP]` are the tokens of `cls` (or `bos`) and `sep` (or
/// `eos`).
///
/// Throws Error: `file` if the vocabulary contradicts itself, `unsupported`, with the name, for another model or
/// another `pre`.
CAIRN_API std::unique_ptr<Tokenizer> make_tokenizer(const GgufVocabulary& vocabulary);

}  // namespace cairn::inline v0::text
