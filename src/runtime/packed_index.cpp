#include "runtime/packed_index.hpp"

#include "cairn/error.hpp"
#include "cairn/problem.hpp"
#include "runtime/xxh64.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace cairn::runtime {
namespace {

constexpr std::string_view digest_key = "digest ";

std::string index_headline() { return fmt::format("xxh64 of blocks of {}\n", checksum_block_bytes); }

std::string digest_line(std::string_view lines, std::string_view weights) {
    return fmt::format("{}{}", digest_key, to_string(digest(fmt::format("{}\n{}", weights, lines))));
}

/// Removes the next word from a line and returns it.
std::string_view next_word(std::string_view& line) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    return word;
}

std::optional<std::uint64_t> next_number(std::string_view& line, int base) {
    const std::string_view word = next_word(line);
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number, base);
    if (word.empty() || fault != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return number;
}

bool read_value(std::string_view line, PackedIndex& index) {
    PackedIndex::Value& value = index.values[std::string(next_word(line))];
    const std::optional<std::uint64_t> offset = next_number(line, 10), bytes = next_number(line, 10);
    if (!offset || !bytes) return false;
    value.offset = *offset, value.bytes = *bytes;
    while (!line.empty()) {
        const std::optional<std::uint64_t> sum = next_number(line, 16);
        if (!sum) return false;
        value.checksums.push_back(*sum);
    }
    return value.checksums.size() ==
           value.bytes / checksum_block_bytes + (value.bytes % checksum_block_bytes == 0 ? 0 : 1);
}

}  // namespace

std::string to_string(const PackedIndex& index, std::string_view weights) {
    std::string lines = index_headline();
    for (const auto& [name, value] : index.values) {
        lines += fmt::format("{} {} {}", name, value.offset, value.bytes);
        for (const std::uint64_t sum : value.checksums) lines += fmt::format(" {:016x}", sum);
        lines += '\n';
    }
    return lines + digest_line(lines, weights);
}

PackedIndex parse_packed_index(std::string_view text, std::string_view weights) {
    const auto fail = [](const char* why) { return Error(ErrorKind::argument, "packed", why); };
    const std::string headline = index_headline();
    if (!text.starts_with(headline)) throw fail("has checksums of another kind");
    const std::size_t tail = text.rfind(digest_key);
    if (tail == text.npos || text.substr(tail) != digest_line(text.substr(0, tail), weights))
        throw fail("is damaged: the digest of its index does not fit");
    PackedIndex index;
    for (std::size_t from = headline.size(); from < tail;) {
        const std::string_view line = text.substr(from, text.find('\n', from) - from);
        from += line.size() + 1;
        if (!read_value(line, index)) throw fail("is damaged: a line of its index is ill-formed");
    }
    return index;
}

void add_blocks(std::span<const std::byte> bytes, const PackedIndex::Value& value, std::vector<ChecksumBlock>& blocks) {
    for (std::size_t b = 0; b * checksum_block_bytes < bytes.size(); ++b) {
        const std::size_t begin = b * checksum_block_bytes;
        blocks.push_back({bytes.subspan(begin, std::min<std::size_t>(checksum_block_bytes, bytes.size() - begin)),
                          b < value.checksums.size() ? value.checksums[b] : 0});
    }
}

std::vector<std::uint64_t> checksums_of(std::span<const ChecksumBlock> blocks, device::HostThreads* threads) {
    struct Work {
        std::span<const ChecksumBlock> blocks;
        std::vector<std::uint64_t> checksums;
    } work{blocks, std::vector<std::uint64_t>(blocks.size())};
    const auto sum_part = [](void* context, int rank, int size) {
        auto& [all, checksums] = *static_cast<Work*>(context);
        for (auto b = static_cast<std::size_t>(rank); b < all.size(); b += static_cast<std::size_t>(size))
            checksums[b] = xxh64(all[b].bytes);
    };
    if (threads != nullptr)
        threads->run(sum_part, &work);
    else
        sum_part(&work, 0, 1);
    return std::move(work.checksums);
}

}  // namespace cairn::runtime
