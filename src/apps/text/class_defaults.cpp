#include "apps/text/class_defaults.hpp"

#include "apps/text/file_errors.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/vocabulary_files.hpp"

#include <algorithm>

namespace cairn::inline v0::text {

namespace {

const AddedToken* find_token(const std::vector<AddedToken>& tokens, const std::string& content) {
    const auto found =
        std::find_if(tokens.begin(), tokens.end(), [&](const AddedToken& token) { return token.content == content; });
    return found == tokens.end() ? nullptr : &*found;
}

}  // namespace

void refuse_difference(const TokenizerParts& parts, const TokenizerConfig& config, const std::string& what,
                       const std::string& stored, const std::string& expected) {
    throw_unsupported_file(parts.source,
                           what + " is " + stored + ", but transformers 5 uses " + expected + " for the class " +
                               stated_class(config) +
                               "; with the class PreTrainedTokenizerFast all versions use the value of this file");
}

std::string role_token(const TokenizerConfig& config, const char* role, const char* otherwise) {
    const auto name = config.special_names.find(role);
    return name == config.special_names.end() ? std::string(otherwise) : name->second;
}

void require_bert_defaults(const WordPieceParts& parts, const TokenizerConfig& config) {
    const auto refuse = [&](const std::string& what, const std::string& stored, const std::string& expected) {
        refuse_difference(parts, config, what, stored, expected);
    };
    if (!parts.clean_text) refuse("clean_text", "false", "true");
    if (parts.max_word_characters != 100)
        refuse("max_input_chars_per_word", std::to_string(parts.max_word_characters), "100");
    if (parts.prefix != "##") refuse("continuing_subword_prefix", quoted_name(parts.prefix), "'##'");
    const std::string unk = role_token(config, "unk_token", "[UNK]");
    if (parts.special_names.at("unk_token") != unk)
        refuse("unk_token", quoted_name(parts.special_names.at("unk_token")), quoted_name(unk));
    const std::string cls = role_token(config, "cls_token", "[CLS]");
    const std::string sep = role_token(config, "sep_token", "[SEP]");
    if (!(parts.template_tokens == TemplateTokens{}) && !(parts.template_tokens == bert_template(cls, sep)))
        refuse("the post_processor", "another",
               quoted_name(cls) + " before a text and " + quoted_name(sep) + " after it");
}

void require_roberta_defaults(const BpeParts& parts, const TokenizerConfig& config) {
    const TemplateTokens expected = roberta_template(config);
    if (!(parts.template_tokens == expected))
        refuse_difference(
            parts, config, "the post_processor", "another",
            "RobertaProcessing with " + quoted_name(expected.before[0]) + " and " + quoted_name(expected.after[0]));
}

void require_llama_template(const BpeParts& parts, const TokenizerConfig& config) {
    if (!is_llama_class(config)) return;
    const auto require = [&](const char* key, bool expected, const std::vector<std::string>& stored) {
        if (expected == !stored.empty()) return;
        throw_unsupported_file(parts.source, std::string("the post_processor ") + (stored.empty() ? "lacks" : "adds") +
                                                 " a token where " + key + (expected ? " is true" : " is false") +
                                                 " for the class " + stated_class(config) +
                                                 ": version 4 of transformers follows the class, version 5 this file");
    };
    require("add_bos_token", config.add_bos_token.value_or(true), parts.template_tokens.before);
    require("add_eos_token", config.add_eos_token.value_or(false), parts.template_tokens.after);
}

void require_mask_flags(const TokenizerParts& parts, const TokenizerConfig& config) {
    const auto role = parts.special_names.find("mask_token");
    if (role == parts.special_names.end()) return;
    const AddedToken* listed = find_token(parts.added, role->second);
    const AddedToken* token = listed != nullptr ? listed : find_token(parts.special_tokens, role->second);
    const bool is_default = token != nullptr && token->lstrip && !token->rstrip;
    const bool has_role = config.special_names.contains("mask_token");
    if (is_default || (has_role && (listed != nullptr || config.mask_has_flags))) return;
    throw_unsupported_file(config.source,
                           "the mask_token " + quoted_name(role->second) +
                               " takes the white space before it in transformers 4, but not in transformers 5, for the "
                               "class " +
                               stated_class(config) +
                               "; a mask_token with its flags, such as {\"content\": \"<mask>\", "
                               "\"lstrip\": true}, decides");
}

TemplateTokens roberta_template(const TokenizerConfig& config) {
    return roberta_template(role_token(config, "cls_token", "<s>"), role_token(config, "sep_token", "</s>"));
}

}  // namespace cairn::inline v0::text
