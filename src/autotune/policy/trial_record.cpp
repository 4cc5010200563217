#include "autotune/policy/trial_record.hpp"

#include "graph/ir/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace cairn::autotune {
namespace {

constexpr std::string_view best_word = "best ", without_word = "without ", only_word = "only ",
                           rejected_word = "beaten ";

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

bool read_line(std::string_view line, TrialRecord& trial_record) {
    const auto rest = [&](std::string_view word) { return line.substr(word.size()); };
    if (line == "complete") return trial_record.complete = true;
    if (line == "thorough") return trial_record.is_thorough = true;
    for (const auto& [word, kinds] :
         {std::pair{without_word, &trial_record.terms.without}, {only_word, &trial_record.terms.only}}) {
        if (!line.starts_with(word)) continue;
        std::optional<selection::CallKind> kind = selection::parse_call_kind(rest(word));
        if (kind) kinds->push_back(*std::move(kind));
        return kind.has_value();
    }
    const bool is_best = line.starts_with(best_word);
    if (!is_best && !line.starts_with(rejected_word)) return false;
    const std::optional<Digest> digest = parse_digest(rest(is_best ? best_word : rejected_word));
    if (!digest) return false;
    if (is_best)
        trial_record.best = *digest;
    else
        trial_record.rejected.push_back(*digest);
    return true;
}

/// Digest of sizes, weights and costs besides time. `rest(b)`: text that identifies bucket b beyond these.
template <typename F>
Digest name_with(std::span<const selection::Bucket> buckets, const selection::Options& options, F rest) {
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

std::string to_string(const TrialRecord& trial_record) {
    std::string text = trial_record.complete ? "complete\n" : "";
    if (trial_record.is_thorough) text += "thorough\n";
    text += fmt::format("{}{}\n", best_word, cairn::to_string(trial_record.best));
    for (const selection::CallKind& kind : trial_record.terms.without)
        text += fmt::format("{}{}\n", without_word, selection::to_string(kind));
    for (const selection::CallKind& kind : trial_record.terms.only)
        text += fmt::format("{}{}\n", only_word, selection::to_string(kind));
    for (const Digest& rejected : trial_record.rejected)
        text += fmt::format("{}{}\n", rejected_word, cairn::to_string(rejected));
    return text;
}

std::optional<TrialRecord> parse_trial_record(std::string_view text) {
    TrialRecord trial_record;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = text.find('\n', from);
        if (to == text.npos || !read_line(text.substr(from, to - from), trial_record)) return std::nullopt;
        from = to + 1;
    }
    if (trial_record.best == Digest()) return std::nullopt;
    return trial_record;
}

Digest name_of(std::span<const selection::Bucket> buckets, const selection::Selections& covers,
               const selection::Options& options) {
    return name_with(buckets, options,
                     [&](std::size_t b) { return cairn::to_string(selection::digest_of(covers.buckets[b])); });
}

Digest name_of(std::span<const selection::Bucket> buckets, const selection::Options& options) {
    return name_with(buckets, options, [&](std::size_t b) { return ir::print(buckets[b].graph); });
}

bool is_known(const TrialRecord& trial_record, const Digest& name) {
    return trial_record.best == name ||
           std::find(trial_record.rejected.begin(), trial_record.rejected.end(), name) != trial_record.rejected.end();
}

std::optional<selection::Selections> best_of(const TrialRecord& trial_record, const selection::Selections& chosen,
                                             std::span<const selection::Bucket> buckets,
                                             const selection::Options& options) {
    std::optional<selection::Selections> best =
        trial_record.terms == selection::CoverConstraints()
            ? chosen
            : selection::cheapest_covers_under(trial_record.terms, chosen, buckets, options);
    if (best && trial_record.terms.only.empty() && name_of(buckets, *best, options) != trial_record.best) best.reset();
    return best;
}

}  // namespace cairn::autotune
