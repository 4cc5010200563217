#include "fuse/search.hpp"

#include "fuse/numbers.hpp"
#include "fuse/solve_numbers.hpp"
#include "ir/op_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

// Guesses for one pattern at one node; the right one is among the first few.
constexpr int most_guesses = 160;
// More guesses for a match that covers more than one already found.
constexpr int most_further = 48;
constexpr std::size_t most_candidates = 8;
constexpr std::size_t most_before = 16;

// A factor, an exponent or a term that may be left out.
bool is_neutral(double number) { return number == 0 || number == 1; }

bool contains(std::span<const NodeId> list, NodeId id) { return std::find(list.begin(), list.end(), id) != list.end(); }

class Search {
public:
    Search(Matcher& matcher, const Pattern& pattern, NodeId root)
        : matcher_(matcher),
          graph_(matcher.graph()),
          pattern_(pattern),
          skeleton_(*pattern.skeleton.graph),
          calls_(matcher.calls(pattern)),
          root_(root),
          filled_(pattern.problem.attributes) {
        overlays_.push_back({pattern.skeleton.outputs[pattern.main], root});
        places_ = places_in(matcher.forms().canon(), matcher.forms()[root].core);
    }

    std::vector<Match> run() {
        lay(0, 0);
        if (found_.empty() && pattern_.is_opened && pattern_.skeleton.inputs.size() == 1) try_all_before();
        std::reverse(found_.begin(), found_.end());
        return std::move(found_);
    }

private:
    bool done() const { return is_whole_ || guesses_ >= most_guesses_; }

    // Finds a partner for each mark on the rim of overlay `at`, from the `next`-th node of its region on; then goes on
    // to the next overlay.
    void lay(std::size_t at, std::size_t next) {
        if (done()) return;
        if (at == overlays_.size()) return choose_operands();
        const Overlay overlay = overlays_[at];
        const std::span<const NodeId> nodes = pattern_.regions->from(overlay.skeleton).nodes;
        while (next < nodes.size() && !is_new_mark(nodes[next])) ++next;
        if (next == nodes.size()) return lay(at + 1, 0);

        const ir::Node& mark = skeleton_.node(nodes[next]);
        const std::uint64_t wanted = mark_of(mark.op);
        const auto is_partner = [&](NodeId id) {
            return matcher_.mark(id) == wanted && graph_.node(id).operands.size() == mark.operands.size();
        };
        std::span<const NodeId> there = matcher_.region_from(overlay.graph).nodes;
        // What does not vary along a summed axis may stand outside the sum.
        if (std::none_of(there.begin(), there.end(), is_partner)) there = matcher_.region_from(root_).nodes;
        marks_.push_back(nodes[next]);
        for (const NodeId candidate : there) {
            if (!is_partner(candidate)) continue;
            lay_beside(mark, matcher_.operands(candidate), at, next);
            if (mark.op == ir::Op::matmul && is_transposed(candidate, there) && !done())
                lay_beside(mark, std::array{matcher_.operands(candidate)[1], matcher_.operands(candidate)[0]}, at,
                           next);
            if (done()) break;
        }
        if (!done() && (pattern_.vanishing & wanted) != 0) lay(at, next + 1);
        marks_.pop_back();
    }

    void lay_beside(const ir::Node& mark, std::span<const NodeId> operands, std::size_t at, std::size_t next) {
        const std::size_t size = overlays_.size();
        for (std::size_t i = 0; i < operands.size(); ++i) overlays_.push_back({mark.operands[i], operands[i]});
        lay(at, next + 1);
        overlays_.resize(size);
    }

    bool is_transposed(NodeId id, std::span<const NodeId> nodes) const {
        return std::any_of(nodes.begin(), nodes.end(), [&](NodeId other) {
            return graph_.node(other).op == ir::Op::transpose && matcher_.operands(other)[0] == id;
        });
    }

    // The operand may be any value shortly before: where exponentials open, no op tells where it stands.
    void try_all_before() {
        std::vector<NodeId> before{root_};
        numbers_.reset();
        for (std::size_t i = 0; i < before.size() && !done(); ++i) {
            for (const NodeId operand : matcher_.operands(before[i]))
                if (before.size() < most_before && !contains(before, operand)) before.push_back(operand);
            if (i > 0 && bind(0, before[i])) guess({before[i]});
            calls_.sizes().forget(0);
        }
    }

    bool is_new_mark(NodeId id) const {
        const ir::Node& node = skeleton_.node(id);
        return !is_arithmetic(node) && !node.operands.empty() &&
               std::find(marks_.begin(), marks_.end(), id) == marks_.end();
    }

