#pragma once

#include "cairn/gguf.hpp"
#include "cairn/text/chat_template.hpp"
#include "cairn/text/gguf_vocabulary.hpp"
#include "cairn/types.hpp"
#include "cairn/weights.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::models {

/// A tensor that a model reads, with its name in Hugging Face checkpoints.
struct WeightSpec {
    std::string name;
    std::vector<std::int64_t> shape;  ///< as stored
    DType dtype = DType::f32;         ///< as stored; the model computes in f32
    /// Names of tensors that the model ties to this one: a file may store the shared tensor under any of these names.
    std::vector<std::string> tied_names{};
    /// The tensor is stored with its two axes exchanged, as GGUF files have linear weights of GPT-2; `shape` is that of
    /// the model.
    bool is_transposed = false;
    /// Of a projection to heads, each of which a GGUF file may store interleaved (GgufName::is_interleaved): their
    /// number.
    std::int64_t heads = 0;
    /// Of a tensor that a GGUF file stores in quantized blocks: ggml's name of the type, and the shape of the blocks in
    /// bytes, whose dtype is u8 (dequantize.hpp). Empty otherwise.
    std::string block_type{};
    std::vector<std::int64_t> block_shape{};
};

/// The name of a tensor in GGUF files; `#` stands for the number of a layer in both names:
///
///     {"transformer.h.#.attn.c_attn.weight", "blk.#.attn_qkv.weight", true}
struct GgufName {
    std::string_view name;    ///< in Hugging Face checkpoints
    std::string_view stored;  ///< in GGUF files
    bool is_transposed = false;
    /// The rows of each head alternate between those of its first half and those of its second, as llama.cpp rotates
    /// them: 0 D/2 1 D/2+1 ... Sources return them in order.
    bool is_interleaved = false;
};

/// Looks up each tensor of `wanted` in the file, by name_in_file(), and sets its dtype. Throws Error(file) with all
/// faults at once: tensors that are missing and what the file has instead, tensors with another shape or a dtype that
/// is not floating, and tensors stored under several tied names with different contents.
CAIRN_API void find_weights(std::vector<WeightSpec>& wanted, const Safetensors& file, const std::string& prefix,
                            const std::filesystem::path& path);

/// The name of a tensor in the file: as given, without `prefix` (files of the model without its head omit it), or, for
/// a layer norm, with the older suffix `LayerNorm.gamma` or `LayerNorm.beta`. Returns `name` if the file has none of
/// these.
CAIRN_API std::string name_in_file(const std::string& name, const Safetensors& file, const std::string& prefix);
/// As above, for a tensor of a model; its tied names are tried last: `lm_head.weight` for `transformer.wte.weight` if
/// safetensors' save_model stored the shared tensor under that name.
CAIRN_API std::string name_in_file(const WeightSpec& weight, const Safetensors& file, const std::string& prefix);

/// A source of the tensors of `weights`, by name_in_file(). It keeps the file's maps open while it lives.
CAIRN_API WeightSource stored_weights(const std::vector<WeightSpec>& weights, const Safetensors& file,
                                      const std::string& prefix);

/// As find_weights() above, for a GGUF file whose tensors are named by `names`: sets dtypes, transpositions and blocks.
CAIRN_API void find_weights(std::vector<WeightSpec>& wanted, const Gguf& file, std::span<const GgufName> names);
/// The name of a tensor in GGUF files; throws Error(argument) if `names` lacks it.
CAIRN_API std::string gguf_name(const std::string& name, std::span<const GgufName> names);
/// A source of the tensors of `weights`, by gguf_name(). It keeps the file's maps open while it lives.
CAIRN_API WeightSource stored_weights(const std::vector<WeightSpec>& weights, const Gguf& file,
                                      std::span<const GgufName> names);

/// The tokenizer of a GGUF file, for text::make_tokenizer(). Throws Error(file) for a key that is missing or of another
/// type.
CAIRN_API text::GgufVocabulary gguf_vocabulary(const Gguf& file);
/// The tokenizer of a model's folder or `.gguf` file: text::load_tokenizer(), or make_tokenizer() of gguf_vocabulary().
CAIRN_API std::unique_ptr<text::Tokenizer> model_tokenizer(const std::filesystem::path& model);
/// The chat template of a model's folder (text::load_chat_template()) or `.gguf` file (`tokenizer.chat_template`), for
/// its tokenizer, which must outlive it. Throws Error: `file` if there is none, and what text::ChatTemplate throws.
CAIRN_API text::ChatTemplate model_chat_template(const std::filesystem::path& model, const text::Tokenizer& tokenizer);

}  // namespace cairn::inline v0::models
