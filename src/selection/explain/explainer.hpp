#pragma once

#include "cairn/explanation.hpp"
#include "program/program.hpp"
#include "selection/choose/select.hpp"
#include "selection/search/min_marginals.hpp"

#include <cstdint>
#include <limits>
#include <set>
#include <source_location>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cairn::selection {

/// What is kept of a choice for those who ask why: what kernels said to each problem, the ways to come by each value,
/// and what all alternatives cost. In few words: no graph, no constant, no problem but as text. What a way would cost
/// more is found when it is asked for. Never changes; any thread may ask. The kernels must outlive it.
class Explainer {
public:
    /// Throws Cancelled on a stop.
    Explainer(const Memo& memo, std::span<const Bucket> buckets, const std::stop_token& stop = {});

    /// Adds what is known of the programs that a path became: one for each bucket, whose instructions stand in the
    /// explanation already, in their order. Throws Cancelled on a stop.
    void explain(std::span<const int> path, std::span<const program::Program* const> programs, Explanation& explanation,
                 const std::stop_token& stop = {}) const;

private:
    using Numbers = types::SmallVector<int, 4>;
    struct Answer {
        const Kernel* kernel;
        const Refusal* refusal;  // one of the part's
        Estimate estimate;
        RefusedBy by;
    };
    // A problem and the answers to it, by where they begin and end in the part's.
    struct Request {
        std::size_t text, text_end, answer, answer_end;
    };
    /// What the kernels for a tile were asked, and the most that they may be off.
    struct Match {
        Numbers asked;
        double rounding = 0;  ///< by which it is off besides
        double limit = std::numeric_limits<double>::infinity();
    };
    /// By a tile, or by a view of another value, unless that is given.
    struct Producer {
        std::string definition, view;
        alternatives::Laws laws;
        int match = -1, base = -1;
        Numbers choices = {};
    };
    struct Value {
        DType dtype;
        Shape shape;
        std::string op;
        std::source_location where;
        bool once;
        std::vector<Producer> alternatives;
        std::string name;
    };
    /// Of an alternative of the search: for which value, and by which kernel, asked what.
    struct ChoiceRecord {
        int value = -1;
        int asked = -1, match = -1;
        const Kernel* kernel = nullptr;
    };
    struct BucketRecord {
        std::vector<std::vector<std::pair<std::string, std::int64_t>>> sizes;
        // Many are asked: their texts and answers lie side by side, so that letting go of them is quick.
        std::vector<Request> asked;
        std::string texts;
        std::vector<Answer> answers;
        std::set<Refusal> refusals;
        std::vector<Match> matches;
        std::vector<std::vector<std::string>> names;  // that users gave to what each tile computes
        std::vector<Value> values;
        std::vector<ErrorBudget> bounds;
        double weight = 1;
    };
    /// Amounts summed along a path besides its cost: run time over all weighted buckets; bytes kept; the price of those
    /// bytes and of work done once, in seconds; calls whose measurement failed; calls left unmeasured by a tune.
    enum AmountKind : std::uint8_t { run, bytes, price, failed, unmeasured };
    class Collector;
    struct SearchResult;

    ExplainedKernel verdict(const BucketRecord& record, const Request& asked, const Answer& answer,
                            const Match& match) const;
    std::vector<ExplainedKernel> verdicts(const BucketRecord& record, const Match& match,
                                          const ChoiceRecord* first) const;
    ExplainedInstruction instruction(const BucketRecord& record, int choice, const std::string& decision) const;
    ExplainedAlternative way(const BucketRecord& record, const Producer& way, const SearchResult& found,
                             int taken) const;
    search::Amounts amounts_of(const Memo& memo, std::span<const Bucket> buckets, int choice) const;
    void compare(const SearchResult& found, int choice, int taken, double weight,
                 ExplainedAlternative& explained) const;
    ExplainedValue value(const BucketRecord& record, const Value& value, const SearchResult& found) const;

    SearchResult search(int bucket, std::span<const int> path, const std::stop_token& stop) const;

    search::SearchProblem problem_;
    std::vector<int> bucket_of_;            // of each goal; search::shared: kept for any
    std::vector<ChoiceRecord> choices_;     // of each alternative
    std::vector<search::Amounts> amounts_;  // of each: see Counted
    std::vector<Memo::ErrorTerms> errors_;
    std::vector<BucketRecord> records_;  // of each bucket
};

}  // namespace cairn::selection
