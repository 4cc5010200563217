#pragma once

#include "cairn/version.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::models {

/// The entries of a lexicon: a trie over words.
struct LexiconEntries {
    /// Reads lines `word<TAB>score`; errors name `file`. Throws as Lexicon::load() does.
    static LexiconEntries parse(std::string_view lines, const std::filesystem::path& file);
    static LexiconEntries read(const std::filesystem::path& path);

    /// The entries of a text, the longest one at each place, from left to right.
    std::vector<std::int32_t> find(std::string_view text) const;

    std::vector<float> scores;

private:
    /// Adds an entry of at least one word; false if it is there already.
    bool add(const std::vector<std::string>& words, float score);

    std::unordered_map<std::string, std::uint32_t> words_;       // numbers of the words of all entries
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // of node << 32 | word
    std::vector<std::int32_t> entry_of_{-1};                     // of each node of the trie; -1: none ends there
};

}  // namespace cairn::inline v0::models
