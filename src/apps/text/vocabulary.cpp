#include "apps/text/vocabulary.hpp"

#include "apps/text/file_errors.hpp"
#include "cairn/error.hpp"

namespace cairn::inline v0::text {

Vocabulary::Vocabulary(std::vector<VocabularyEntry> entries, const std::string& source) : tokens_(entries.size()) {
    if (entries.empty()) throw_bad_file(source, "the vocabulary is empty");
    // Ids are distinct and in 0 .. count - 1, so none is missing.
    std::vector<bool> used(entries.size());
    for (VocabularyEntry& entry : entries) {
        if (entry.id < 0 || entry.id >= static_cast<std::int64_t>(entries.size()) || entry.id > INT32_MAX)
            throw_bad_file(source, "expected the ids 0 to " + std::to_string(entries.size() - 1) + " for " +
                                       std::to_string(entries.size()) + " tokens, got id " + std::to_string(entry.id) +
                                       " for " + quoted_name(entry.token));
        const auto index = static_cast<std::size_t>(entry.id);
        if (used[index])
            throw_bad_file(source, "id " + std::to_string(entry.id) + " is given to " + quoted_name(tokens_[index]) +
                                       " and to " + quoted_name(entry.token));
        used[index] = true;
        tokens_[index] = std::move(entry.token);
    }
    ids_.reserve(tokens_.size());
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
        const auto [other, is_new] = ids_.emplace(tokens_[id], static_cast<std::int32_t>(id));
        if (!is_new)
            throw_bad_file(source, "token " + quoted_name(tokens_[id]) + " has the ids " +
                                       std::to_string(other->second) + " and " + std::to_string(id));
    }
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string& Vocabulary::token(std::int32_t id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens_.size())
        throw Error(ErrorKind::argument, "tokenizer",
                    "expected an id from 0 to " + std::to_string(tokens_.size() - 1) + ", got " + std::to_string(id));
    return tokens_[static_cast<std::size_t>(id)];
}

}  // namespace cairn::inline v0::text
