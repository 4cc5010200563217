#include "fusion/pattern_search.hpp"

#include "fusion/candidate_numbers.hpp"
#include "fusion/solve_numbers.hpp"
#include "graph/ir/op_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cairn::fusion {
namespace {

using ir::NodeId;

// Maximum number of guesses for one pattern at one node; the right one is among the first few.
constexpr int max_guesses = 160;
// Maximum number of further guesses for a match that covers more than the ones found.
constexpr int max_further_guesses = 48;
constexpr std::size_t max_candidates = 8;
constexpr std::size_t max_predecessors = 16;

// True for a factor, an exponent or a term that may have been left out.
bool is_neutral(double number) { return number == 0 || number == 1; }

bool contains(std::span<const NodeId> list, NodeId id) { return std::find(list.begin(), list.end(), id) != list.end(); }

class EmbeddingSearch {
public:
    EmbeddingSearch(Matcher& matcher, const Pattern& pattern, NodeId root)
        : matcher_(matcher),
          graph_(matcher.graph()),
          pattern_(pattern),
          skeleton_(*pattern.skeleton.graph),
          calls_(matcher.calls(pattern)),
          root_(root),
          filled_(pattern.problem.attributes) {
        region_pairs_.push_back({pattern.skeleton.outputs[pattern.main_output], root});
        positions_ = term_positions(matcher.forms().normalizer(), matcher.forms()[root].core);
    }

    std::vector<Embedding> run() {
        align_regions(0, 0);
        if (found_.empty() && pattern_.has_expanded_exponentials && pattern_.skeleton.inputs.size() == 1)
            try_all_predecessors();
        std::reverse(found_.begin(), found_.end());
        return std::move(found_);
    }

private:
    bool done() const { return is_maximal_ || guesses_ >= max_guesses_; }

    // Finds a counterpart for each boundary op of region pair `at`, beginning with node `next` of its region; then
    // continues with the next pair.
    void align_regions(std::size_t at, std::size_t next) {
        if (done()) return;
        if (at == region_pairs_.size()) return choose_operands();
        const RegionPair region_pair = region_pairs_[at];
        const std::span<const NodeId> nodes = pattern_.regions->from(region_pair.skeleton).nodes;
        while (next < nodes.size() && !is_new_mark(nodes[next])) ++next;
        if (next == nodes.size()) return align_regions(at + 1, 0);

        const ir::Node& mark = skeleton_.node(nodes[next]);
        const std::uint64_t wanted = op_bit(mark.op);
        const auto is_partner = [&](NodeId id) {
            return matcher_.op_bit_of(id) == wanted && graph_.node(id).operands.size() == mark.operands.size();
        };
        std::span<const NodeId> region_nodes = matcher_.region_from(region_pair.graph).nodes;
        // Factors that do not vary along a summed axis may be outside the sum.
        if (std::none_of(region_nodes.begin(), region_nodes.end(), is_partner))
            region_nodes = matcher_.region_from(root_).nodes;
        paired_.push_back(nodes[next]);
        for (const NodeId candidate : region_nodes) {
            if (!is_partner(candidate)) continue;
            align_operands(mark, matcher_.operands(candidate), at, next);
            if (mark.op == ir::Op::matmul && is_transposed(candidate, region_nodes) && !done())
                align_operands(mark, std::array{matcher_.operands(candidate)[1], matcher_.operands(candidate)[0]}, at,
                               next);
            if (done()) break;
        }
        if (!done() && (pattern_.absent_ops & wanted) != 0) align_regions(at, next + 1);
        paired_.pop_back();
    }

    void align_operands(const ir::Node& mark, std::span<const NodeId> operands, std::size_t at, std::size_t next) {
        const std::size_t size = region_pairs_.size();
        for (std::size_t i = 0; i < operands.size(); ++i) region_pairs_.push_back({mark.operands[i], operands[i]});
        align_regions(at, next + 1);
        region_pairs_.resize(size);
    }

    bool is_transposed(NodeId id, std::span<const NodeId> nodes) const {
        return std::any_of(nodes.begin(), nodes.end(), [&](NodeId other) {
            return graph_.node(other).op == ir::Op::transpose && matcher_.operands(other)[0] == id;
        });
    }

