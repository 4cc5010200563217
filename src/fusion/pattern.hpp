#pragma once

#include "fusion/definition_instance.hpp"
#include "fusion/form_features.hpp"
#include "fusion/match.hpp"
#include "fusion/regions.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::fusion {

/// A number a pattern leaves free (`eps=?`, or a whole one, `window=(W)`): where it stands among the attributes, and
/// the number put there to make the skeleton.
struct Hole {
    std::size_t attribute;
    double sentinel;
    bool is_whole = false;

    double number_in(const Attributes& attributes) const;
    void put(double number, Attributes& attributes) const;
};

/// The numbers that the problem of a pattern leaves free. Puts a sentinel in the place of each.
std::vector<Hole> put_sentinels(Problem& pattern);

/// A part of a sum or of a product of powers, as far as all matches have one like it.
struct RequiredPart {
    TermKind kind;
    ir::Op op;
    bool is_divided;  ///< a negative power
    friend bool operator==(const RequiredPart&, const RequiredPart&) = default;
};
/// The parts of a term but for what stands for operands, numbers and movement.
std::vector<RequiredPart> required_parts_of(const Normalizer& normalizer, const Term& term);

/// One pattern of a definition, made into a graph that shows where to look for operands and numbers.
///
///     layer_norm eps=? | f32[R,D] f32[D] f32[D]      operands: [R,D] [D] [D], hole: eps; skeleton: the atomic ops on
///     such operands
///
/// A symbol that is all of an attribute and stands in no operand is a hole for whole numbers.
struct Pattern {
    const Definition* definition = nullptr;
    Problem problem;                   ///< operands as written, sentinels in the holes
    std::shared_ptr<Symbols> symbols;  ///< of the problem
    std::vector<Hole> holes;
    DefinitionInstance skeleton;
    std::unique_ptr<NormalForms> forms;                    ///< of the skeleton
    std::unique_ptr<LayoutInsensitiveHash> layout_hashes;  ///< of the forms
    std::unique_ptr<RegionCache> regions;                  ///< of the skeleton
    std::size_t main_output = 0;                           ///< the output that depends on the others
    std::vector<RequiredPart> outside;                     ///< parts of the main output that no operand replaces
    std::uint64_t vanishing = 0;                           ///< bit op_bit(op) for ops that the normal form leaves out
    bool has_expanded_exponentials = false;         ///< the normal form opens exp, log or tanh: they may be anywhere
    std::vector<bool> allows_leading_axes;          ///< of each operand: further leading axes may be there
    std::size_t most_axes = 0;                      ///< of an operand: a graph without such values has no match
    std::uint64_t features = 0;                     ///< of the main output
    std::vector<std::vector<std::uint32_t>> paths;  ///< of each operand: where it stands in the main output

    /// The operand that node `id` of the skeleton is, if any.
    std::optional<std::size_t> operand_of(ir::NodeId id) const;
};

/// All that definitions are looked for with.
struct PatternSet {
    std::vector<Pattern> patterns;
    std::vector<const Definition*> of_windows;  ///< those that say what they compute windows of (image_matches.hpp)
    GraphTraits traits;                         ///< of the graphs that the patterns serve
};

/// As many as kernels walk.
inline constexpr std::size_t most_axes = 8;

/// The problems a pattern stands for: `axis=?` and `axes=?` are each of the last eight axes, with new sizes behind them
/// in operands of more than one axis, and with `axis=?(-1)` the last is not written; a first axis `R?` and operands
/// marked `?` at the end may be missing. In the order in which they count.
///
///     softmax axis=? | f32[R?,D]              softmax axis=(-1) | f32[R,D]   softmax axis=(-1) | f32[D]   ...
///     rms_norm axis=?(-1) eps=? | f32[R,D]    rms_norm eps=? | f32[R,D]   rms_norm axis=(-2) eps=? | f32[R,D,I1]   ...
///     linear | f32[R,K] f32[K,N] f32[N]?
std::vector<std::string> problems_of(const std::string& pattern);

/// Bit op_bit(op) for each op that stands in the form, however deep.
std::uint64_t ops_in(const Normalizer& normalizer, TermId core);

/// The patterns of all definitions, but for those that no graph with the properties sought has. Throws Error(argument)
/// where a pattern's text cannot be read or its definition refuses it.
std::vector<Pattern> make_patterns(std::span<const Definition> definitions, const std::stop_token& stop = {},
                                   const GraphTraits& sought = {});

}  // namespace cairn::fusion
