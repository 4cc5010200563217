#pragma once

#include "cairn/compile.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Classification of texts by a lexicon: the mean score of the words that it lists. A baseline for trained models.
namespace cairn::inline v0::models {

/// The class of a text.
enum class Sentiment : std::uint8_t { negative, neutral, positive };
/// `negative`, `neutral`, `positive`.
CAIRN_API std::string_view to_string(Sentiment sentiment) noexcept;

/// The result for one text.
struct SentimentScore {
    float score = 0;  ///< mean of the scores of the entries that the text has; 0 if it has none
    Sentiment sentiment = Sentiment::neutral;
    friend bool operator==(const SentimentScore&, const SentimentScore&) = default;
};

/// Options of a Lexicon.
struct LexiconOptions {
    std::int64_t max_batch = 8;        ///< texts of one run; classify() takes any number
    std::int64_t max_entries = 65536;  ///< found in one text
    float negative_below = 0;          ///< a mean score below it is negative
    float positive_above = 0;          ///< a mean score above it is positive; at least negative_below
};

/// The graph of a lexicon of `entries` scores. Inputs: `ids` i32[B,S], the entries found in each text, and `mask`
/// bool[B,S] (false: padding). Weight: `scores` f32[entries]. Outputs: `score` f32[B], and `class` i32[B], the value of
/// a Sentiment:
///
///     score[b] = sum_s where(mask[b,s], scores[ids[b,s]], 0) / max(number of s with mask[b,s], 1)
///
/// Symbols: B in 0..max_batch, S in 0..max_entries. Throws Error(argument) for entries, max_batch or max_entries below
/// 1 or above 2^31 - 1, and for thresholds that are no finite numbers or not in order.
CAIRN_API Graph lexicon_graph(std::int64_t entries, const LexiconOptions& options = {});

struct LexiconEntries;

/// A compiled lexicon: lines `word<TAB>score` in UTF-8, as AFINN has them (Nielsen, arXiv 1103.2903). Not thread-safe.
///
///     Lexicon lexicon = Lexicon::load("examples/models/lexicon.tsv", context);
///     lexicon.classify(texts)[0].sentiment
///
/// Words are those of text::folded_words(), in entries and in texts: upper and lower case are equal. An entry may have
/// several words: it is found where these follow one another in a text, whatever separates them. From left to right the
/// longest entry is taken, whose words are then used up: with `not good` in a lexicon, "not good" has one entry.
class CAIRN_API Lexicon {
public:
    /// Reads a file, compiles and binds. Throws Error(file) with the line for one without a tab, an entry without a
    /// word, a score that is no finite number, an entry that is there twice, or bytes that are not UTF-8; for a file
    /// without lines; and what lexicon_graph() and compile() throw.
    static Lexicon load(const std::filesystem::path& path, const Context& context, const LexiconOptions& options = {},
                        const CompileOptions& compile_options = {});

    /// The result of each text, in runs of at most max_batch texts. Throws Error(argument) for a text with more than
    /// max_entries.
    std::vector<SentimentScore> classify(std::span<const std::string> texts);
    /// The entries that a text has, in its order: their lines in the file, from 0.
    std::vector<std::int32_t> encode(std::string_view text) const;

    /// The scores of all entries, in the order of the file.
    std::span<const float> scores() const noexcept;
    /// The underlying compiled graph.
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options for the runs of classify(): stop, progress, profile.
    RunOptions run_options;

private:
    Lexicon(std::shared_ptr<const LexiconEntries> entries, const LexiconOptions& options, CompiledGraph compiled);
    void run(std::span<const std::vector<std::int32_t>> rows, std::vector<SentimentScore>& results);

    std::shared_ptr<const LexiconEntries> entries_;
    LexiconOptions options_;
    CompiledGraph compiled_;
    std::vector<std::int32_t> ids_;
    std::vector<std::uint8_t> mask_;
};

}  // namespace cairn::inline v0::models
