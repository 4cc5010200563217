#pragma once

#include "cairn/error.hpp"
#include "cairn/text/tokenizer.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace cairn::text_test {

using Ids = std::vector<std::int32_t>;

inline std::filesystem::path tests_folder() { return std::filesystem::path(CAIRN_SOURCE_DIR) / "tests"; }

inline nlohmann::json parse_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file);
}

/// The full vocabularies, read once.
inline const text::Tokenizer& gpt2() {
    static const auto tokenizer = text::load_tokenizer(tests_folder() / "data/gpt2");
    return *tokenizer;
}
inline const text::Tokenizer& bert() {
    static const auto tokenizer = text::load_tokenizer(tests_folder() / "data/bert");
    return *tokenizer;
}

/// A temporary folder of files that a test writes, removed by the destructor.
class TokenizerFolder {
public:
    TokenizerFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "cairn_text_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    TokenizerFolder(const TokenizerFolder&) = delete;
    TokenizerFolder& operator=(const TokenizerFolder&) = delete;
    ~TokenizerFolder() { std::filesystem::remove_all(path_); }

    TokenizerFolder& write(const std::string& name, std::string_view bytes) {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return *this;
    }
    const std::filesystem::path& path() const { return path_; }
    std::unique_ptr<text::Tokenizer> load() const { return text::load_tokenizer(path_); }

private:
    std::filesystem::path path_;
};

/// GPT-2's 256 bytes with their ids in the full vocabulary, then the given tokens: {"!": 0, ..., "he": 256, ...}.
inline nlohmann::json small_bpe_vocabulary(const std::vector<std::string>& more = {}) {
    nlohmann::json tokens = nlohmann::json::object();
    for (std::int32_t id = 0; id < 256; ++id) tokens[gpt2().token(id)] = id;
    for (const std::string& token : more) tokens[token] = tokens.size();
    return tokens;
}

/// The message of the Error that `act` throws; empty if it throws none.
inline std::string error_of(const std::function<void()>& act, ErrorKind kind) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
        return error.what();
    }
    return "";
}

/// Runs `act` on a thread whose stack is far too small for a recursion over a megabyte.
inline void on_small_stack(std::function<void()> act) {
    pthread_attr_t attributes;
    pthread_t thread;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 * 1024), 0);
    const auto call = [](void* f) -> void* { return (*static_cast<std::function<void()>*>(f))(), nullptr; };
    ASSERT_EQ(pthread_create(&thread, &attributes, call, &act), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

inline std::string repeat(std::string_view part, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += part;
    return all;
}

}  // namespace cairn::text_test