    // Tries every value shortly before the node as the operand: with expanded exponentials no op shows where it is.
    void try_all_predecessors() {
        std::vector<NodeId> before{root_};
        numbers_.reset();
        for (std::size_t i = 0; i < before.size() && !done(); ++i) {
            for (const NodeId operand : matcher_.operands(before[i]))
                if (before.size() < max_predecessors && !contains(before, operand)) before.push_back(operand);
            if (i > 0 && bind(0, before[i])) guess({before[i]});
            calls_.sizes().rollback(0);
        }
    }

    bool is_new_mark(NodeId id) const {
        const ir::Node& node = skeleton_.node(id);
        return !is_arithmetic(node) && !node.operands.empty() &&
               std::find(paired_.begin(), paired_.end(), id) == paired_.end();
    }

    bool bind(std::size_t index, NodeId id) {
        return calls_.sizes().bind(index, graph_.node(id).dtype, graph_.node(id).shape);
    }

    // True if an opaque value occurs in the root's form at the operand's positions in the pattern's form. Always true
    // for other values.
    bool is_at_pattern_position(std::size_t index, NodeId id) const {
        const TermId core = matcher_.forms()[id].core;
        const TermKind kind = matcher_.forms().normalizer().term(core).kind;
        const auto& paths = pattern_.paths[index];
        return (kind != TermKind::leaf && kind != TermKind::op) ||
               std::all_of(paths.begin(), paths.end(), [&](std::uint32_t path) {
                   return std::find(positions_.begin(), positions_.end(), TermPosition{core, path}) != positions_.end();
               });
    }

    // The candidates for operand `index`: nodes in all regions that are paired with one containing the operand, nearest
    // first in the smallest of these. If the operand is alone in a region, only nodes with the same layout-insensitive
    // hash, first those without a factor, so that a scale outside is not taken into the operand.
    std::vector<NodeId> candidates(std::size_t index) {
        types::SmallVector<std::span<const NodeId>, 8> regions;
        std::size_t narrowest = 0;
        std::optional<std::size_t> alone;
        const NodeId input = pattern_.skeleton.inputs[index];
        const std::size_t leaf = pattern_.layout_hashes->of((*pattern_.forms)[input].core);
        for (const RegionPair& region_pair : region_pairs_) {
            const std::span<const NodeId> region_nodes = pattern_.regions->from(region_pair.skeleton).nodes;
            if (!contains(region_nodes, input)) continue;
            regions.push_back(matcher_.region_from(region_pair.graph).nodes);
            if (narrowest == 0 || region_nodes.size() < narrowest) {
                narrowest = region_nodes.size();
                std::swap(regions.front(), regions.back());
            }
            if (pattern_.layout_hashes->of((*pattern_.forms)[region_pair.skeleton].core) == leaf)
                alone = matcher_.layout_hash_of(region_pair.graph);
        }
        std::vector<NodeId> result;
        if (regions.empty()) return result;
        for (const NodeId id : regions.front())
            if (!matcher_.same_value(id, root_) && calls_.accepts_operand(index, id) &&
                std::all_of(regions.begin() + 1, regions.end(),
                            [&](const auto& region) { return contains(region, id); }) &&
                is_at_pattern_position(index, id))
                result.push_back(id);
        if (alone) {
            const auto rest = std::stable_partition(result.begin(), result.end(),
                                                    [&](NodeId id) { return matcher_.layout_hash_of(id) == *alone; });
            if (rest != result.begin()) result.erase(rest, result.end());
            result = sort_by_plainness(result);
        }
        if (result.size() > max_candidates) result.resize(max_candidates);
        // Of conditions that have the same effect under the pattern's own, the one computed from the least comes first.
        if (pattern_.problem.inputs[index].dtype == DType::boolean) std::reverse(result.begin(), result.end());
        return result;
    }

