#include "tests/house/loops.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace cairn::house {
namespace {

struct Line {
    std::uint64_t at;
    std::string_view text;
};
struct Loop {
    std::size_t first, last;
};

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return fault == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

/// Index of the line that the jump at line `jump` goes to; nullopt if it is no jump within the function.
std::optional<std::size_t> target(const std::vector<Line>& code, std::size_t jump) {
    const std::string_view text = code[jump].text;
    if (!text.starts_with('j')) return std::nullopt;
    const auto to = hexadecimal(text.substr(std::min(text.find(' '), text.size())));
    const auto line = std::find_if(code.begin(), code.end(), [&](const Line& one) { return one.at == to; });
    return to && line != code.end() ? std::optional(static_cast<std::size_t>(line - code.begin())) : std::nullopt;
}

/// True if execution from the first line of the loop can reach the last one within the loop. A backward jump to an exit
/// of the function is no loop.
bool is_loop(const std::vector<Line>& code, const Loop& loop) {
    std::vector<bool> known(code.size(), false);
    std::vector<std::size_t> open{loop.first};
    while (!open.empty()) {
        const std::size_t i = open.back();
        open.pop_back();
        if (i < loop.first || i > loop.last || known[i]) continue;
        if (i == loop.last) return true;
        known[i] = true;
        const std::string_view text = code[i].text;
        if (!text.starts_with("ret") && !text.starts_with("jmp")) open.push_back(i + 1);
        if (const auto to = target(code, i)) open.push_back(*to);
    }
    return false;
}

/// The innermost loops of a function: backward jumps that contain no others.
std::vector<Loop> innermost(const std::vector<Line>& code) {
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < code.size(); ++i)
        if (const auto first = target(code, i); first && *first <= i && is_loop(code, {*first, i}))
            loops.push_back({*first, i});
    std::vector<Loop> inner;
    for (const Loop& loop : loops)
        if (std::none_of(loops.begin(), loops.end(), [&](const Loop& other) {
                const bool is_it = other.first == loop.first && other.last == loop.last;
                return !is_it && other.first >= loop.first && other.last <= loop.last;
            }))
            inner.push_back(loop);
    return inner;
}

bool on_stack(std::string_view text) {
    const bool in_memory = text.find("(%rsp") != text.npos || text.find("(%rbp") != text.npos;
    return in_memory && (text.find("%ymm") != text.npos || text.find("%zmm") != text.npos);
}

/// Offset of the template arguments of `tile` in `name`: in `row_tile<4, 2, false, float>(...)` that of the 4.
std::optional<std::size_t> arguments_of(std::string_view name, std::string_view tile) {
    const std::size_t at = name.find(std::string(tile) + '<');
    return at != name.npos ? std::optional(at + tile.size() + 1) : std::nullopt;
}

bool is_tile(std::string_view name, std::span<const std::string_view> tiles) {
    return std::any_of(tiles.begin(), tiles.end(),
                       [&](std::string_view tile) { return arguments_of(name, tile).has_value(); });
}

void check_loops(const std::string& path, std::string_view name, const std::vector<Line>& code, Faults& faults,
                 int& seen) {
    for (const Loop& loop : innermost(code)) {
        int products = 0, spills = 0;
        for (std::size_t i = loop.first; i <= loop.last; ++i) {
            products += code[i].text.starts_with("vfmadd");
            spills += on_stack(code[i].text);
        }
        if (products < 2) continue;
        ++seen;
        if (spills > 0)
            faults.push_back(path + ": " + std::string(name) + " has " + std::to_string(spills) +
                             " vectors on the stack in a loop of " + std::to_string(products) + " multiply-adds");
    }
}

/// Calls f(name, code) for every function.
template <typename F>
void each_function(std::string_view disassembly, F f) {
    std::string_view name;
    std::vector<Line> code;
    for (std::size_t from = 0; from < disassembly.size();) {
        const std::size_t end = std::min(disassembly.find('\n', from), disassembly.size());
        const std::string_view line = disassembly.substr(from, end - from);
        from = end + 1;
        if (line.ends_with(">:")) {
            f(name, code);
            code.clear();
            name = line.substr(std::min(line.find('<') + 1, line.size()));
            continue;
        }
        const std::size_t colon = line.find(":\t");
        const auto at = hexadecimal(line);
        if (colon != line.npos && at) code.push_back({*at, line.substr(colon + 2)});
    }
    f(name, code);
}

}  // namespace

std::optional<TileStep> multiply_adds_per_step(std::string_view name) {
    struct Tile {
        std::string_view name;
        std::size_t arguments;  ///< number of template arguments to multiply
        int times;
        bool has_type = false;  ///< true if a type argument precedes them
    };
    constexpr Tile tiles[] = {
        {"compute_tile", 3, 1, true}, {"compute_conv_tile", 2, 1}, {"product_tile", 2, 1}, {"dot_tile", 2, 1},
        {"score_tile", 2, 1},         {"key_tile", 1, 4},          {"row_tile", 2, 1}};
    if (name.find(", unsigned ") != name.npos) return std::nullopt;  // integers have no fused multiply-add
    for (const Tile& tile : tiles) {
        const std::optional<std::size_t> begin = arguments_of(name, tile.name);
        if (!begin) continue;
        std::size_t at = *begin;
        if (tile.has_type) at = std::min(name.find(", ", at), name.size() - 2) + 2;
        int products = tile.times;
        for (std::size_t i = 0; i < tile.arguments; ++i) {
            int number = 0;
            const auto [end, fault] = std::from_chars(name.data() + at, name.data() + name.size(), number);
            if (fault != std::errc()) return std::nullopt;
            products *= number;
            at = static_cast<std::size_t>(end - name.data()) + 2;
        }
        return TileStep{tile.name, products};
    }
    return std::nullopt;
}

Faults tiles_with_wrong_multiply_adds(const std::string& path, std::string_view disassembly,
                                      std::map<std::string_view, int>& seen) {
    Faults faults;
    each_function(disassembly, [&](std::string_view name, const std::vector<Line>& code) {
        const std::optional<TileStep> wanted = multiply_adds_per_step(name);
        if (!wanted) return;
        int most = 0;
        for (const Loop& loop : innermost(code)) {
            int products = 0;
            for (std::size_t i = loop.first; i <= loop.last; ++i) products += code[i].text.starts_with("vfmadd");
            most = std::max(most, products);
        }
        ++seen[wanted->tile];
        if (most == 0 || most % wanted->products != 0)
            faults.push_back(path + ": " + std::string(name) + " has " + std::to_string(most) +
                             " multiply-adds in its loop, not " + std::to_string(wanted->products));
    });
    return faults;
}

Faults spilled_loops(const std::string& path, std::string_view disassembly, std::span<const std::string_view> tiles,
                     int& seen) {
    Faults faults;
    each_function(disassembly, [&](std::string_view name, const std::vector<Line>& code) {
        if (is_tile(name, tiles)) check_loops(path, name, code, faults, seen);
    });
    return faults;
}

}  // namespace cairn::house
