#include "apps/models/blocks.hpp"
#include "apps/models/encoder_check.hpp"
#include "apps/models/encoder_names.hpp"

namespace cairn::inline v0::models {
namespace {

class EncoderBuilder {
public:
    EncoderBuilder(const EncoderConfig& config, const std::vector<WeightSpec>& weights, std::int64_t max_batch,
                   Graph& graph, AdapterBank& adapters)
        : config_(config),
          names_(EncoderNames::of(config.type)),
          graph_(graph),
          weight_(graph, weights, &adapters),
          batch_(graph.symbol("B", 1, max_batch)),
          length_(graph.symbol("S", 1, config.longest())),
          ids_(graph.input("ids", DType::i32, {batch_, length_})),
          mask_(graph.input("mask", DType::boolean, {batch_, length_})) {
        adapters.begin(graph, batch_);
    }

    void build() {
        Tensor x = embeddings();
        for (std::int64_t layer = 0; layer < config_.layers; ++layer)
            for (std::int64_t inner = 0; inner < config_.inner_layers; ++inner)
                x = encoder_layer(x, names_.layer(config_, layer, inner),
                                  "layer " + std::to_string(layer * config_.inner_layers + inner) + ' ');
        const char* output = output_name(config_.head);
        graph_.output(output, name(head(x), output));
    }

private:
    Tensor project(const Tensor& x, const std::string& module) const { return weight_.project(x, module); }

    Tensor norm(const Tensor& x, const std::string& name) const {
        return layer_norm(x, weight_(name + ".weight"), weight_(name + ".bias"), config_.layer_norm_epsilon);
    }

    Tensor table(std::string_view name) const { return weight_(names_.under_prefix(name)); }

    Tensor words() const { return table("embeddings.word_embeddings.weight"); }

    /// The rows of the table of positions: the first S, or, of RoBERTa, those that count the ids other than padding.
    Tensor position_rows() const {
        const Tensor positions = table("embeddings.position_embeddings.weight");
        if (config_.type != EncoderType::roberta) return slice(positions, 0, 0, length_);
        const Tensor is_token = cast(ne(ids_, config_.padding_id), DType::i32);
        return embedding(positions, cumsum(is_token, 1) * is_token + config_.padding_id);
    }

    Tensor embeddings() const {
        const Tensor vectors = embedding(words(), ids_);
        Tensor rows = position_rows();
        if (config_.token_types == 1) rows = rows + table("embeddings.token_type_embeddings.weight");
        Tensor x = vectors + rows;
        if (config_.token_types > 1)
            x = x + embedding(table("embeddings.token_type_embeddings.weight"),
                              graph_.input("types", DType::i32, {batch_, length_}));
        x = name(norm(x, names_.under_prefix("embeddings.LayerNorm")), "embeddings");
        if (config_.type != EncoderType::albert) return x;
        return name(project(x, names_.under_prefix("encoder.embedding_hidden_mapping_in")), "projected embeddings");
    }

    Tensor encoder_layer(Tensor x, const std::string& prefix, const std::string& own) const {
        const auto named = [&](std::string_view name) { return prefix + std::string(name); };
        const auto heads = [&](std::string_view part) { return split_heads(project(x, named(part)), config_.heads); };
        const Tensor seen =
            name(attention(heads(names_.query), heads(names_.key), heads(names_.value), mask_), own + "attention");
        x = norm(project(merge_heads(seen), named(names_.output)) + x, named(names_.attention_norm));
        x = name(x, own + "attention norm");
        const Tensor hidden =
            name(activate(config_.activation, project(x, named(names_.up))), own + "feed-forward hidden");
        x = norm(project(hidden, named(names_.down)) + x, named(names_.output_norm));
        return name(x, own + "feed-forward norm");
    }

    /// The hidden state of the first token of each text, [B,width].
    Tensor first(const Tensor& hidden) const { return reshape(slice(hidden, 1, 0, 1), {batch_, config_.width}); }

    Tensor pooled(const Tensor& hidden) const {
        // Limits of the reference implementation, for texts without a token and for vectors of zeros.
        constexpr double fewest_tokens = 1e-9, smallest_norm = 1e-12;
        Tensor vector;
        if (config_.pooling == Pooling::first) {
            vector = first(hidden);
        } else {
            const Tensor counted = unsqueeze(cast(mask_, DType::f32), 2);
            vector = sum(hidden * counted, 1) / max(sum(counted, 1), fewest_tokens);
        }
        if (!config_.normalizes) return vector;
        return vector / max(sqrt(sum(vector * vector, -1, true)), smallest_norm);
    }

    Tensor text_logits(const Tensor& hidden) const {
        const Tensor x = project(first(hidden), std::string(names_.pooler));
        return project(config_.type == EncoderType::distilbert ? relu(x) : tanh(x), std::string(names_.classifier));
    }