    bool bind(std::size_t index, NodeId id) {
        return calls_.sizes().bind(index, graph_.node(id).dtype, graph_.node(id).shape);
    }

    // A value that stays whole stands in the root's form where the operand stands in the pattern's.
    bool stands_right(std::size_t index, NodeId id) const {
        const CanonId core = matcher_.forms()[id].core;
        const TermKind kind = matcher_.forms().canon().term(core).kind;
        const auto& paths = pattern_.paths[index];
        return (kind != TermKind::leaf && kind != TermKind::op) ||
               std::all_of(paths.begin(), paths.end(), [&](std::uint32_t path) {
                   return std::find(places_.begin(), places_.end(), Place{core, path}) != places_.end();
               });
    }

    // The nodes that may be operand `index`: those in all regions laid over the operand, nearest first in the narrowest
    // of them. Where it stands alone in one, only what has the same stem, that without a factor in front, so that a
    // scale outside is not taken into the operand.
    std::vector<NodeId> candidates(std::size_t index) {
        types::ShortList<std::span<const NodeId>, 8> regions;
        std::size_t narrowest = 0;
        std::optional<std::size_t> alone;
        const NodeId input = pattern_.skeleton.inputs[index];
        const std::size_t leaf = pattern_.stems->of((*pattern_.forms)[input].core);
        for (const Overlay& overlay : overlays_) {
            const std::span<const NodeId> there = pattern_.regions->from(overlay.skeleton).nodes;
            if (!contains(there, input)) continue;
            regions.push_back(matcher_.region_from(overlay.graph).nodes);
            if (narrowest == 0 || there.size() < narrowest) {
                narrowest = there.size();
                std::swap(regions.front(), regions.back());
            }
            if (pattern_.stems->of((*pattern_.forms)[overlay.skeleton].core) == leaf)
                alone = matcher_.stem_of(overlay.graph);
        }
        std::vector<NodeId> result;
        if (regions.empty()) return result;
        for (const NodeId id : regions.front())
            if (!matcher_.same_value(id, root_) && calls_.may_be(index, id) &&
                std::all_of(regions.begin() + 1, regions.end(),
                            [&](const auto& region) { return contains(region, id); }) &&
                stands_right(index, id))
                result.push_back(id);
        if (alone) {
            const auto rest = std::stable_partition(result.begin(), result.end(),
                                                    [&](NodeId id) { return matcher_.stem_of(id) == *alone; });
            if (rest != result.begin()) result.erase(rest, result.end());
            result = plainest_first(result);
        }
        if (result.size() > most_candidates) result.resize(most_candidates);
        // Of conditions that say the same beside the pattern's own, the one computed from least.
        if (pattern_.problem.inputs[index].dtype == DType::boolean) std::reverse(result.begin(), result.end());
        return result;
    }

