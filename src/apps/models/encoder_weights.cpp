#include "apps/models/encoder_check.hpp"
#include "apps/models/encoder_names.hpp"
#include "apps/models/model_file.hpp"

#include <set>
#include <string>
#include <utility>

namespace cairn::inline v0::models {
namespace {

/// Appends specs in the order of the reference implementation's state dictionary.
class SpecList {
public:
    explicit SpecList(const EncoderConfig& config) : config_(config), names_(EncoderNames::of(config.type)) {}

    std::vector<WeightSpec> all() && {
        add_embeddings();
        if (config_.type == EncoderType::albert)
            add_linear(names_.under_prefix("encoder.embedding_hidden_mapping_in"), config_.width, table_width(config_));
        std::set<std::string> added;  // layers of ALBERT share prefixes
        for (std::int64_t layer = 0; layer < config_.layers; ++layer)
            for (std::int64_t inner = 0; inner < config_.inner_layers; ++inner)
                if (const std::string prefix = names_.layer(config_, layer, inner); added.insert(prefix).second)
                    add_layer(prefix);
        add_head();
        return std::move(specs_);
    }

private:
    void add(const std::string& name, std::vector<std::int64_t> shape) { specs_.push_back({name, std::move(shape)}); }

    void add_norm(const std::string& name, std::int64_t width) {
        add(name + ".weight", {width});
        add(name + ".bias", {width});
    }

    void add_linear(const std::string& name, std::int64_t out, std::int64_t in) {
        add(name + ".weight", {out, in});
        add(name + ".bias", {out});
    }

    void add_embeddings() {
        const auto name = [&](std::string_view table) { return names_.under_prefix(table); };
        const std::int64_t width = table_width(config_);
        add(name("embeddings.word_embeddings.weight"), {config_.vocabulary, width});
        if (config_.head == EncoderHead::masked && config_.tied)
            specs_.back().tied_names = {std::string(names_.decoder) + ".weight"};
        add(name("embeddings.position_embeddings.weight"), {config_.positions, width});
        if (config_.token_types > 0) add(name("embeddings.token_type_embeddings.weight"), {config_.token_types, width});
        add_norm(name("embeddings.LayerNorm"), width);
    }

    void add_layer(const std::string& prefix) {
        const std::int64_t width = config_.width;
        const auto named = [&](std::string_view name) { return prefix + std::string(name); };
        const bool is_norm_first = config_.type == EncoderType::albert;
        if (is_norm_first) add_norm(named(names_.output_norm), width);
        for (const std::string_view part : {names_.query, names_.key, names_.value, names_.output})
            add_linear(named(part), width, width);
        add_norm(named(names_.attention_norm), width);
        add_linear(named(names_.up), config_.inner, width);
        add_linear(named(names_.down), width, config_.inner);
        if (!is_norm_first) add_norm(named(names_.output_norm), width);
    }

    void add_head() {
        const std::int64_t width = config_.width, labels = static_cast<std::int64_t>(config_.labels.size());
        switch (config_.head) {
            case EncoderHead::none:
            case EncoderHead::pooling: return;
            case EncoderHead::sequence:
                add_linear(std::string(names_.pooler), width, width);
                return add_linear(std::string(names_.classifier), labels, width);
            case EncoderHead::token: return add_linear("classifier", labels, width);
            case EncoderHead::question: return add_linear("qa_outputs", 2, width);
            case EncoderHead::masked: break;
        }
        const std::int64_t narrow = table_width(config_);
        add(names_.bias_of_decoder(config_), {config_.vocabulary});
        if (const std::string other = std::string(names_.decoder) + ".bias"; other != specs_.back().name)
            specs_.back().tied_names = {other};
        add_linear(std::string(names_.hidden), narrow, width);
        add_norm(std::string(names_.hidden_norm), narrow);
        if (!config_.tied) add(std::string(names_.decoder) + ".weight", {config_.vocabulary, narrow});
    }

    const EncoderConfig& config_;
    const EncoderNames& names_;
    std::vector<WeightSpec> specs_;
};

}  // namespace

std::vector<WeightSpec> encoder_weights(const EncoderConfig& config) {
    check(config);
    return SpecList(config).all();
}

std::vector<WeightSpec> encoder_weights(const EncoderConfig& config, const std::filesystem::path& model) {
    std::vector<WeightSpec> weights = encoder_weights(config);
    ModelFile(model).find(weights, std::string(EncoderNames::of(config.type).prefix), encoder_gguf_names(config.type));
    return weights;
}

}  // namespace cairn::inline v0::models
