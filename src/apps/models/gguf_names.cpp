#include "apps/models/gguf_names.hpp"

#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::inline v0::models {
namespace {

// Of GPT-2, whose linear weights are [in, out] in Hugging Face checkpoints.
constexpr auto gpt2_names = std::to_array<GgufName>({
    {"transformer.wte.weight", "token_embd.weight"},
    {"transformer.wpe.weight", "position_embd.weight"},
    {"transformer.h.#.ln_1.weight", "blk.#.attn_norm.weight"},
    {"transformer.h.#.ln_1.bias", "blk.#.attn_norm.bias"},
    {"transformer.h.#.attn.c_attn.weight", "blk.#.attn_qkv.weight", true},
    {"transformer.h.#.attn.c_attn.bias", "blk.#.attn_qkv.bias"},
    {"transformer.h.#.attn.c_proj.weight", "blk.#.attn_output.weight", true},
    {"transformer.h.#.attn.c_proj.bias", "blk.#.attn_output.bias"},
    {"transformer.h.#.ln_2.weight", "blk.#.ffn_norm.weight"},
    {"transformer.h.#.ln_2.bias", "blk.#.ffn_norm.bias"},
    {"transformer.h.#.mlp.c_fc.weight", "blk.#.ffn_up.weight", true},
    {"transformer.h.#.mlp.c_fc.bias", "blk.#.ffn_up.bias"},
    {"transformer.h.#.mlp.c_proj.weight", "blk.#.ffn_down.weight", true},
    {"transformer.h.#.mlp.c_proj.bias", "blk.#.ffn_down.bias"},
    {"transformer.ln_f.weight", "output_norm.weight"},
    {"transformer.ln_f.bias", "output_norm.bias"},
    {"lm_head.weight", "output.weight"},
});

constexpr auto distilbert_names = std::to_array<GgufName>({
    {"distilbert.embeddings.word_embeddings.weight", "token_embd.weight"},
    {"distilbert.embeddings.position_embeddings.weight", "position_embd.weight"},
    {"distilbert.embeddings.LayerNorm.weight", "token_embd_norm.weight"},
    {"distilbert.embeddings.LayerNorm.bias", "token_embd_norm.bias"},
    {"distilbert.transformer.layer.#.attention.q_lin.weight", "blk.#.attn_q.weight"},
    {"distilbert.transformer.layer.#.attention.q_lin.bias", "blk.#.attn_q.bias"},
    {"distilbert.transformer.layer.#.attention.k_lin.weight", "blk.#.attn_k.weight"},
    {"distilbert.transformer.layer.#.attention.k_lin.bias", "blk.#.attn_k.bias"},
    {"distilbert.transformer.layer.#.attention.v_lin.weight", "blk.#.attn_v.weight"},
    {"distilbert.transformer.layer.#.attention.v_lin.bias", "blk.#.attn_v.bias"},
    {"distilbert.transformer.layer.#.attention.out_lin.weight", "blk.#.attn_output.weight"},
    {"distilbert.transformer.layer.#.attention.out_lin.bias", "blk.#.attn_output.bias"},
    {"distilbert.transformer.layer.#.sa_layer_norm.weight", "blk.#.attn_output_norm.weight"},
    {"distilbert.transformer.layer.#.sa_layer_norm.bias", "blk.#.attn_output_norm.bias"},
    {"distilbert.transformer.layer.#.ffn.lin1.weight", "blk.#.ffn_up.weight"},
    {"distilbert.transformer.layer.#.ffn.lin1.bias", "blk.#.ffn_up.bias"},
    {"distilbert.transformer.layer.#.ffn.lin2.weight", "blk.#.ffn_down.weight"},
    {"distilbert.transformer.layer.#.ffn.lin2.bias", "blk.#.ffn_down.bias"},
    {"distilbert.transformer.layer.#.output_layer_norm.weight", "blk.#.layer_output_norm.weight"},
    {"distilbert.transformer.layer.#.output_layer_norm.bias", "blk.#.layer_output_norm.bias"},
    {"pre_classifier.weight", "cls.weight"},
    {"pre_classifier.bias", "cls.bias"},
    {"classifier.weight", "cls.output.weight"},
    {"classifier.bias", "cls.output.bias"},
});

constexpr auto bert_names = std::to_array<GgufName>({
    {"bert.embeddings.word_embeddings.weight", "token_embd.weight"},
    {"bert.embeddings.position_embeddings.weight", "position_embd.weight"},
    {"bert.embeddings.token_type_embeddings.weight", "token_types.weight"},
    {"bert.embeddings.LayerNorm.weight", "token_embd_norm.weight"},
    {"bert.embeddings.LayerNorm.bias", "token_embd_norm.bias"},
    {"bert.encoder.layer.#.attention.self.query.weight", "blk.#.attn_q.weight"},
    {"bert.encoder.layer.#.attention.self.query.bias", "blk.#.attn_q.bias"},
    {"bert.encoder.layer.#.attention.self.key.weight", "blk.#.attn_k.weight"},
    {"bert.encoder.layer.#.attention.self.key.bias", "blk.#.attn_k.bias"},
    {"bert.encoder.layer.#.attention.self.value.weight", "blk.#.attn_v.weight"},
    {"bert.encoder.layer.#.attention.self.value.bias", "blk.#.attn_v.bias"},
    {"bert.encoder.layer.#.attention.output.dense.weight", "blk.#.attn_output.weight"},
    {"bert.encoder.layer.#.attention.output.dense.bias", "blk.#.attn_output.bias"},
    {"bert.encoder.layer.#.attention.output.LayerNorm.weight", "blk.#.attn_output_norm.weight"},
    {"bert.encoder.layer.#.attention.output.LayerNorm.bias", "blk.#.attn_output_norm.bias"},
    {"bert.encoder.layer.#.intermediate.dense.weight", "blk.#.ffn_up.weight"},
    {"bert.encoder.layer.#.intermediate.dense.bias", "blk.#.ffn_up.bias"},
    {"bert.encoder.layer.#.output.dense.weight", "blk.#.ffn_down.weight"},
    {"bert.encoder.layer.#.output.dense.bias", "blk.#.ffn_down.bias"},
    {"bert.encoder.layer.#.output.LayerNorm.weight", "blk.#.layer_output_norm.weight"},
    {"bert.encoder.layer.#.output.LayerNorm.bias", "blk.#.layer_output_norm.bias"},
});

/// The number that `#` of a pattern stands for in a name; the empty text if there is no `#`; nothing without a match.
std::optional<std::string> layer_in(std::string_view name, std::string_view pattern) {
    const std::size_t at = pattern.find('#');
    if (at == pattern.npos) return name == pattern ? std::optional<std::string>("") : std::nullopt;
    const std::string_view before = pattern.substr(0, at), after = pattern.substr(at + 1);
    if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
        return std::nullopt;
    const std::string_view number = name.substr(before.size(), name.size() - before.size() - after.size());
    const bool is_number = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    return is_number ? std::optional(std::string(number)) : std::nullopt;
}

StoredName find(const std::string& name, std::span<const GgufName> names) {
    if (auto found = stored_name(name, names)) return *std::move(found);
    throw Error(ErrorKind::argument, "weights", "there is no name for " + name + " in GGUF files");
}

/// A copy with the rows of each head in order, which are interleaved in the view. Releases the view.
InputView in_order(const InputView& view, std::int64_t heads) {
    std::size_t bytes = size_of(view.dtype);
    for (std::size_t axis = 1; axis < view.shape.size(); ++axis) bytes *= static_cast<std::size_t>(view.shape[axis]);
    const auto rows = static_cast<std::size_t>(view.shape[0]), width = rows / static_cast<std::size_t>(heads);
    auto ordered = std::make_unique<std::vector<std::byte>>(rows * bytes);
    const auto* from = static_cast<const std::byte*>(view.data);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t head = row / width, at = row % width;
        const std::size_t to = head * width + at % 2 * (width / 2) + at / 2;
        std::memcpy(ordered->data() + to * bytes, from + row * bytes, bytes);
    }
    if (view.release != nullptr) view.release(view.owner);
    InputView result = view;
    result.data = ordered->data();
    result.owner = ordered.release();
    result.release = [](void* owner) { delete static_cast<std::vector<std::byte>*>(owner); };
    return result;
}

