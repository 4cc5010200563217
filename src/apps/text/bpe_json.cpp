#include "apps/text/byte_level_bpe.hpp"
#include "apps/text/class_defaults.hpp"
#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/model_json.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/vocabulary_files.hpp"

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

/// Merges are "a b" in files up to 2024, and ["a", "b"] since, because tokens may contain spaces.
std::vector<std::pair<std::string, std::string>> read_merges(const json& merges, const std::string& source) {
    if (!merges.is_array()) throw_bad_file(source, "expected an array for 'merges'");
    std::vector<std::pair<std::string, std::string>> pairs;
    pairs.reserve(merges.size());
    for (const json& merge : merges) {
        if (merge.is_string()) {
            pairs.push_back(merge_pair(merge.get_ref<const std::string&>(), source));
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
            pairs.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
        } else {
            throw_bad_file(source, "expected two tokens for merge " + std::to_string(pairs.size() + 1));
        }
    }
    return pairs;
}

/// Refuses members that change the BPE algorithm and that GPT-2 does not use.
void refuse_bpe_variants(const json& model, const std::string& source) {
    for (const char* flag : {"byte_fallback", "ignore_merges"})
        if (read_member(model, flag, false, source))
            throw_unsupported_file(source, std::string("BPE with ") + flag + " is not supported");
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!read_member<std::string>(model, affix, "", source).empty())
            throw_unsupported_file(source, std::string("BPE with a ") + affix + " is not supported");
    if (const auto dropout = model.find("dropout"); dropout != model.end() && !dropout->is_null() && *dropout != 0)
        throw_unsupported_file(source, "BPE with dropout is not supported");
}

}  // namespace

std::unique_ptr<Tokenizer> read_bpe_json(const json& root, const TokenizerConfig& config, const std::string& source) {
    const json& model = root["model"];
    refuse_bpe_variants(model, source);
    require_type(root, "normalizer", {"null"}, source);
    require_type(root, "pre_tokenizer", {"ByteLevel"}, source);
    require_type(root, "decoder", {"null", "ByteLevel"}, source);
    const json& pre_tokenizer = root["pre_tokenizer"];
    if (!read_member(pre_tokenizer, "use_regex", true, source))
        throw_unsupported_file(source, "a ByteLevel pre_tokenizer without its regex is not supported");

    const bool is_known = is_gpt2_class(config) || is_roberta_class(config) || is_generic_class(config);
    const bool is_roberta = part_type(root, "post_processor", source) == "RobertaProcessing";
    if (is_roberta && !is_known && !config.tokenizer_class.empty())
        throw_unsupported_file(source, "a post_processor of type 'RobertaProcessing' is not supported for the class " +
                                           stated_class(config));

    BpeParts parts;
    parts.entries = vocabulary_entries(required_member(model, "vocab", source), source);
    read_shared_parts(root, config, source, parts);
    parts.merges_source = source;
    parts.merges = read_merges(required_member(model, "merges", source), source);
    parts.add_prefix_space = resolve({.key = "add_prefix_space",
                                      .given = config.add_prefix_space,
                                      .class_default = false,
                                      .tokenizer_json = "add_prefix_space of the pre_tokenizer",
                                      .stored = read_member(pre_tokenizer, "add_prefix_space", true, source)},
                                     bpe_precedence(config), config, source);
    if (is_roberta_class(config)) {
        name_roles(roberta_special_names, parts);
        require_roberta_defaults(parts, config);
        require_mask_flags(parts, config);
    }
    if (is_roberta) name_template_roles(parts);
    if (parts.special_names.empty() && knows(parts, gpt2_end_of_text))
        parts.special_names = {{"bos_token", gpt2_end_of_text}, {"eos_token", gpt2_end_of_text}};
    parts.template_tokens.truncate_start = config.truncate_start;
    return std::make_unique<ByteLevelBpe>(parts);
}

}  // namespace cairn::inline v0::text
