#include "apps/text/bpe_json.hpp"
#include "apps/text/byte_level_bpe.hpp"
#include "apps/text/class_defaults.hpp"
#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/vocabulary_files.hpp"

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

/// The rule of a Split: its matches and what lies between are words, or only its matches if they leave nothing out.
WordRule read_split(const json& step, const std::string& source) {
    const json& pattern = required_member(step, "pattern", source);
    const auto expression = pattern.is_object() ? read_member<std::string>(pattern, "Regex", "", source) : "";
    const auto rule = word_rule_of(expression);
    if (!rule)
        throw_unsupported_file(source, expression.empty()
                                           ? "a Split pre_tokenizer without a regular expression is not supported"
                                           : "a Split pre_tokenizer with the regular expression " +
                                                 quoted_name(expression) + " is not supported");
    const auto behavior = read_member<std::string>(step, "behavior", "", source);
    const bool inverted = read_member(step, "invert", false, source);
    const bool keeps_all = behavior == "Isolated" || (behavior == "Removed" && inverted && matches_everywhere(*rule));
    if (!keeps_all)
        throw_unsupported_file(source, "a Split pre_tokenizer with the behavior " + quoted_name(behavior) +
                                           (inverted ? ", inverted," : "") + " is not supported");
    return *rule;
}

/// Reads the steps up to ByteLevel, the last one. Returns its `add_prefix_space`.
bool read_word_steps(const json& root, const std::string& source, std::vector<WordRule>& rules) {
    bool add_prefix_space = false, ended = false;
    for_steps(root, "pre_tokenizer", "pretokenizers", source, [&](const json& step, const std::string& type) {
        if (ended)
            throw_unsupported_file(
                source, "a pre_tokenizer of type " + quoted_name(type) + " after ByteLevel is not supported");
        if (type == "Split") {
            rules.push_back(read_split(step, source));
        } else if (type == "Digits") {
            if (!read_member(step, "individual_digits", false, source))
                throw_unsupported_file(source, "a Digits pre_tokenizer without individual_digits is not supported");
            rules.push_back(WordRule::digit);
        } else if (type == "ByteLevel") {
            ended = true;
            add_prefix_space = read_member(step, "add_prefix_space", true, source);
            if (add_prefix_space && !rules.empty())
                throw_unsupported_file(source,
                                       "a ByteLevel pre_tokenizer that adds a space to each part of a split "
                                       "text is not supported");
            if (read_member(step, "use_regex", true, source)) rules.push_back(WordRule::gpt2);
        } else {
            refuse_type("pre_tokenizer", type, source);
        }
    });
    return add_prefix_space;
}

}  // namespace

std::unique_ptr<Tokenizer> read_byte_level_json(const json& root, const TokenizerConfig& config,
                                                const std::string& source) {
    require_type(root, "decoder", {"null", "ByteLevel"}, source);
    if (read_member(root["model"], "byte_fallback", false, source))
        throw_unsupported_file(source, "byte-level BPE with byte_fallback is not supported");
    const bool is_known = is_gpt2_class(config) || is_roberta_class(config) || is_generic_class(config);
    const bool is_roberta = part_type(root, "post_processor", source) == "RobertaProcessing";
    if (is_roberta && !is_known && !config.tokenizer_class.empty())
        throw_unsupported_file(source, "a post_processor of type 'RobertaProcessing' is not supported for the class " +
                                           stated_class(config));

    ByteLevelBpeParts parts;
    const auto unk = read_bpe_parts(root, config, source, parts);
    parts.may_lack_bytes = !unk;
    parts.word_rules.clear();
    const bool stored_prefix_space = read_word_steps(root, source, parts.word_rules);
    parts.add_prefix_space = resolve({.key = "add_prefix_space",
                                      .given = config.add_prefix_space,
                                      .class_default = false,
                                      .tokenizer_json = "add_prefix_space of the pre_tokenizer",
                                      .stored = stored_prefix_space},
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