    // Values without a factor come first; of nodes with one form, which differ in leading axes of size 1, the oldest.
    std::vector<NodeId> sort_by_plainness(const std::vector<NodeId>& nearest_first) const {
        std::vector<NodeId> result;
        for (const NodeId nearest : nearest_first)
            for (auto it = nearest_first.rbegin(); it != nearest_first.rend(); ++it)
                if (matcher_.forms()[*it].core == matcher_.forms()[nearest].core && !contains(result, *it))
                    result.push_back(*it);
        std::stable_partition(result.begin(), result.end(),
                              [&](NodeId id) { return matcher_.forms()[id].factor == 1; });
        return result;
    }

    void choose_operands() {
        std::vector<std::vector<NodeId>> choices;
        for (std::size_t i = 0; i < pattern_.skeleton.inputs.size(); ++i) {
            choices.push_back(candidates(i));
            if (choices.back().empty()) return;
        }
        numbers_.reset();
        std::vector<NodeId> operands;
        choose_operand(choices, operands);
    }

    // Returns the operands to blame. If the one chosen here is not among them, no other choice of its type helps.
    OperandMask choose_operand(const std::vector<std::vector<NodeId>>& choices, std::vector<NodeId>& operands) {
        const std::size_t index = operands.size(), bound = calls_.sizes().bound();
        if (index == choices.size()) return guess(operands);
        const OperandMask bit = operand_bit(index);
        OperandMask blame = 0;
        std::vector<NodeId> hopeless;
        for (const NodeId id : choices[index]) {
            if (done()) return all_operands;
            const NodeTypes& types = matcher_.types();
            const auto same_type = [&](NodeId other) { return types.of(other) == types.of(id); };
            if (std::any_of(hopeless.begin(), hopeless.end(), same_type)) continue;
            operands.push_back(id);
            const OperandMask wrong = bind(index, id) ? choose_operand(choices, operands) : all_operands;
            operands.pop_back();
            calls_.sizes().rollback(bound);
            if ((wrong & bit) == 0) hopeless.push_back(id);
            blame |= wrong;
        }
        return blame & ~bit;
    }

    OperandMask guess(const std::vector<NodeId>& operands) {
        TypedCall& call = calls_.of(operands);
        if (!call.fits) return all_operands;
        if (pattern_.holes.empty()) return attempt(operands, call, pattern_.problem.attributes).blame;
        const std::size_t before = found_.size();
        Matcher::ProofResult last;
        is_solved_ = !can_solve();
        const std::vector<Attributes> known_attributes = matcher_.known_attributes(pattern_);
        for (const Attributes& known : known_attributes) {
            last = attempt(operands, call, known);
            if (found_.size() > before) return all_operands;
            const bool blames_others =
                std::none_of(pattern_.holes.begin(), pattern_.holes.end(),
                             [&](const Hole& hole) { return is_neutral(hole.number_in(known)); });
            if (blames_others && (last.blame & number_bit) == 0) return last.blame;
            if (!blames_others) last.unknown.reset();
        }
        if (!numbers_) numbers_ = candidate_numbers(matcher_, pattern_, region_pairs_);
        // Numbers that leave something out do not show whether other numbers would give the value.
        const auto is_untold = [](const std::vector<double>& numbers) {
            return std::all_of(numbers.begin(), numbers.end(), is_neutral);
        };
        if (std::any_of(numbers_->begin(), numbers_->end(), is_untold) && solve(operands, call, *numbers_))
            return all_operands;
        const auto is_empty = [](const std::vector<double>& numbers) { return numbers.empty(); };
        if (std::none_of(numbers_->begin(), numbers_->end(), is_empty))
            return fill(operands, call, *numbers_, 0, last.unknown).blame;
        std::vector<std::vector<double>> numbers = *numbers_;
        add_table_numbers(matcher_, pattern_, region_pairs_, call.types, numbers);
        add_whole_numbers(matcher_, pattern_, region_pairs_, call.types, numbers);
        return fill(operands, call, numbers, 0, last.unknown).blame;
    }

    // False for norms with a free added number: the graph must contain it. The norm of a multiple of a value is also
    // the norm of every other multiple, with another eps, and all these candidates would relate unrelated values. Also
    // false for whole numbers.
    bool can_solve() const {
        const auto& nodes = skeleton_.nodes();
        const bool has_reduction = std::any_of(
            nodes.begin(), nodes.end(), [](const ir::Node& node) { return ir::is(node, ir::OpClass::reduction); });
        return !(has_reduction && adds_free_constant(pattern_)) &&
               std::none_of(pattern_.holes.begin(), pattern_.holes.end(),
                            [](const Hole& hole) { return hole.is_whole; });
    }

