#include "apps/text/pipeline_json.hpp"

#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/unicode.hpp"

#include <utility>

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;
using Kind = NormalizerStep::Kind;

/// `pattern` is {"String": "a"} or {"Regex": " {2,}"}, the only regular expression that is supported.
NormalizerStep read_replace(const json& step, const std::string& source) {
    const json& pattern = required_member(step, "pattern", source);
    if (!pattern.is_object() || pattern.size() != 1)
        throw_bad_file(source, "expected an object with one member for 'pattern' of Replace");
    const auto content = read_member<std::string>(step, "content", "", source);
    const auto regex = read_member<std::string>(pattern, "Regex", "", source);
    if (regex == " {2,}") return {.kind = Kind::replace_spaces, .to = content};
    if (pattern.contains("Regex"))
        throw_unsupported_file(
            source, "a Replace normalizer with the regular expression " + quoted_name(regex) + " is not supported");
    const auto from = read_member<std::string>(pattern, "String", "", source);
    if (from.empty()) throw_unsupported_file(source, "a Replace normalizer without a pattern is not supported");
    return {.kind = Kind::replace, .from = from, .to = content};
}

NormalizerStep read_character_map(const json& step, const std::string& source) {
    const auto text = read_member<std::string>(step, "precompiled_charsmap", "", source);
    const auto bytes = base64_bytes(text);
    if (!bytes) throw_bad_file(source, "expected base64 for 'precompiled_charsmap'");
    return {.kind = Kind::map_characters, .map = std::make_shared<const CharacterMap>(*bytes, source)};
}

NormalizerStep read_normalizer_step(const json& step, const std::string& type, const std::string& source) {
    constexpr std::pair<const char*, Kind> plain[] = {
        {"NFD", Kind::nfd},
        {"NFC", Kind::nfc},
        {"NFKD", Kind::nfkd},
        {"NFKC", Kind::nfkc},
        {"StripAccents", Kind::strip_accents},
        {"Lowercase", Kind::lower_case},
    };
    for (const auto& [name, kind] : plain)
        if (type == name) return {.kind = kind};
    if (type == "Replace") return read_replace(step, source);
    if (type == "Precompiled") return read_character_map(step, source);
    if (type == "Prepend") return {.kind = Kind::prepend, .to = read_member<std::string>(step, "prepend", "", source)};
    if (type == "Strip")
        return {.kind = Kind::strip,
                .left = read_member(step, "strip_left", true, source),
                .right = read_member(step, "strip_right", true, source)};
    refuse_type("normalizer", type, source);
}

/// `prepend_scheme`, or `add_prefix_space` in older files.
SplitStep read_metaspace(const json& step, const std::string& source) {
    SplitStep metaspace{.kind = SplitStep::Kind::metaspace};
    metaspace.replacement = read_member<std::string>(step, "replacement", "", source);
    const std::string& replacement = metaspace.replacement;
    if (replacement.empty() || read_utf8(replacement).length != replacement.size())
        throw_bad_file(source, "expected one character for 'replacement' of Metaspace");
    const bool prefix = read_member(step, "add_prefix_space", true, source);
    const auto scheme = read_member<std::string>(step, "prepend_scheme", prefix ? "always" : "never", source);
    if (scheme == "always")
        metaspace.prepend = SplitStep::Prepend::always;
    else if (scheme == "first")
        metaspace.prepend = SplitStep::Prepend::first;
    else if (scheme == "never")
        metaspace.prepend = SplitStep::Prepend::never;
    else
        throw_bad_file(source, "expected always, first or never for 'prepend_scheme', got " + quoted_name(scheme));
    if (!prefix && metaspace.prepend != SplitStep::Prepend::never)
        throw_bad_file(source, "add_prefix_space of Metaspace is false, but prepend_scheme is " + quoted_name(scheme));
    metaspace.split = read_member(step, "split", true, source);
    return metaspace;
}

/// {"String": " "}, which belongs to the word before it.
SplitStep read_split_after(const json& step, const std::string& source) {
    const json& pattern = required_member(step, "pattern", source);
    const auto behavior = read_member<std::string>(step, "behavior", "", source);
    const auto text = pattern.is_object() ? read_member<std::string>(pattern, "String", "", source) : "";
    if (text.empty() || behavior != "MergedWithPrevious" || read_member(step, "invert", false, source))
        throw_unsupported_file(source,
                               "a Split pre_tokenizer with this model is supported for a string and the behavior "
                               "MergedWithPrevious only");
    return {.kind = SplitStep::Kind::after, .replacement = text};
}

}  // namespace

std::vector<NormalizerStep> read_normalizer_steps(const json& root, const std::string& source) {
    std::vector<NormalizerStep> steps;
    for_steps(root, "normalizer", "normalizers", source, [&](const json& step, const std::string& type) {
        steps.push_back(read_normalizer_step(step, type, source));
    });
    return steps;
}

std::vector<SplitStep> read_split_steps(const json& root, const std::string& source) {
    std::vector<SplitStep> steps;
    for_steps(root, "pre_tokenizer", "pretokenizers", source, [&](const json& step, const std::string& type) {
        if (type == "WhitespaceSplit")
            steps.push_back({.kind = SplitStep::Kind::white_space});
        else if (type == "Metaspace")
            steps.push_back(read_metaspace(step, source));
        else if (type == "Split")
            steps.push_back(read_split_after(step, source));
        else
            refuse_type("pre_tokenizer", type, source);
    });
    return steps;
}

void read_metaspace_decoder(const json& root, const std::string& source, UnigramParts& parts) {
    require_type(root, "decoder", {"Metaspace"}, source);
    const SplitStep decoder = read_metaspace(root["decoder"], source);
    parts.space = decoder.replacement;
    parts.drops_first_space = decoder.prepend != SplitStep::Prepend::never;
}

}  // namespace cairn::inline v0::text
