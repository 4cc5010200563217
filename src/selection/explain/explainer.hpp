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

/// Record of a selection that explains it later: the answers of kernels to each problem, the alternatives of each
/// value, and the costs of all alternatives. Compact: no graph, no constants, problems as text only. The extra cost of
/// an alternative is computed on request. Immutable and safe for concurrent use. The kernels must outlive it.
class Explainer {
public:
    /// Throws Cancelled on a stop.
    Explainer(const Memo& memo, std::span<const Bucket> buckets, const std::stop_token& stop = {});

    /// Adds what is known of the programs emitted from a path, one for each bucket; `explanation` already lists their
    /// instructions, in order. Throws Cancelled on a stop.
    void explain(std::span<const int> path, std::span<const program::Program* const> programs, Explanation& explanation,
                 const std::stop_token& stop = {}) const;

private:
    using Numbers = types::SmallVector<int, 4>;
    struct Answer {
        const Kernel* kernel;
        const Refusal* refusal;  // in BucketRecord::refusals
        Estimate estimate;
        RefusedBy by;
    };
    // A problem and its answers, as ranges of BucketRecord::texts and answers.
    struct Request {
        std::size_t text, text_end, answer, answer_end;
    };
    /// The queries of a match's kernels, and the largest error allowed.
    struct Match {
        Numbers asked;
        double rounding = 0;  ///< error of the match's own roundings
        double limit = std::numeric_limits<double>::infinity();
    };
    /// An alternative of a value: by a match, or by a view of another value (`base`) unless that is always available.
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
        bool at_bind;
        std::vector<Producer> alternatives;
        std::string name;
    };
    /// An alternative of the search: the value, the kernel and the query.
    struct ChoiceRecord {
        int value = -1;
        int asked = -1, match = -1;
        const Kernel* kernel = nullptr;
    };
    struct BucketRecord {
        std::vector<std::vector<std::pair<std::string, std::int64_t>>> sizes;
        // There are many queries: contiguous texts and answers are freed quickly.
        std::vector<Request> asked;
        std::string texts;
        std::vector<Answer> answers;
        std::set<Refusal> refusals;
        std::vector<Match> matches;
        std::vector<std::vector<std::string>> names;  // that users gave to the values of each match
        std::vector<Value> values;
        std::vector<accuracy::ErrorBudget> bounds;
        double weight = 1;
    };
    /// Amounts summed along a path besides its cost: run time over all weighted buckets; bytes kept; the price of those
    /// bytes and of work done once, in seconds; calls whose measurement failed; calls left unmeasured by a tuning run.
    enum AmountKind : std::uint8_t { run, bytes, price, failed, unmeasured };
    class Collector;
    struct SearchResult;

    ExplainedKernel verdict(const BucketRecord& record, const Request& asked, const Answer& answer,
                            const Match& match) const;
    std::vector<ExplainedKernel> explain_kernels(const BucketRecord& record, const Match& match,
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
    std::vector<search::Amounts> amounts_;  // of each alternative; see AmountKind
    std::vector<Memo::ErrorTerms> errors_;
    std::vector<BucketRecord> records_;  // of each bucket
};

}  // namespace cairn::selection
