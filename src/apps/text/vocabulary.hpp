#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::text {

/// A token of a vocabulary file.
struct VocabularyEntry {
    std::string token;
    std::int64_t id;
};

/// Maps tokens to ids and back. The ids are 0 .. size() - 1: embeddings are rows of a matrix.
class Vocabulary {
public:
    /// Throws Error (file) for a repeated id or token, or a missing id; `source` is the file named in errors.
    Vocabulary(std::vector<VocabularyEntry> entries, const std::string& source);
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;
    Vocabulary(Vocabulary&&) = default;
    Vocabulary& operator=(Vocabulary&&) = default;

    std::size_t size() const noexcept { return tokens_.size(); }

    std::optional<std::int32_t> find(std::string_view token) const;

    /// Throws Error (argument) for an id outside the vocabulary.
    const std::string& token(std::int32_t id) const;

private:
    std::vector<std::string> tokens_;
    std::unordered_map<std::string_view, std::int32_t> ids_;  // views into tokens_
};

}  // namespace cairn::inline v0::text
