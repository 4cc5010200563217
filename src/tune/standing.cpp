#include "tune/standing.hpp"

#include "ir/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace cairn::inline v0::tune {
namespace {

constexpr std::string_view best_word = "best ", without_word = "without ", only_word = "only ",
                           beaten_word = "beaten ";

std::optional<Digest> parse_digest(std::string_view text) {
    if (text.size() != 32) return std::nullopt;
    Digest digest;
    const auto half = [&](std::size_t from, std::uint64_t& into) {
        const char* const end = text.data() + from + 16;
        const auto [stop, fault] = std::from_chars(text.data() + from, end, into, 16);
        return fault == std::errc() && stop == end;
    };
    if (!half(0, digest.high) || !half(16, digest.low)) return std::nullopt;
    return digest;
}

bool read_line(std::string_view line, Standing& standing) {
    const auto rest = [&](std::string_view word) { return line.substr(word.size()); };
    if (line == "complete") return standing.complete = true;
    if (line == "thorough") return standing.is_thorough = true;
    for (const auto& [word, kinds] : {std::pair{without_word, &standing.terms.without}, {only_word, &standing.terms.only}}) {
        if (!line.starts_with(word)) continue;
        std::optional<select::Kind> kind = select::parse_kind(rest(word));
        if (kind) kinds->push_back(*std::move(kind));
        return kind.has_value();
    }
    const bool is_best = line.starts_with(best_word);
    if (!is_best && !line.starts_with(beaten_word)) return false;
    const std::optional<Digest> digest = parse_digest(rest(is_best ? best_word : beaten_word));
    if (!digest) return false;
    if (is_best)
        standing.best = *digest;
    else
        standing.beaten.push_back(*digest);
    return true;
}

/// `rest(b)`: what else tells a bucket.
template <typename F>
Digest name_with(std::span<const select::Bucket> buckets, const select::Options& options, F rest) {
    std::string text = fmt::format("{} a byte\n", options.seconds_per_kept_byte);
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        text += fmt::format("{} times", buckets[b].weight);
        for (const Symbols::Symbol& symbol : buckets[b].graph.symbols()->list())
            text += fmt::format(" {} in {}..{}", symbol.name, symbol.low, symbol.high);
        text += fmt::format(" {}\n", rest(b));
    }
    return digest(text);
}

}  // namespace

std::string to_string(const Standing& standing) {
    std::string text = standing.complete ? "complete\n" : "";
    if (standing.is_thorough) text += "thorough\n";
    text += fmt::format("{}{}\n", best_word, cairn::to_string(standing.best));
    for (const select::Kind& kind : standing.terms.without)
        text += fmt::format("{}{}\n", without_word, select::to_string(kind));
    for (const select::Kind& kind : standing.terms.only)
        text += fmt::format("{}{}\n", only_word, select::to_string(kind));
    for (const Digest& beaten : standing.beaten) text += fmt::format("{}{}\n", beaten_word, cairn::to_string(beaten));
    return text;
}

std::optional<Standing> parse_standing(std::string_view text) {
    Standing standing;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = text.find('\n', from);
        if (to == text.npos || !read_line(text.substr(from, to - from), standing)) return std::nullopt;
        from = to + 1;
    }
    if (standing.best == Digest()) return std::nullopt;
    return standing;
}

Digest name_of(std::span<const select::Bucket> buckets, const select::Selections& covers,
               const select::Options& options) {
    return name_with(buckets, options,
                     [&](std::size_t b) { return cairn::to_string(select::digest_of(covers.buckets[b])); });
}

Digest name_of(std::span<const select::Bucket> buckets, const select::Options& options) {
    return name_with(buckets, options, [&](std::size_t b) { return ir::print(buckets[b].graph); });
}

bool is_known(const Standing& standing, const Digest& name) {
    return standing.best == name ||
           std::find(standing.beaten.begin(), standing.beaten.end(), name) != standing.beaten.end();
}

std::optional<select::Selections> best_of(const Standing& standing, const select::Selections& chosen,
                                          std::span<const select::Bucket> buckets, const select::Options& options) {
    std::optional<select::Selections> best =
        standing.terms == select::Terms() ? chosen : select::cheapest_on(standing.terms, chosen, buckets, options);
    if (best && standing.terms.only.empty() && name_of(buckets, *best, options) != standing.best) best.reset();
    return best;
}

}  // namespace cairn::inline v0::tune
