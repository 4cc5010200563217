#include "apps/text/bpe_json.hpp"
#include "apps/text/character_bpe.hpp"
#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/pipeline_json.hpp"

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

/// Reads Replace ("▁" by a space), ByteFallback, Fuse, and Strip (of one space at the start of the text), in this
/// order; each may be left out, but Strip needs Fuse.
void read_piece_decoder(const json& root, const std::string& source, CharacterBpeParts& parts) {
    require_type(root, "decoder", {"Sequence", "Replace", "ByteFallback", "Fuse"}, source);
    int stage = 0;
    const auto advance = [&](int to, const std::string& type) {
        if (stage >= to)
            throw_unsupported_file(source, "a decoder with " + quoted_name(type) + " at its place is not supported");
        stage = to;
    };
    for_steps(root, "decoder", "decoders", source, [&](const json& step, const std::string& type) {
        if (type == "Replace") {
            advance(1, type);
            const json& pattern = required_member(step, "pattern", source);
            parts.space = pattern.is_object() ? read_member<std::string>(pattern, "String", "", source) : "";
            if (parts.space.empty() || read_member<std::string>(step, "content", "", source) != " ")
                throw_unsupported_file(source, "a Replace decoder is supported for a string and a space only");
        } else if (type == "ByteFallback") {
            advance(2, type);
            parts.decodes_bytes = true;
        } else if (type == "Fuse") {
            advance(3, type);
        } else if (type == "Strip") {
            if (stage != 3) refuse_type("decoder without Fuse", type, source);
            advance(4, type);
            const auto start = read_member(step, "start", std::int64_t{0}, source);
            if (read_member<std::string>(step, "content", "", source) != " " || start < 0 || start > 1 ||
                read_member(step, "stop", std::int64_t{0}, source) != 0)
                throw_unsupported_file(source, "a Strip decoder is supported for one space at the start only");
            parts.drops_first_space = start == 1;
        } else {
            refuse_type("decoder", type, source);
        }
    });
}

}  // namespace

std::unique_ptr<Tokenizer> read_character_bpe_json(const json& root, const TokenizerConfig& config,
                                                   const std::string& source) {
    CharacterBpeParts parts;
    parts.pre_tokenizer = read_split_steps(root, source);
    read_piece_decoder(root, source, parts);
    parts.unk_token = read_bpe_parts(root, config, source, parts);
    parts.byte_fallback = read_member(root["model"], "byte_fallback", false, source);
    parts.fuses_unk = read_member(root["model"], "fuse_unk", false, source);
    if (parts.unk_token && knows(parts, *parts.unk_token))
        parts.special_names.try_emplace("unk_token", *parts.unk_token);
    if (!parts.template_tokens.before.empty())
        parts.special_names.try_emplace("bos_token", parts.template_tokens.before.front());
    parts.template_tokens.truncate_start = config.truncate_start;
    return std::make_unique<CharacterBpe>(parts);
}

}  // namespace cairn::inline v0::text
