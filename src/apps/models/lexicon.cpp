#include "cairn/models/lexicon.hpp"

#include "apps/models/blocks.hpp"
#include "apps/models/lexicon_entries.hpp"
#include "cairn/error.hpp"
#include "cairn/ops.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::models {
namespace {

/// The weight `scores`, which the entries keep in memory.
WeightSource scores_of(const std::shared_ptr<const LexiconEntries>& entries) {
    return [entries](std::string_view) {
        InputView view;
        view.dtype = DType::f32;
        view.shape = {static_cast<std::int64_t>(entries->scores.size())};
        view.data = entries->scores.data();
        return view;
    };
}

}  // namespace

std::string_view to_string(Sentiment sentiment) noexcept {
    return sentiment == Sentiment::negative ? "negative" : sentiment == Sentiment::neutral ? "neutral" : "positive";
}

Graph lexicon_graph(std::int64_t entries, const LexiconOptions& options) {
    check_sizes("lexicon",
                {{"entries", entries}, {"max_batch", options.max_batch}, {"max_entries", options.max_entries}});
    if (!std::isfinite(options.negative_below) || !std::isfinite(options.positive_above) ||
        options.negative_below > options.positive_above)
        throw Error(ErrorKind::argument, "lexicon",
                    "negative_below must not exceed positive_above, and both be finite");
    Graph graph("lexicon");
    const Dim batch = graph.symbol("B", 0, options.max_batch), length = graph.symbol("S", 0, options.max_entries);
    const Tensor ids = graph.input("ids", DType::i32, {batch, length});
    const Tensor mask = graph.input("mask", DType::boolean, {batch, length});
    const Tensor scores = graph.weight("scores", DType::f32, {entries});
    const Tensor found = where(mask, gather(scores, ids), 0.0f);
    const Tensor count = sum(cast(mask, DType::f32), {1});
    const Tensor score = name(sum(found, {1}) / max(count, 1.0f), "mean score");
    const auto value = [&](Sentiment sentiment) {
        return graph.constant(DType::i32, static_cast<std::int32_t>(sentiment));
    };
    graph.output("score", score);
    graph.output("class",
                 where(score < options.negative_below, value(Sentiment::negative),
                       where(score > options.positive_above, value(Sentiment::positive), value(Sentiment::neutral))));
    return graph;
}

Lexicon::Lexicon(std::shared_ptr<const LexiconEntries> entries, const LexiconOptions& options, CompiledGraph compiled)
    : entries_(std::move(entries)), options_(options), compiled_(std::move(compiled)) {}

Lexicon Lexicon::load(const std::filesystem::path& path, const Context& context, const LexiconOptions& options,
                      const CompileOptions& compile_options) {
    const auto entries = std::make_shared<const LexiconEntries>(LexiconEntries::read(path));
    const Graph graph = lexicon_graph(static_cast<std::int64_t>(entries->scores.size()), options);
    Lexicon lexicon(entries, options, compile(graph, context, compile_options));
    lexicon.compiled_.bind(scores_of(entries), compile_options.progress, compile_options.stop);
    return lexicon;
}

std::vector<std::int32_t> Lexicon::encode(std::string_view text) const { return entries_->find(text); }

std::span<const float> Lexicon::scores() const noexcept { return entries_->scores; }

std::vector<SentimentScore> Lexicon::classify(std::span<const std::string> texts) {
    std::vector<std::vector<std::int32_t>> rows;
    for (const std::string& text : texts) {
        rows.push_back(encode(text));
        if (rows.back().size() > static_cast<std::size_t>(options_.max_entries))
            throw Error(ErrorKind::argument, "lexicon",
                        "a text has " + std::to_string(rows.back().size()) + " entries, more than max_entries, " +
                            std::to_string(options_.max_entries));
    }
    std::vector<SentimentScore> results;
    const auto step = static_cast<std::size_t>(options_.max_batch);
    for (std::size_t first = 0; first < rows.size(); first += step)
        run(std::span(rows).subspan(first, std::min(step, rows.size() - first)), results);
    return results;
}

/// Appends the results of some rows, which are padded to the longest and masked.
void Lexicon::run(std::span<const std::vector<std::int32_t>> rows, std::vector<SentimentScore>& results) {
    std::size_t length = 0;
    for (const auto& row : rows) length = std::max(length, row.size());
    ids_.assign(rows.size() * length, 0);
    mask_.assign(ids_.size(), 0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto first = static_cast<std::ptrdiff_t>(r * length);
        std::ranges::copy(rows[r], ids_.begin() + first);
        std::fill_n(mask_.begin() + first, rows[r].size(), std::uint8_t{1});
    }
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(length)};
    compiled_.set("ids", ids_.data(), shape);
    compiled_.set("mask", static_cast<const void*>(mask_.data()), shape);
    compiled_.run(run_options);
    const std::span<const float> scores = compiled_.output("score").as<float>();
    const std::span<const std::int32_t> classes = compiled_.output("class").as<std::int32_t>();
    for (std::size_t r = 0; r < rows.size(); ++r) results.push_back({scores[r], static_cast<Sentiment>(classes[r])});
}

}  // namespace cairn::inline v0::models
