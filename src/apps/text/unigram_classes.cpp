#include "apps/text/unigram_classes.hpp"

#include "apps/text/class_defaults.hpp"
#include "apps/text/file_errors.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/vocabulary_files.hpp"

#include <algorithm>

namespace cairn::inline v0::text {

namespace {

using Kind = NormalizerStep::Kind;

constexpr const char* piece_space = "\u2581";
constexpr std::int64_t most_extra_ids = 1000;

constexpr std::array<std::pair<const char*, const char*>, 7> albert_special_names = {{
    {"bos_token", "[CLS]"},
    {"eos_token", "[SEP]"},
    {"unk_token", "<unk>"},
    {"sep_token", "[SEP]"},
    {"pad_token", "<pad>"},
    {"cls_token", "[CLS]"},
    {"mask_token", "[MASK]"},
}};
constexpr std::array<std::pair<const char*, const char*>, 3> t5_special_names = {{
    {"eos_token", "</s>"},
    {"unk_token", "<unk>"},
    {"pad_token", "<pad>"},
}};

/// What a class of version 5 builds.
struct Built {
    std::vector<NormalizerStep> normalizer;
    bool adds_prefix_space;
    std::size_t unk_id;
    TemplateTokens template_tokens;
};

std::string shown_template(const TemplateTokens& tokens) {
    std::string shown;
    const auto append = [&](const std::vector<std::string>& names) {
        for (const std::string& name : names) shown += quoted_name(name) + " ";
    };
    append(tokens.pair_before);
    shown += "A ";
    append(tokens.between);
    shown += "B ";
    append(tokens.pair_after);
    shown.pop_back();
    return shown;
}

/// The steps of the file that have an effect before WhitespaceSplit.
std::vector<NormalizerStep> effective_normalizer(const UnigramParts& parts) {
    std::vector<NormalizerStep> steps = parts.normalizer;
    while (!steps.empty() && steps.back().kind == Kind::replace_spaces && steps.back().to == " ") steps.pop_back();
    return steps;
}

bool has_byte_pieces(const UnigramParts& parts) {
    return std::any_of(parts.entries.begin(), parts.entries.end(),
                       [](const VocabularyEntry& entry) { return entry.token.starts_with("<0x"); });
}

void require_built(const Built& built, const TokenizerConfig& config, const UnigramParts& parts) {
    const auto refuse = [&](const std::string& what, const std::string& stored, const std::string& expected) {
        refuse_difference(parts, config, what, stored, expected);
    };
    if (effective_normalizer(parts) != built.normalizer)
        refuse("the normalizer", shown_steps(parts.normalizer), shown_steps(built.normalizer));
    const auto prepend = built.adds_prefix_space ? SplitStep::Prepend::always : SplitStep::Prepend::never;
    const std::vector<SplitStep> pre_tokenizer = {
        {.kind = SplitStep::Kind::white_space},
        {.kind = SplitStep::Kind::metaspace, .replacement = piece_space, .prepend = prepend}};
    if (parts.pre_tokenizer != pre_tokenizer)
        refuse("the pre_tokenizer", shown_steps(parts.pre_tokenizer), shown_steps(pre_tokenizer));
    if (parts.space != piece_space || parts.drops_first_space != built.adds_prefix_space)
        refuse("the decoder", "another",
               "Metaspace with the prepend_scheme " + std::string(built.adds_prefix_space ? "always" : "never"));
    if (static_cast<std::size_t>(parts.unk_id) != built.unk_id)
        refuse("unk_id", std::to_string(parts.unk_id), std::to_string(built.unk_id));
    if (parts.byte_fallback && has_byte_pieces(parts)) refuse("byte_fallback", "true", "false");
    if (!(parts.template_tokens == built.template_tokens))
        refuse("the post_processor", shown_template(parts.template_tokens), shown_template(built.template_tokens));
}

/// The Precompiled step of the file, which version 5 keeps.
std::vector<NormalizerStep> character_map_of(const UnigramParts& parts) {
    for (const NormalizerStep& step : parts.normalizer)
        if (step.kind == Kind::map_characters) return {step};
    return {};
}

void apply_albert(const TokenizerConfig& config, UnigramParts& parts) {
    name_roles(albert_special_names, parts);
    std::vector<NormalizerStep> normalizer = {{.kind = Kind::replace, .from = "``", .to = "\""},
                                              {.kind = Kind::replace, .from = "''", .to = "\""}};
    if (!config.keep_accents.value_or(false)) {
        normalizer.push_back({.kind = Kind::nfkd});
        normalizer.push_back({.kind = Kind::strip_accents});
    }
    if (config.lower_case.value_or(true)) normalizer.push_back({.kind = Kind::lower_case});
    for (NormalizerStep& step : character_map_of(parts)) normalizer.push_back(std::move(step));
    // Version 5 keeps the post_processor of the file if there is one.
    const bool has_template = !(parts.template_tokens == TemplateTokens{});
    require_built({.normalizer = std::move(normalizer),
                   .adds_prefix_space = config.add_prefix_space.value_or(true),
                   .unk_id = 1,
                   .template_tokens = has_template ? parts.template_tokens
                                                   : bert_template(role_token(config, "cls_token", "[CLS]"),
                                                                   role_token(config, "sep_token", "[SEP]"))},
                  config, parts);
}

/// XLM-RoBERTa and CamemBERT.
void apply_xlm_roberta(std::size_t unk_id, const TokenizerConfig& config, UnigramParts& parts) {
    name_roles(roberta_special_names, parts);
    require_built({.normalizer = character_map_of(parts),
                   .adds_prefix_space = config.add_prefix_space.value_or(true),
                   .unk_id = unk_id,
                   .template_tokens = roberta_template(role_token(config, "bos_token", "<s>"),
                                                       role_token(config, "eos_token", "</s>"))},
                  config, parts);
}

void add_special(const std::string& content, UnigramParts& parts) {
    add_or_replace({.content = content, .id = AddedToken::unknown_id, .special = true}, parts.special_tokens);
}

void apply_camembert(const TokenizerConfig& config, UnigramParts& parts) {
    const std::string unk = role_token(config, "unk_token", "<unk>");
    const auto found = std::find_if(parts.entries.begin(), parts.entries.end(),
                                    [&](const VocabularyEntry& entry) { return entry.token == unk; });
    const auto index = found - parts.entries.begin();
    apply_xlm_roberta(found == parts.entries.end() ? 0 : static_cast<std::size_t>(index), config, parts);
    if (!config.has_additional_tokens)
        for (const char* token : {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}) add_special(token, parts);
}

void apply_t5(const TokenizerConfig& config, UnigramParts& parts) {
    name_roles(t5_special_names, parts);
    const std::string eos = role_token(config, "eos_token", "</s>");
    require_built({.normalizer = character_map_of(parts),
                   .adds_prefix_space = true,
                   .unk_id = 2,
                   .template_tokens = {.after = {eos}, .between = {eos}, .pair_after = {eos}}},
                  config, parts);
    const bool lists_extra_ids =
        std::any_of(config.special_tokens.begin(), config.special_tokens.end(),
                    [](const AddedToken& token) { return token.content.find("<extra_id_") != std::string::npos; });
    if (lists_extra_ids) return;
    const std::int64_t count = config.extra_ids.value_or(100);
    if (count < 0 || count > most_extra_ids)
        throw_bad_file(config.source, "expected extra_ids from 0 to " + std::to_string(most_extra_ids) + ", got " +
                                          std::to_string(count));
    for (std::int64_t i = 0; i < count; ++i) add_special("<extra_id_" + std::to_string(i) + ">", parts);
}

/// Files without a class, or with a generic one, which follows tokenizer.json.
void apply_file(const TokenizerConfig& config, UnigramParts& parts) {
    const auto has = [&](Kind kind) {
        return std::any_of(parts.normalizer.begin(), parts.normalizer.end(),
                           [&](const NormalizerStep& step) { return step.kind == kind; });
    };
    const bool prepends =
        std::any_of(parts.pre_tokenizer.begin(), parts.pre_tokenizer.end(), [](const SplitStep& step) {
            return step.kind == SplitStep::Kind::metaspace && step.prepend != SplitStep::Prepend::never;
        });
    const Precedence precedence = is_generic_class(config) ? Precedence::tokenizer_json : Precedence::no_class;
    const bool lowers = has(Kind::lower_case);
    const bool keeps_accents = !has(Kind::strip_accents);
    resolve({"do_lower_case", config.lower_case, lowers, "a Lowercase normalizer", lowers}, precedence, config,
            parts.source);
    resolve({"keep_accents", config.keep_accents, keeps_accents, "a normalizer without StripAccents", keeps_accents},
            precedence, config, parts.source);
    resolve({"add_prefix_space", config.add_prefix_space, prepends, "prepend_scheme of the pre_tokenizer", prepends},
            precedence, config, parts.source);
    if (!parts.template_tokens.before.empty()) name_template_roles(parts);
    const std::string& unk = parts.entries[static_cast<std::size_t>(parts.unk_id)].token;
    if (std::any_of(parts.added.begin(), parts.added.end(),
                    [&](const AddedToken& token) { return token.content == unk; }))
        parts.special_names.try_emplace("unk_token", unk);
}

}  // namespace

void apply_unigram_class(const TokenizerConfig& config, UnigramParts& parts) {
    const std::string& name = config.tokenizer_class;
    if (name.empty() || is_generic_class(config)) return apply_file(config, parts);
    if (name == "AlbertTokenizer") return apply_albert(config, parts);
    if (name == "XLMRobertaTokenizer") return apply_xlm_roberta(3, config, parts);
    if (name == "CamembertTokenizer") return apply_camembert(config, parts);
    if (name == "T5Tokenizer") return apply_t5(config, parts);
    throw_unsupported_file(parts.source, "a Unigram model is not supported for the class " + stated_class(config) +
                                             "; with the class PreTrainedTokenizerFast all versions of transformers "
                                             "use the value of this file");
}

}  // namespace cairn::inline v0::text