    // Tries the numbers for which the form computed from the operands equals the root's; once for each choice of
    // operands. `held`: the numbers in the graph, for each hole.
    bool solve(std::span<const NodeId> operands, TypedCall& call, std::span<const std::vector<double>> fixed) {
        if (std::exchange(is_solved_, true)) return false;
        Attributes attributes = pattern_.problem.attributes;
        const auto put = [&](std::span<const double> numbers) {
            for (std::size_t i = 0; i < numbers.size(); ++i) pattern_.holes[i].put(numbers[i], attributes);
        };
        const auto pairs_of = [&](std::span<const double> numbers) -> std::optional<std::vector<CoefficientPair>> {
            put(numbers);
            const FilledInstance* filled = calls_.filled(call, attributes);
            if (filled == nullptr || !calls_.may_produce(call, root_)) return std::nullopt;
            const ScaledTerm made = matcher_.form_made({&pattern_, root_, operands, *filled, attributes});
            return coefficient_pairs(matcher_.forms().normalizer(), made, matcher_.forms()[root_]);
        };
        // Equal parts of a maximum are in the order of their numbers: below and above 1 they may be paired differently.
        for (const double scale : {1.0, 0x1p10}) {
            std::vector<double> start;
            for (const Hole& hole : pattern_.holes) start.push_back(hole.sentinel * scale);
            for (const std::vector<double>& numbers : solve_numbers(pairs_of, std::move(start)))
                if (try_signs(operands, call, numbers, fixed)) return true;
        }
        return false;
    }

    // The shortest number that rounds to the solution. A solution has the rounding errors of f64, so for f64 the number
    // in the graph is taken instead, if there is one.
    double written_or_shortest(double solved, std::span<const double> fixed, DType dtype) {
        for (const double number : fixed)
            if (dtype == DType::f64 && Normalizer::close(std::fabs(number), std::fabs(solved), dtype))
                return std::copysign(number, solved);
        return shortest_within_rounding(matcher_, solved, dtype);
    }

    // Tries both signs of these numbers: an even function does not depend on the sign, and for a negative number the
    // result may differ from that for the positive numbers of the solver.
    bool try_signs(std::span<const NodeId> operands, TypedCall& call, const std::vector<double>& numbers,
                   std::span<const std::vector<double>> fixed) {
        constexpr std::size_t max_signs = 3;
        const std::size_t before = found_.size();
        const DType dtype = graph_.node(root_).dtype;
        Attributes attributes = pattern_.problem.attributes;
        for (std::size_t signs = 0; signs < std::size_t{1} << std::min(numbers.size(), max_signs); ++signs)
            for (const bool is_short : {true, false}) {
                for (std::size_t i = 0; i < numbers.size(); ++i) {
                    const double number = is_short ? written_or_shortest(numbers[i], fixed[i], dtype) : numbers[i];
                    pattern_.holes[i].put(i < max_signs && (signs >> i) % 2 != 0 ? -number : number, attributes);
                }
                attempt(operands, call, attributes);
                if (found_.size() == before) continue;
                matcher_.remember(pattern_, attributes);
                return true;
            }
        return false;
    }

