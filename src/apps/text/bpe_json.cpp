#include "apps/text/bpe_json.hpp"

#include "apps/text/class_defaults.hpp"
#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/model_json.hpp"
#include "apps/text/pipeline_json.hpp"
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

/// Refuses members that change the BPE algorithm and that no supported model uses.
void refuse_bpe_variants(const json& model, const std::string& source) {
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!read_member<std::string>(model, affix, "", source).empty())
            throw_unsupported_file(source, std::string("BPE with a ") + affix + " is not supported");
    if (const auto dropout = model.find("dropout"); dropout != model.end() && !dropout->is_null() && *dropout != 0)
        throw_unsupported_file(source, "BPE with dropout is not supported");
}

}  // namespace

std::optional<std::string> read_bpe_parts(const json& root, const TokenizerConfig& config, const std::string& source,
                                          BpeParts& parts) {
    const json& model = root["model"];
    refuse_bpe_variants(model, source);
    parts.entries = vocabulary_entries(required_member(model, "vocab", source), source);
    parts.ignores_merges = read_member(model, "ignore_merges", false, source);
    parts.normalizer = read_normalizer_steps(root, source);
    read_shared_parts(root, config, source, parts);
    parts.merges_source = source;
    parts.merges = read_merges(required_member(model, "merges", source), source);
    require_llama_template(parts, config);
    const auto unk = model.find("unk_token");
    if (unk == model.end() || unk->is_null()) return std::nullopt;
    return read_member<std::string>(model, "unk_token", "", source);
}

std::unique_ptr<Tokenizer> read_bpe_json(const json& root, const TokenizerConfig& config, const std::string& source) {
    bool is_byte_level = false;
    for_steps(root, "pre_tokenizer", "pretokenizers", source,
              [&](const json&, const std::string& type) { is_byte_level = is_byte_level || type == "ByteLevel"; });
    return is_byte_level ? read_byte_level_json(root, config, source) : read_character_bpe_json(root, config, source);
}

}  // namespace cairn::inline v0::text
