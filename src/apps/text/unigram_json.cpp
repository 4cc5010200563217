#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/model_json.hpp"
#include "apps/text/pipeline_json.hpp"
#include "apps/text/unigram.hpp"
#include "apps/text/unigram_classes.hpp"

#include <limits>

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

/// [["<unk>", 0.0], ["▁the", -3.1], ...]: the ids are the indices.
void read_scored_pieces(const json& vocabulary, const std::string& source, UnigramParts& parts) {
    if (!vocabulary.is_array())
        throw_bad_file(
            source, std::string("expected an array of pieces and scores for 'vocab', got ") + vocabulary.type_name());
    for (const json& piece : vocabulary) {
        const auto id = static_cast<std::int64_t>(parts.entries.size());
        if (!piece.is_array() || piece.size() != 2 || !piece[0].is_string() || !piece[1].is_number())
            throw_bad_file(source, "expected a piece and its score for id " + std::to_string(id));
        parts.entries.push_back({piece[0].get<std::string>(), id});
        parts.scores.push_back(piece[1].get<double>());
    }
}

std::int32_t read_unk_id(const json& model, const UnigramParts& parts, const std::string& source) {
    const auto unk = read_member<std::int64_t>(model, "unk_id", -1, source);
    if (!model.contains("unk_id") || model["unk_id"].is_null())
        throw_unsupported_file(source, "a Unigram model without an unk_id is not supported");
    if (unk < 0 || unk >= static_cast<std::int64_t>(parts.entries.size()) ||
        unk > std::numeric_limits<std::int32_t>::max())
        throw_bad_file(source, "expected an unk_id from 0 to " + std::to_string(parts.entries.size() - 1) + ", got " +
                                   std::to_string(unk));
    return static_cast<std::int32_t>(unk);
}

}  // namespace

std::unique_ptr<Tokenizer> read_unigram_json(const json& root, const TokenizerConfig& config,
                                             const std::string& source) {
    const json& model = root["model"];
    UnigramParts parts;
    read_scored_pieces(required_member(model, "vocab", source), source, parts);
    if (parts.entries.empty()) throw_bad_file(source, "the vocabulary is empty");
    parts.unk_id = read_unk_id(model, parts, source);
    parts.byte_fallback = read_member(model, "byte_fallback", false, source);
    parts.normalizer = read_normalizer_steps(root, source);
    parts.pre_tokenizer = read_split_steps(root, source);
    read_metaspace_decoder(root, source, parts);
    read_shared_parts(root, config, source, parts);
    apply_unigram_class(config, parts);
    parts.template_tokens.truncate_start = config.truncate_start;
    parts.clean_up_text = config.clean_up_text;
    return std::make_unique<Unigram>(parts);
}

}  // namespace cairn::inline v0::text
