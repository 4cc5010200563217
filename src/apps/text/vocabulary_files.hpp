#pragma once

#include "apps/text/vocabulary.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0::text {

/// Default names, if no file gives others.
inline constexpr const char* gpt2_end_of_text = "<|endoftext|>";
inline constexpr std::array<std::pair<const char*, const char*>, 5> bert_special_names = {{
    {"unk_token", "[UNK]"},
    {"sep_token", "[SEP]"},
    {"pad_token", "[PAD]"},
    {"cls_token", "[CLS]"},
    {"mask_token", "[MASK]"},
}};
inline constexpr std::array<std::pair<const char*, const char*>, 7> roberta_special_names = {{
    {"bos_token", "<s>"},
    {"eos_token", "</s>"},
    {"unk_token", "<unk>"},
    {"sep_token", "</s>"},
    {"pad_token", "<pad>"},
    {"cls_token", "<s>"},
    {"mask_token", "<mask>"},
}};

/// {"!": 0, "\"": 1, ...} -> entries. Throws Error (file) for a value that is not an integer.
std::vector<VocabularyEntry> vocabulary_entries(const nlohmann::json& tokens, const std::string& source);

/// "Ġ t" -> {"Ġ", "t"}. Throws Error (file) if the line is not two tokens.
std::pair<std::string, std::string> merge_pair(std::string_view line, const std::string& source);

/// merges.txt: one merge per line. A leading `#version` line and empty lines are skipped.
std::vector<std::pair<std::string, std::string>> read_merges_file(const std::filesystem::path& path);

/// vocab.txt: one token per line; its id is the line number from 0. Throws Error (file) for an empty line before the
/// end.
std::vector<VocabularyEntry> read_vocabulary_lines(const std::filesystem::path& path);

}  // namespace cairn::inline v0::text