    // Without a factor before with one; among nodes of one form, which differ in leading axes of size 1, the oldest.
    std::vector<NodeId> plainest_first(const std::vector<NodeId>& nearest_first) const {
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

    // Returns the operands to blame: where the one chosen here is not among them, no other choice of its type helps.
    OperandSet choose_operand(const std::vector<std::vector<NodeId>>& choices, std::vector<NodeId>& operands) {
        const std::size_t index = operands.size(), bound = calls_.sizes().bound();
        if (index == choices.size()) return guess(operands);
        const OperandSet here = only_operand(index);
        OperandSet blame = 0;
        std::vector<NodeId> hopeless;
        for (const NodeId id : choices[index]) {
            if (done()) return everything;
            const NodeTypes& types = matcher_.types();
            const auto same_type = [&](NodeId other) { return types.of(other) == types.of(id); };
            if (std::any_of(hopeless.begin(), hopeless.end(), same_type)) continue;
            operands.push_back(id);
            const OperandSet wrong = bind(index, id) ? choose_operand(choices, operands) : everything;
            operands.pop_back();
            calls_.sizes().forget(bound);
            if ((wrong & here) == 0) hopeless.push_back(id);
            blame |= wrong;
        }
        return blame & ~here;
    }

    OperandSet guess(const std::vector<NodeId>& operands) {
        Call& call = calls_.of(operands);
        if (!call.fits) return everything;
        if (pattern_.holes.empty()) return attempt(operands, call, pattern_.problem.attributes).blame;
        const std::size_t before = found_.size();
        Matcher::Verdict last;
        is_solved_ = !can_solve();
        const std::vector<Attributes> known_attributes = matcher_.known_attributes(pattern_);
        for (const Attributes& known : known_attributes) {
            last = attempt(operands, call, known);
            if (found_.size() > before) return everything;
            const bool tells_of_others =
                std::none_of(pattern_.holes.begin(), pattern_.holes.end(),
                             [&](const Hole& hole) { return is_neutral(hole.number_in(known)); });
            if (tells_of_others && (last.blame & any_number) == 0) return last.blame;
            if (!tells_of_others) last.unknown.reset();
        }
        if (!numbers_) numbers_ = numbers_for(matcher_, pattern_, overlays_);
        // Of numbers that leave something out, none shows whether others would make the value.
        const auto is_untold = [](const std::vector<double>& numbers) {
            return std::all_of(numbers.begin(), numbers.end(), is_neutral);
        };
        if (std::any_of(numbers_->begin(), numbers_->end(), is_untold) && solve(operands, call, *numbers_))
            return everything;
        const auto is_empty = [](const std::vector<double>& numbers) { return numbers.empty(); };
        if (std::none_of(numbers_->begin(), numbers_->end(), is_empty))
            return fill(operands, call, *numbers_, 0, last.unknown).blame;
        std::vector<std::vector<double>> numbers = *numbers_;
        add_table_numbers(matcher_, pattern_, overlays_, call.types, numbers);
        add_whole_numbers(matcher_, pattern_, overlays_, call.types, numbers);
        return fill(operands, call, numbers, 0, last.unknown).blame;
    }

    // The numbers that norms add are those that the graph holds: the norm of a multiple is also the norm of every other
    // multiple, with another eps, and all these candidates would tie unrelated values together.
    bool can_solve() const {
        const auto& nodes = skeleton_.nodes();
        const bool has_reduction = std::any_of(
            nodes.begin(), nodes.end(), [](const ir::Node& node) { return ir::is(node, ir::OpClass::reduction); });
        return !(has_reduction && adds_free_number(pattern_)) &&
               std::none_of(pattern_.holes.begin(), pattern_.holes.end(),
                            [](const Hole& hole) { return hole.is_whole; });
    }

    // Tries the numbers for which what is made of the operands has the root's form; once for each choice of operands.
    // `held`: those that the graph holds, for each hole.
    bool solve(std::span<const NodeId> operands, Call& call, std::span<const std::vector<double>> held) {
        if (std::exchange(is_solved_, true)) return false;
        Attributes attributes = pattern_.problem.attributes;
        const auto put = [&](std::span<const double> numbers) {
            for (std::size_t i = 0; i < numbers.size(); ++i) pattern_.holes[i].put(numbers[i], attributes);
        };
        const auto pairs_of = [&](std::span<const double> numbers) -> std::optional<std::vector<NumberPair>> {
            put(numbers);
            const Filled* filled = calls_.filled(call, attributes);
            if (filled == nullptr || !calls_.may_make(call, root_)) return std::nullopt;
            const Scaled made = matcher_.form_made({&pattern_, root_, operands, *filled, attributes});
            return number_pairs(matcher_.forms().canon(), made, matcher_.forms()[root_]);
        };
        // Equal parts of a maximum are in the order of their numbers: below and above 1 they may be paired otherwise.
        for (const double scale : {1.0, 0x1p10}) {
            std::vector<double> start;
            for (const Hole& hole : pattern_.holes) start.push_back(hole.sentinel * scale);
            for (const std::vector<double>& numbers : solve_numbers(pairs_of, std::move(start)))
                if (try_signs(operands, call, numbers, held)) return true;
        }
        return false;
    }

    // The shortest number that rounds to what was solved for. That has the rounding errors of f64, so in f64 the number
    // that the graph holds takes its place, if there is one.
    double written_or_shortest(double solved, std::span<const double> held, DType dtype) {
        for (const double number : held)
            if (dtype == DType::f64 && Canon::close(std::fabs(number), std::fabs(solved), dtype))
                return std::copysign(number, solved);
        return shortest(matcher_, solved, dtype);
    }

    // Tries numbers of these magnitudes: an even function tells no sign, and what is made of a negative number may be
    // another one than of the positive ones that were solved with.
    bool try_signs(std::span<const NodeId> operands, Call& call, const std::vector<double>& numbers,
                   std::span<const std::vector<double>> held) {
        constexpr std::size_t most_signs = 3;
        const std::size_t before = found_.size();
        const DType dtype = graph_.node(root_).dtype;
        Attributes attributes = pattern_.problem.attributes;
        for (std::size_t signs = 0; signs < std::size_t{1} << std::min(numbers.size(), most_signs); ++signs)
            for (const bool is_short : {true, false}) {
                for (std::size_t i = 0; i < numbers.size(); ++i) {
                    const double number = is_short ? written_or_shortest(numbers[i], held[i], dtype) : numbers[i];
                    pattern_.holes[i].put(i < most_signs && (signs >> i) % 2 != 0 ? -number : number, attributes);
                }
                attempt(operands, call, attributes);
                if (found_.size() == before) continue;
                matcher_.remember(pattern_, attributes);
                return true;
            }
        return false;
    }

    // What two numbers fail to make alike hangs on no number of this hole.
    Matcher::Verdict fill(std::span<const NodeId> operands, Call& call, std::span<const std::vector<double>> numbers,
                          std::size_t hole, std::optional<std::size_t> unknown) {
        const std::size_t before = found_.size();
        const Matcher::Verdict right{std::nullopt, everything, std::nullopt, false};
        if (hole == numbers.size()) {
            Matcher::Verdict verdict = attempt(operands, call, filled_);
            if (found_.size() > before) matcher_.remember(pattern_, filled_);
            if (verdict.differs_in_numbers) solve(operands, call, numbers);
            return found_.size() > before ? right : verdict;
        }
        Matcher::Verdict all{{}, numbers[hole].empty() ? everything : 0, unknown, false};
        const auto with = [&](double number) {
            pattern_.holes[hole].put(number, filled_);
            return fill(operands, call, numbers, hole + 1, all.unknown);
        };
        for (const double number : numbers[hole]) {
            if (done()) break;
            Matcher::Verdict verdict = with(number);
            if (found_.size() > before) return right;
            // Where a factor of 1 or a term of 0 is left out, what is made tells nothing of other numbers.
            const bool hangs_on_none = !is_neutral(number) && (verdict.blame & any_number) == 0;
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

    Matcher::Verdict attempt(std::span<const NodeId> operands, Call& call, const Attributes& attributes) {
        ++guesses_;
        const Matcher::Verdict whatever_numbers{std::nullopt, everything & ~any_number, std::size_t{0}, false};
        if (!calls_.may_make(call, root_)) return whatever_numbers;
        const Filled* filled = calls_.filled(call, attributes);
        if (call.is_refused) return whatever_numbers;
        if (filled == nullptr) return {};
        if (!calls_.may_make(call, root_)) return whatever_numbers;
        Matcher::Verdict verdict = matcher_.prove({&pattern_, root_, operands, *filled, attributes});
        if (verdict.tile && !filled->numbers.empty()) {
            filled = calls_.own(call, attributes);
            if (filled == nullptr) return {};
            verdict = matcher_.prove({&pattern_, root_, operands, *filled, attributes});
        }
        if (verdict.tile) add(*std::exchange(verdict.tile, std::nullopt), operands, attributes);
        return verdict;
    }

    void add(Tile tile, std::span<const NodeId> operands, const Attributes& attributes) {
        if (!found_.empty() && tile.interior.size() <= found_.back().tile.interior.size()) return;
        // Where no number is solved for, one that leaves nothing out is the program's own.
        const bool is_own =
            !can_solve() && std::none_of(pattern_.holes.begin(), pattern_.holes.end(),
                                         [&](const Hole& hole) { return is_neutral(hole.number_in(attributes)); });
        is_whole_ = pattern_.holes.empty() || is_own ||
                    std::none_of(operands.begin(), operands.end(), [&](NodeId id) { return holds_number(id); });
        found_.push_back({std::move(tile), {operands.begin(), operands.end()}});
        most_guesses_ = std::min(most_guesses_, guesses_ + most_further);
    }

    // True for a value that is computed with a number.
    bool holds_number(NodeId id) const {
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
    Calls& calls_;
    NodeId root_;
    std::vector<Place> places_;  // in the root's form
    std::vector<Overlay> overlays_;
    std::vector<NodeId> marks_;                                // of the skeleton, already laid
    std::optional<std::vector<std::vector<double>>> numbers_;  // for the marks as laid, made when first needed
    Attributes filled_;                                        // the pattern's with numbers in the holes
    std::vector<Match> found_;                                 // each covers more than the one before
    bool is_whole_ = false;                                    // no match covers more than the last found
    bool is_solved_ = false;                                   // for the operands at hand
    int guesses_ = 0, most_guesses_ = most_guesses;
};

}  // namespace

std::vector<Match> search(Matcher& matcher, const Pattern& pattern, NodeId root) {
    return Search(matcher, pattern, root).run();
}

}  // namespace cairn::inline v0::fuse
