#include "apps/models/blocks.hpp"
#include "apps/models/config_file.hpp"
#include "apps/models/model_file.hpp"
#include "apps/models/sentence_modules.hpp"

#include <array>
#include <utility>

namespace cairn::inline v0::models {
namespace {

constexpr auto types = std::to_array<std::pair<std::string_view, EncoderType>>({
    {"bert", EncoderType::bert},
    {"roberta", EncoderType::roberta},
    {"xlm-roberta", EncoderType::roberta},
    {"camembert", EncoderType::roberta},
    {"distilbert", EncoderType::distilbert},
    {"albert", EncoderType::albert},
});

// Endings of a class's name in `architectures`; the first that applies counts.
constexpr auto heads = std::to_array<std::pair<std::string_view, EncoderHead>>({
    {"ForSequenceClassification", EncoderHead::sequence},
    {"ForTokenClassification", EncoderHead::token},
    {"ForQuestionAnswering", EncoderHead::question},
    {"ForMaskedLM", EncoderHead::masked},
    {"ForPreTraining", EncoderHead::masked},
    {"Model", EncoderHead::none},
});

EncoderType type_in(const ConfigFile& file) {
    const std::string name = file.text("model_type", "");
    if (name.empty()) file.fail("entry \"model_type\" is missing");
    std::string known;
    for (const auto& [each, type] : types) {
        if (name == each) return type;
        known += (known.empty() ? "" : ", ") + std::string(each);
    }
    file.unsupported("model_type is \"" + name + "\", expected one of " + known);
}

EncoderHead head_in(const ConfigFile& file) {
    const std::vector<std::string> classes = file.texts("architectures");
    if (classes.empty()) return EncoderHead::none;
    for (const auto& [ending, head] : heads)
        if (classes.front().ends_with(ending)) return head;
    file.unsupported("the head of " + classes.front() + " is not supported");
}

/// Requires that entries which change the computation have the values that the graph has.
void refuse_variants(const ConfigFile& file) {
    if (const std::string kind = file.text("position_embedding_type", "absolute"); kind != "absolute")
        file.unsupported("position_embedding_type " + kind + " is not supported");
    for (const char* flag : {"is_decoder", "add_cross_attention"})
        if (file.flag(flag, false)) file.unsupported(std::string(flag) + " is not supported");
}

void read_distilbert(const ConfigFile& file, EncoderConfig& config) {
    config.width = file.size({"dim", "hidden_size"});
    config.heads = file.size({"n_heads", "num_attention_heads"});
    config.layers = file.layers({"n_layers", "num_hidden_layers"});
    config.inner = file.size("hidden_dim");
    config.activation = file.text("activation", "gelu");
    config.token_types = 0;
    if (config.width % config.heads != 0) file.fail("dim is no multiple of n_heads");
}

void read_others(const ConfigFile& file, EncoderConfig& config) {
    const bool is_albert = config.type == EncoderType::albert;
    config.width = file.size("hidden_size");
    config.heads = file.size("num_attention_heads");
    config.layers = file.layers("num_hidden_layers");
    config.inner = file.size("intermediate_size");
    config.activation = file.text("hidden_act", is_albert ? "gelu_new" : "gelu");
    config.token_types = file.count("type_vocab_size", 2);
    config.layer_norm_epsilon = file.number("layer_norm_eps", 1e-12);
    if (config.width % config.heads != 0) file.fail("hidden_size is no multiple of num_attention_heads");
    if (!is_albert) return;
    config.groups = file.layers({"num_hidden_groups"}, 1);
    config.inner_layers = file.layers({"inner_group_num"}, 1);
    if (config.groups > config.layers) file.fail("num_hidden_groups is more than num_hidden_layers");
    if (config.layers * config.inner_layers > 10'000)
        file.fail("num_hidden_layers times inner_group_num must be at most 10000");
}

}  // namespace

std::int64_t EncoderConfig::longest() const {
    return type == EncoderType::roberta ? positions - padding_id - 1 : positions;
}

EncoderConfig EncoderConfig::distilbert_base() {
    EncoderConfig config;
    config.type = EncoderType::distilbert;
    config.head = EncoderHead::sequence;
    config.layers = 6;
    config.token_types = 0;
    return config;
}

EncoderConfig EncoderConfig::read(const std::filesystem::path& config_json) {
    const ConfigFile file(config_json);
    EncoderConfig config;
    config.type = type_in(file);
    config.head = head_in(file);
    refuse_variants(file);
    config.vocabulary = file.size("vocab_size");
    config.positions = file.size("max_position_embeddings");
    if (config.type == EncoderType::distilbert)
        read_distilbert(file, config);
    else
        read_others(file, config);
    if (config.type == EncoderType::albert) config.embedding_width = file.size("embedding_size", 128);
    config.padding_id =
        static_cast<std::int32_t>(file.count("pad_token_id", config.type == EncoderType::roberta ? 1 : 0));
    if (config.padding_id >= config.vocabulary) file.fail("pad_token_id is not in the vocabulary");
    if (config.longest() < 1) file.fail("max_position_embeddings is not more than pad_token_id + 1");
    config.labels = file.labels();
    config.problem_type = file.text("problem_type", "");
    config.tied = file.flag("tie_word_embeddings", true);
    if (const std::string fault = activation_fault(config.activation); !fault.empty())
        file.unsupported("activation " + fault);
    read_sentence_modules(config_json.parent_path(), config);
    return config;
}

EncoderConfig EncoderConfig::of_model(const std::filesystem::path& model) {
    return is_gguf(model) ? read(Gguf::open(model)) : read(model / "config.json");
}

}  // namespace cairn::inline v0::models
