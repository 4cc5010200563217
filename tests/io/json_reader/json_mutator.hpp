#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

/// Corrupts small files, identically on every machine for one seed: bytes (flipped, cut, repeated, a byte order mark or
/// a zero inserted) and JSON tokens (replaced by hostile ones, removed, repeated, exchanged, nested).
class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    /// `text` after one to three mutations.
    std::string mutate(std::string_view text);

    /// A number from 0 to count - 1.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

private:
    void mutate_bytes(std::string& text);
    void mutate_tokens(std::string& text);

    std::mt19937_64 random_;
};

/// JSON cut into strings, words and numbers, signs, and white space: {"a": 1} -> `{` `"a"` `:` ` ` `1` `}`.
/// Any bytes can be cut; concatenated again they are the same.
std::vector<std::string> json_tokens(std::string_view text);

}  // namespace cairn::test