std::string shape_text(std::vector<std::int64_t> sizes, bool is_reversed) {
    if (is_reversed) std::reverse(sizes.begin(), sizes.end());
    return to_string(Shape(sizes.begin(), sizes.end()));
}

}  // namespace

std::optional<StoredName> stored_name(const std::string& name, std::span<const GgufName> names) {
    for (const GgufName& row : names)
        if (const auto layer = layer_in(name, row.name)) {
            std::string stored(row.stored);
            if (const std::size_t at = stored.find('#'); at != stored.npos) stored.replace(at, 1, *layer);
            return StoredName{&row, std::move(stored)};
        }
    return std::nullopt;
}

std::span<const GgufName> gpt2_gguf_names() { return gpt2_names; }
std::span<const GgufName> encoder_gguf_names(EncoderType type) {
    if (type == EncoderType::distilbert) return distilbert_names;
    return bert_names;
}

std::string gguf_name(const std::string& name, std::span<const GgufName> names) { return find(name, names).stored; }

void find_weights(std::vector<WeightSpec>& wanted, const Gguf& file, std::span<const GgufName> names) {
    std::string faults, first_missing;
    const auto fault = [&](const std::string& text) { faults += (faults.empty() ? "" : "; ") + text; };
    for (WeightSpec& spec : wanted) {
        const auto [row, name] = find(spec.name, names);
        const auto tensor = std::find_if(file.tensors().begin(), file.tensors().end(),
                                         [&](const Gguf::Tensor& each) { return each.name == name; });
        if (tensor == file.tensors().end()) {
            fault(name + " is missing");
            if (first_missing.empty()) first_missing = name;
            continue;
        }
        spec.is_transposed = row->is_transposed;
        const std::vector<std::int64_t>& stored = tensor->shape;
        const bool is_same = row->is_transposed
                                 ? std::equal(stored.begin(), stored.end(), spec.shape.rbegin(), spec.shape.rend())
                                 : stored == spec.shape;
        if (!is_same) {
            fault(name + " is " + shape_text(stored, false) + ", expected " +
                  shape_text(spec.shape, row->is_transposed));
            continue;
        }
        const InputView view = file.view(name);
        if (view.release != nullptr) view.release(view.owner);
        if (view.shape != stored)
            spec.block_type = tensor->type, spec.block_shape = view.shape, spec.dtype = DType::u8;
        else if (is_float(view.dtype))
            spec.dtype = view.dtype;
        else
            fault(name + " is stored as " + tensor->type + ", expected floats or blocks");
    }
    if (faults.empty()) return;
    std::string nearest;
    if (!first_missing.empty())
        for (const std::string& near : file.nearest(first_missing)) nearest += (nearest.empty() ? "" : ", ") + near;
    throw Error(ErrorKind::file, "weights",
                file.path().string() + ": " + faults +
                    (nearest.empty() ? "" : "; the nearest to " + first_missing + " are " + nearest));
}

WeightSource stored_weights(const std::vector<WeightSpec>& weights, const Gguf& file, std::span<const GgufName> names) {
    struct Stored {
        std::string name;
        std::int64_t interleaved_heads;
    };
    std::map<std::string, Stored, std::less<>> stored;
    for (const WeightSpec& weight : weights) {
        const auto [row, name] = find(weight.name, names);
        stored.emplace(weight.name, Stored{name, row->is_interleaved ? weight.heads : 0});
    }
    return [stored = std::move(stored), source = file.source()](std::string_view name) {
        const auto found = stored.find(name);
        if (found == stored.end()) return source(name);
        const InputView view = source(found->second.name);
        const std::int64_t heads = found->second.interleaved_heads;
        return heads == 0 || view.data == nullptr ? view : in_order(view, heads);
    };
}

}  // namespace cairn::inline v0::models
