#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// A trie of byte strings: finds all of them that a text begins with.
class PrefixTrie {
public:
    /// A string's value is its index; empty strings are left out. Of equal strings the last one counts.
    explicit PrefixTrie(const std::vector<std::string>& strings);

    /// Calls `found(length, value)` for each string that `text` begins with, shortest first. Reads at most as many
    /// bytes of the text as the longest string has.
    template <class Found>
    void for_prefixes(std::string_view text, const Found& found) const {
        std::size_t node = 0;
        for (std::size_t depth = 0; depth < text.size(); ++depth) {
            const std::int32_t next = child(node, static_cast<unsigned char>(text[depth]));
            if (next < 0) return;
            node = static_cast<std::size_t>(next);
            if (nodes_[node].value >= 0) found(depth + 1, nodes_[node].value);
        }
    }

private:
    struct Node {
        std::int32_t value;        // -1: no string ends here
        std::uint32_t first_edge;  // its edges are contiguous, in ascending order of labels
        std::uint32_t edge_count;
    };

    /// The child of a node along a byte; -1 if there is none.
    std::int32_t child(std::size_t node, unsigned char label) const;

    std::vector<Node> nodes_;
    std::vector<unsigned char> labels_;   // of edges
    std::vector<std::int32_t> children_;  // of edges
};

}  // namespace cairn::inline v0::text
