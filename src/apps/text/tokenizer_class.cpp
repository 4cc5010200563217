#include "apps/text/tokenizer_class.hpp"

#include "apps/text/json_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace cairn::inline v0::text {

namespace {

constexpr std::array bert_classes = {
    "BertTokenizer",        "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer",
    "SqueezeBertTokenizer", "LayoutLMTokenizer",   "LxmertTokenizer",
};
// As bert_classes with a tokenizer.json; with vocab.txt alone, version 5 of transformers ignores do_lower_case for
// them.
constexpr std::array dpr_classes = {
    "DPRContextEncoderTokenizer",
    "DPRReaderTokenizer",
    "DPRQuestionEncoderTokenizer",
};
// The classes of RoBERTa's tokenizer; that of Blenderbot has other defaults in version 5.
constexpr std::array roberta_classes = {
    "RobertaTokenizer", "LongformerTokenizer", "BartTokenizer", "LEDTokenizer", "MvpTokenizer",
};

constexpr std::array llama_classes = {"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer"};

// Model types for which AutoTokenizer of transformers 4 and 5 uses one of bert_classes, GPT2Tokenizer, one of
// roberta_classes, and the classes of Unigram models.
constexpr std::array bert_model_types = {
    "align",       "bark",
    "bert",        "blip",
    "bros",        "chinese_clip",
    "distilbert",  "electra",
    "ernie",       "git",
    "layoutlm",    "lxmert",
    "nezha",       "qdqbert",
    "mobilebert",  "grounding-dino",
    "squeezebert", "tvp",
    "vilt",        "megatron-bert",
    "visual_bert", "mm-grounding-dino",
};
constexpr std::array gpt2_model_types = {
    "gpt2", "gpt_neo", "gptj", "opt", "starcoder2", "dbrx", "emu3", "blip-2", "instructblip", "instructblipvideo",
};
constexpr std::array roberta_model_types = {
    "roberta", "roberta-prelayernorm", "longformer", "bart", "led", "mvp", "bridgetower",
    "clap",    "data2vec-text",        "ibert",      "mra",
};

constexpr std::array albert_model_types = {"albert", "yoso"};
constexpr std::array xlm_roberta_model_types = {"xlm-roberta", "xmod", "metaclip_2"};
constexpr std::array t5_model_types = {"t5", "mt5", "switch_transformers"};

template <std::size_t N>
bool contains(const std::array<const char*, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string without_fast(std::string name) {
    if (name.ends_with("Fast") && name != "PreTrainedTokenizerFast") name.resize(name.size() - 4);
    return name;
}

std::string class_of_model_type(const std::string& type) {
    if (type.empty()) return "";
    if (contains(bert_model_types, type)) return "BertTokenizer";
    if (contains(gpt2_model_types, type)) return "GPT2Tokenizer";
    if (contains(roberta_model_types, type)) return "RobertaTokenizer";
    if (contains(albert_model_types, type)) return "AlbertTokenizer";
    if (contains(xlm_roberta_model_types, type)) return "XLMRobertaTokenizer";
    if (contains(t5_model_types, type)) return "T5Tokenizer";
    if (type == "camembert") return "CamembertTokenizer";
    return "(model_type " + type + ")";
}

std::string shown(bool value) { return value ? "true" : "false"; }

}  // namespace

std::string stated_class(const TokenizerConfig& config) {
    return quoted_name(config.tokenizer_class) + " of " + quoted_name(config.class_source);
}

void read_tokenizer_class(const nlohmann::json& json, const std::filesystem::path& folder, TokenizerConfig& config) {
    config.class_source = config.source;
    config.tokenizer_class = without_fast(read_member<std::string>(json, "tokenizer_class", "", config.source));
    const auto model = folder / "config.json";
    if (!config.tokenizer_class.empty() || !file_exists(model)) return;
    config.class_source = model.string();
    const nlohmann::json file = read_json_object(model);
    config.tokenizer_class = without_fast(read_member<std::string>(file, "tokenizer_class", "", config.class_source));
    if (config.tokenizer_class.empty())
        config.tokenizer_class =
            class_of_model_type(read_member<std::string>(file, "model_type", "", config.class_source));
}

bool is_bert_class(const TokenizerConfig& config) {
    return reads_bert_vocabulary(config) || contains(dpr_classes, config.tokenizer_class);
}

bool reads_bert_vocabulary(const TokenizerConfig& config) { return contains(bert_classes, config.tokenizer_class); }

bool is_gpt2_class(const TokenizerConfig& config) { return config.tokenizer_class == "GPT2Tokenizer"; }

bool is_roberta_class(const TokenizerConfig& config) { return contains(roberta_classes, config.tokenizer_class); }

bool is_llama_class(const TokenizerConfig& config) { return contains(llama_classes, config.tokenizer_class); }

bool is_generic_class(const TokenizerConfig& config) {
    return config.tokenizer_class == "PreTrainedTokenizerFast" || config.tokenizer_class == "TokenizersBackend";
}

Precedence word_piece_precedence(const TokenizerConfig& config) {
    if (config.tokenizer_class.empty()) return Precedence::no_class;
    if (is_bert_class(config)) return Precedence::config;
    return is_generic_class(config) ? Precedence::tokenizer_json : Precedence::undecided;
}

Precedence bpe_precedence(const TokenizerConfig& config) {
    if (config.tokenizer_class.empty()) return Precedence::no_class;
    if (is_gpt2_class(config) || is_roberta_class(config)) return Precedence::config;
    // Version 4 overwrites add_prefix_space for PreTrainedTokenizerFast; version 5, which has the newer name, does not.
    return config.tokenizer_class == "TokenizersBackend" ? Precedence::tokenizer_json : Precedence::undecided;
}

bool resolve(const TokenizerSetting& setting, Precedence precedence, const TokenizerConfig& config,
             const std::string& tokenizer_json) {
    if (precedence == Precedence::config) return setting.given.value_or(setting.class_default);
    if (precedence == Precedence::tokenizer_json) return setting.stored;
    const bool class_counts = precedence == Precedence::undecided;
    const bool expected = setting.given.value_or(class_counts ? setting.class_default : setting.stored);
    if (expected == setting.stored) return setting.stored;
    const std::string key = std::string(setting.key) + (setting.given ? " is " : " is not given, which means ");
    throw_unsupported_file(
        config.source, key + shown(expected) + ", but " + setting.tokenizer_json + " is " + shown(setting.stored) +
                           " in " + quoted_name(tokenizer_json) + ", and " +
                           (class_counts ? "which of them holds for the class " + stated_class(config) + " is not known"
                                         : "no tokenizer_class says which of them holds"));
}

}  // namespace cairn::inline v0::text
