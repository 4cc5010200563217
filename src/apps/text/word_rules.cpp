#include "apps/text/replaced.hpp"
#include "apps/text/word_length.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::text {

namespace {

using Rule = WordRule;

/// Expressions differ in ways that no text shows: a possessive quantifier before a class that excludes what it took,
/// and `\s*[\r\n]` for `\s*[\r\n]+`, whose `\s*` takes all but the last newline.
constexpr std::pair<std::string_view, WordRule> expressions[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", Rule::gpt2},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))", Rule::gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", Rule::gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Rule::llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     Rule::llama3},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     Rule::llama3},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Rule::llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Rule::qwen2},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     Rule::qwen2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Rule::qwen35},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Rule::gpt4o},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
     R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Rule::tekken},
    {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
     R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Rule::deepseek3},
    {R"(\p{N})", Rule::digit},
    {R"(\p{N}{1,3})", Rule::three_digits},
    {R"([\r\n])", Rule::newline},
    {R"(\s?\p{L}+)", Rule::spaced_letters},
    {R"(\s?\p{P}+)", Rule::spaced_punctuation},
    {"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", Rule::han_and_kana},
    {"[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", Rule::east_asian},
};

}  // namespace

std::optional<WordRules> word_rules_named(std::string_view pre) {
    const std::pair<std::vector<std::string_view>, WordRules> known[] = {
        {{"gpt-2", "phi-2", "gigachat", "a.x-4.0", "mellum", "modern-bert", "mpt", "olmo", "jais", "trillion",
          "granite-docling", "exaone4"},
         {.rules = {Rule::gpt2}}},
        {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"},
         {.rules = {Rule::digit, Rule::gpt2}}},
        {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
         {.rules = {Rule::llama3}, .ignores_merges = true, .adds_bos = true}},
        {{"dbrx", "smaug-bpe"}, {.rules = {Rule::llama3}}},
        {{"qwen2", "deepseek-r1-qwen", "kormo", "stablelm2", "hunyuan", "solar-open", "megrez", "grok-2"},
         {.rules = {Rule::qwen2}}},
        {{"qwen35"}, {.rules = {Rule::qwen35}}},
        {{"gpt-4o", "llama4", "kanana2", "minimax-m2"}, {.rules = {Rule::gpt4o}}},
        {{"tekken"}, {.rules = {Rule::tekken}, .ignores_merges = true}},
        {{"deepseek-v3", "hunyuan-dense", "joyai-llm"},
         {.rules = {Rule::three_digits, Rule::han_and_kana, Rule::deepseek3}}},
        {{"deepseek-coder"},
         {.rules = {Rule::newline, Rule::spaced_letters, Rule::spaced_punctuation, Rule::east_asian, Rule::digit}}},
        {{"deepseek-llm"},
         {.rules = {Rule::newline, Rule::spaced_cased_letters, Rule::spaced_signs, Rule::last_spaces, Rule::east_asian,
                    Rule::digit}}},
        {{"falcon"}, {.rules = {Rule::falcon_signs, Rule::gpt2, Rule::ascii_digits}}},
    };
    for (const auto& [names, rules] : known)
        if (std::find(names.begin(), names.end(), pre) != names.end()) return rules;
    return std::nullopt;
}

std::optional<WordRule> word_rule_of(std::string_view expression) {
    const std::string escaped = replaced(replaced(expression, "\r", R"(\r)"), "\n", R"(\n)");
    for (const auto& [text, rule] : expressions)
        if (text == escaped) return rule;
    return std::nullopt;
}

}  // namespace cairn::inline v0::text