    Tensor word_logits(const Tensor& hidden) const {
        // RoBERTa's head has this activation, whatever that of the layers is.
        const std::string activation = config_.type == EncoderType::roberta ? "gelu" : config_.activation;
        const Tensor x =
            norm(activate(activation, project(hidden, std::string(names_.hidden))), std::string(names_.hidden_norm));
        const std::string decoder(names_.decoder);
        const std::string rows =
            config_.tied ? names_.under_prefix("embeddings.word_embeddings.weight") : decoder + ".weight";
        return weight_.product(x, decoder, rows) + weight_(names_.bias_of_decoder(config_));
    }

    Tensor head(const Tensor& hidden) const {
        switch (config_.head) {
            case EncoderHead::pooling: return pooled(hidden);
            case EncoderHead::sequence: return text_logits(hidden);
            case EncoderHead::token: return project(hidden, "classifier");
            case EncoderHead::question: return transpose(project(hidden, "qa_outputs"), {0, 2, 1});
            case EncoderHead::masked: return word_logits(hidden);
            case EncoderHead::none: break;
        }
        return hidden;
    }

    const EncoderConfig& config_;
    const EncoderNames& names_;
    Graph& graph_;
    const WeightTable weight_;
    const Dim batch_, length_;
    const Tensor ids_, mask_;
};

std::string_view name_of(EncoderType type) {
    switch (type) {
        case EncoderType::roberta: return "roberta";
        case EncoderType::distilbert: return "distilbert";
        case EncoderType::albert: return "albert";
        case EncoderType::bert: break;
    }
    return "bert";
}

}  // namespace

const char* output_name(EncoderHead head) {
    if (head == EncoderHead::none) return "hidden";
    return head == EncoderHead::pooling ? "embedding" : "logits";
}

std::int64_t table_width(const EncoderConfig& config) {
    return config.embedding_width == 0 ? config.width : config.embedding_width;
}

void check(const EncoderConfig& config) {
    const std::string_view model = name_of(config.type);
    const auto refuse = [&](const std::string& what) { throw Error(ErrorKind::argument, model, what); };
    check_sizes(model, {{"vocabulary", config.vocabulary},
                        {"positions", config.positions},
                        {"width", config.width},
                        {"heads", config.heads},
                        {"layers", config.layers},
                        {"inner", config.inner},
                        {"embedding width", table_width(config)},
                        {"number of labels", static_cast<std::int64_t>(config.labels.size())}});
    check_heads(model, config.width, config.heads);
    if (config.token_types < 0 || config.token_types > std::int64_t{1} << 31)
        refuse("token types must be in 0.." + std::to_string(std::int64_t{1} << 31) + ", got " +
               std::to_string(config.token_types));
    if (config.padding_id < 0 || config.padding_id >= config.vocabulary)
        refuse("padding id " + std::to_string(config.padding_id) + " is not in the vocabulary of " +
               std::to_string(config.vocabulary));
    if (config.longest() < 1)
        refuse("positions must be more than padding id + 1, got " + std::to_string(config.positions) + " and " +
               std::to_string(config.padding_id));
    if (config.type == EncoderType::albert) {
        check_sizes(model, {{"groups", config.groups}, {"inner layers", config.inner_layers}});
        if (config.groups > config.layers)
            refuse("groups must be at most layers, got " + std::to_string(config.groups) + " and " +
                   std::to_string(config.layers));
        if (config.layers * config.inner_layers > 10'000)
            refuse("layers times inner layers must be at most 10000, got " +
                   std::to_string(config.layers * config.inner_layers));
    } else if (table_width(config) != config.width || config.groups != 1 || config.inner_layers != 1) {
        refuse("the embedding width must be the width, and groups and inner layers 1: they differ for albert alone");
    }
}

ModuleNames encoder_modules(EncoderType type) {
    return {std::string(name_of(type)), std::string(EncoderNames::of(type).prefix),
            [type](bool) { return encoder_gguf_names(type); }};
}

Graph encoder_graph(const EncoderConfig& config, const std::vector<WeightSpec>& weights, std::int64_t max_batch,
                    AdapterBank& adapters) {
    check(config);
    if (max_batch < 1) throw Error(ErrorKind::argument, name_of(config.type), "max_batch must be at least 1");
    Graph graph{std::string(name_of(config.type))};
    EncoderBuilder(config, weights, max_batch, graph, adapters).build();
    adapters.end(weights);
    return graph;
}

Graph encoder_graph(const EncoderConfig& config, const std::vector<WeightSpec>& weights, std::int64_t max_batch,
                    const AdapterOptions& options) {
    AdapterBank adapters(encoder_modules(config.type), options);
    return encoder_graph(config, weights, max_batch, adapters);
}

}  // namespace cairn::inline v0::models