    // A failure with the same unknown value for two numbers does not depend on the number in this hole.
    Matcher::ProofResult fill(std::span<const NodeId> operands, TypedCall& call,
                              std::span<const std::vector<double>> numbers, std::size_t hole,
                              std::optional<std::size_t> unknown) {
        const std::size_t before = found_.size();
        const Matcher::ProofResult right{std::nullopt, all_operands, std::nullopt, false};
        if (hole == numbers.size()) {
            Matcher::ProofResult verdict = attempt(operands, call, filled_);
            if (found_.size() > before) matcher_.remember(pattern_, filled_);
            if (verdict.differs_in_numbers) solve(operands, call, numbers);
            return found_.size() > before ? right : verdict;
        }
        Matcher::ProofResult all{{}, numbers[hole].empty() ? all_operands : 0, unknown, false};
        const auto with = [&](double number) {
            pattern_.holes[hole].put(number, filled_);
            return fill(operands, call, numbers, hole + 1, all.unknown);
        };
        for (const double number : numbers[hole]) {
            if (done()) break;
            Matcher::ProofResult verdict = with(number);
            if (found_.size() > before) return right;
            // If a factor of 1 or a term of 0 is left out, the result shows nothing about other numbers.
            const bool hangs_on_none = !is_neutral(number) && (verdict.blame & number_bit) == 0;
            if (verdict.unknown && (verdict.unknown == all.unknown || hangs_on_none)) {
                if (!hangs_on_none && number != 0 && numbers[hole].back() == 0) with(0);
                return verdict;
            }
            all.blame |= verdict.blame;
            all.unknown = verdict.unknown;
        }
        all.unknown.reset();
        return all;
    }

    Matcher::ProofResult attempt(std::span<const NodeId> operands, TypedCall& call, const Attributes& attributes) {
        ++guesses_;
        const Matcher::ProofResult whatever_numbers{std::nullopt, all_operands & ~number_bit, std::size_t{0}, false};
        if (!calls_.may_produce(call, root_)) return whatever_numbers;
        const FilledInstance* filled = calls_.filled(call, attributes);
        if (call.is_rejected) return whatever_numbers;
        if (filled == nullptr) return {};
        if (!calls_.may_produce(call, root_)) return whatever_numbers;
        Matcher::ProofResult verdict = matcher_.prove({&pattern_, root_, operands, *filled, attributes});
        if (verdict.match && !filled->numbers.empty()) {
            filled = calls_.exact_instance(call, attributes);
            if (filled == nullptr) return {};
            verdict = matcher_.prove({&pattern_, root_, operands, *filled, attributes});
        }
        if (verdict.match) add(*std::exchange(verdict.match, std::nullopt), operands, attributes);
        return verdict;
    }

    void add(Match match, std::span<const NodeId> operands, const Attributes& attributes) {
        if (!found_.empty() && match.interior.size() <= found_.back().match.interior.size()) return;
        // If numbers are not solved for, one that leaves nothing out is the program's own.
        const bool is_own =
            !can_solve() && std::none_of(pattern_.holes.begin(), pattern_.holes.end(),
                                         [&](const Hole& hole) { return is_neutral(hole.number_in(attributes)); });
        is_maximal_ = pattern_.holes.empty() || is_own ||
                      std::none_of(operands.begin(), operands.end(), [&](NodeId id) { return contains_number(id); });
        found_.push_back({std::move(match), {operands.begin(), operands.end()}});
        max_guesses_ = std::min(max_guesses_, guesses_ + max_further_guesses);
    }

    // True for a value that is computed with a number.
    bool contains_number(NodeId id) const {
        const auto nodes = matcher_.region_from(id).nodes;
        return matcher_.forms()[id].factor != 1 || std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) {
                   const ir::Node& number = graph_.node(node);
                   return number.op == ir::Op::constant && number.shape.empty();
               });
    }

    Matcher& matcher_;
    const ir::GraphData& graph_;
    const Pattern& pattern_;
    const ir::GraphData& skeleton_;
    CallCache& calls_;
    NodeId root_;
    std::vector<TermPosition> positions_;  // in the root's form
    std::vector<RegionPair> region_pairs_;
    std::vector<NodeId> paired_;                               // of the skeleton, already paired
    std::optional<std::vector<std::vector<double>>> numbers_;  // for the current pairs, computed on demand
    Attributes filled_;                                        // the pattern's, with numbers in the holes
    std::vector<Embedding> found_;                             // each covers more than the one before
    bool is_maximal_ = false;                                  // no match covers more than the last found
    bool is_solved_ = false;                                   // for the current operands
    int guesses_ = 0, max_guesses_ = max_guesses;
};

}  // namespace

std::vector<Embedding> find_embeddings(Matcher& matcher, const Pattern& pattern, NodeId root) {
    return EmbeddingSearch(matcher, pattern, root).run();
}

}  // namespace cairn::fusion
