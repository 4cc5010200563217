#include "apps/text/post_processor.hpp"

#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"

#include <array>

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

const json* find_member(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// The tokens of a name in a template: those listed in `special_tokens`, otherwise the name itself.
std::vector<std::string> tokens_called(const std::string& name, const json& processor, const std::string& source) {
    const json* table = find_member(processor, "special_tokens");
    const json* entry = table == nullptr ? nullptr : find_member(*table, name.c_str());
    const json* tokens = entry == nullptr ? nullptr : find_member(*entry, "tokens");
    if (tokens == nullptr) return {name};
    std::vector<std::string> names;
    if (!tokens->is_array())
        throw_bad_file(source, "expected an array of tokens for the special token " + quoted_name(name));
    for (const json& token : *tokens) {
        if (!token.is_string())
            throw_bad_file(source, "expected strings as tokens of the special token " + quoted_name(name));
        names.push_back(token.get<std::string>());
    }
    return names;
}

/// Splits a template at its texts: `[CLS] A [SEP]` -> {"[CLS]"}, {"[SEP]"}. `texts` is "A" or "AB".
std::vector<std::vector<std::string>> read_template(const json& processor, const char* key, std::string_view texts,
                                                    const std::string& source) {
    const json* pieces = find_member(processor, key);
    if (pieces == nullptr || !pieces->is_array())
        throw_bad_file(source, std::string("expected an array for '") + key + "' of TemplateProcessing");
    std::vector<std::vector<std::string>> parts(1);
    for (const json& piece : *pieces) {
        if (const json* text = find_member(piece, "Sequence")) {
            if (parts.size() > texts.size() ||
                read_member<std::string>(*text, "id", "", source) != texts.substr(parts.size() - 1, 1))
                throw_unsupported_file(source, std::string("a template '") + key + "' in which the texts are not " +
                                                   (texts.size() == 1 ? "A" : "A then B") + " is not supported");
            parts.emplace_back();
        } else if (const json* token = find_member(piece, "SpecialToken")) {
            for (std::string& name :
                 tokens_called(read_member<std::string>(*token, "id", "", source), processor, source))
                parts.back().push_back(std::move(name));
        } else {
            throw_bad_file(source, std::string("expected a Sequence or a SpecialToken in '") + key + "'");
        }
    }
    if (parts.size() != texts.size() + 1)
        throw_unsupported_file(source, std::string("a template '") + key + "' that leaves a text out is not supported");
    return parts;
}

/// BertProcessing and RobertaProcessing have [token, id] pairs under `cls` and `sep`.
std::string read_pair_token(const json& processor, const char* key, const std::string& type,
                            const std::string& source) {
    const json* pair = find_member(processor, key);
    if (pair == nullptr || !pair->is_array() || pair->size() != 2 || !(*pair)[0].is_string())
        throw_bad_file(source, std::string("expected a token and its id for '") + key + "' of " + type);
    return (*pair)[0].get<std::string>();
}

TemplateTokens read_step(const json& processor, const std::string& type, const std::string& source) {
    if (type == "BertProcessing" || type == "RobertaProcessing") {
        // Both flags change the offsets of tokens only.
        if (type == "RobertaProcessing")
            for (const char* flag : {"trim_offsets", "add_prefix_space"}) read_member(processor, flag, true, source);
        const std::string cls = read_pair_token(processor, "cls", type, source);
        const std::string sep = read_pair_token(processor, "sep", type, source);
        return type == "BertProcessing" ? bert_template(cls, sep) : roberta_template(cls, sep);
    }
    if (type != "TemplateProcessing")
        throw_unsupported_file(source, "a post_processor of type " + quoted_name(type) + " is not supported");
    auto single = read_template(processor, "single", "A", source);
    auto pair = read_template(processor, "pair", "AB", source);
    return {.before = std::move(single[0]),
            .after = std::move(single[1]),
            .pair_before = std::move(pair[0]),
            .between = std::move(pair[1]),
            .pair_after = std::move(pair[2])};
}

}  // namespace

TemplateTokens read_post_processor(const json& root, const std::string& source) {
    TemplateTokens tokens;
    for_steps(root, "post_processor", "processors", source, [&](const json& step, const std::string& type) {
        if (type == "ByteLevel") return;
        if (!(tokens == TemplateTokens{}))
            throw_unsupported_file(source, "a post_processor with two steps that add tokens is not supported");
        tokens = read_step(step, type, source);
    });
    return tokens;
}

}  // namespace cairn::inline v0::text
