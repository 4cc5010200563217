#include "apps/text/tokenizer_parts.hpp"

#include "apps/text/file_errors.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace cairn::inline v0::text {

namespace {

/// The model's tokens, and the added tokens that are not among them.
std::vector<VocabularyEntry> all_entries(const TokenizerParts& parts) {
    std::unordered_map<std::string_view, std::int64_t> ids;
    for (const VocabularyEntry& entry : parts.entries) ids.emplace(entry.token, entry.id);
    std::vector<VocabularyEntry> entries = parts.entries;
    for (const AddedToken& token : parts.added) {
        const auto [known, is_new] = ids.emplace(token.content, token.id);
        if (is_new) {
            entries.push_back({token.content, token.id});
        } else if (known->second != token.id) {
            throw_bad_file(parts.source, "added token " + quoted_name(token.content) + " has the ids " +
                                             std::to_string(known->second) + " and " + std::to_string(token.id));
        }
    }
    return entries;
}

}  // namespace

TokenTable::TokenTable(const TokenizerParts& parts)
    : vocabulary_(all_entries(parts), parts.source),
      added_(parts.added),
      split_special_tokens_(parts.split_special_tokens) {
    const auto listed = [&](const std::string& content) {
        return std::any_of(added_.begin(), added_.end(),
                           [&](const AddedToken& token) { return token.content == content; });
    };
    const std::array<std::pair<const char*, std::optional<std::int32_t>*>, 7> roles = {{
        {"bos_token", &special_.bos},
        {"eos_token", &special_.eos},
        {"unk_token", &special_.unk},
        {"sep_token", &special_.sep},
        {"pad_token", &special_.pad},
        {"cls_token", &special_.cls},
        {"mask_token", &special_.mask},
    }};
    for (const auto& [role, target_id] : roles) {
        const auto name = parts.special_names.find(role);
        if (name == parts.special_names.end()) continue;
        *target_id = vocabulary_.find(name->second);
        if (!*target_id)
            throw_bad_file(parts.source,
                           std::string("the ") + role + " " + quoted_name(name->second) + " is not in the vocabulary");
    }
    for (AddedToken token : parts.special_tokens) {
        if (listed(token.content)) continue;
        const auto id = vocabulary_.find(token.content);
        if (!id)
            throw_bad_file(parts.source,
                           "the special token " + quoted_name(token.content) + " is not in the vocabulary");
        token.id = *id;
        added_.push_back(std::move(token));
    }
    // A token with a role is recognised in text even if no list of added tokens contains it.
    for (const auto& [role, name] : parts.special_names)
        if (const auto id = vocabulary_.find(name); id && !listed(name))
            added_.push_back({.content = name, .id = *id, .special = true});
}

}  // namespace cairn::inline v0::text
