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

/// A number that a pattern leaves free (`eps=?`, or a whole one, `window=(W)`): the index of its attribute, and the
/// sentinel put there when the skeleton is built.
struct Hole {
    std::size_t attribute;
    double sentinel;
    bool is_whole = false;

    double number_in(const Attributes& attributes) const;
    void put(double number, Attributes& attributes) const;
};

/// Finds the free numbers of a pattern's problem and puts a sentinel in the place of each.
std::vector<Hole> put_sentinels(Problem& pattern);

/// A part of a sum or of a product of powers that has a counterpart in every match.
struct RequiredPart {
    TermKind kind;
    ir::Op op;
    bool is_divided;  ///< a negative power
    friend bool operator==(const RequiredPart&, const RequiredPart&) = default;
};
/// The parts of a term, except operands, numbers and movement.
std::vector<RequiredPart> required_parts_of(const Normalizer& normalizer, const Term& term);

/// A pattern of a definition, built as a graph that shows where to look for operands and numbers.
///
///     layer_norm eps=? | f32[R,D] f32[D] f32[D]      operands: [R,D] [D] [D], hole: eps; skeleton: the atomic ops on
///     such operands
///
/// A symbol that is a whole attribute and occurs in no operand is a hole for whole numbers.
struct Pattern {
    const Definition* definition = nullptr;
    Problem problem;                   ///< operands as written, with sentinels in the holes
    std::shared_ptr<Symbols> symbols;  ///< of the problem
    std::vector<Hole> holes;
    DefinitionInstance skeleton;
    std::unique_ptr<NormalForms> forms;                    ///< of the skeleton
    std::unique_ptr<LayoutInsensitiveHash> layout_hashes;  ///< of the forms
    std::unique_ptr<RegionCache> regions;                  ///< of the skeleton
    std::size_t main_output = 0;                           ///< the output that depends on the others
    std::vector<RequiredPart> outside;                     ///< parts of the main output that no operand replaces
    std::uint64_t absent_ops = 0;                          ///< bit op_bit(op) for ops that the normal form leaves out
    bool has_expanded_exponentials = false;  ///< the normal form opens exp, log or tanh: they may be anywhere
    std::vector<bool> allows_leading_axes;   ///< by operand: further leading axes may be present
    std::size_t max_axes = 0;                ///< largest rank of an operand: a graph without such values has no match
    std::uint64_t features = 0;              ///< of the main output
    std::vector<std::vector<std::uint32_t>> paths;  ///< by operand: its positions in the main output

    /// The index of the operand that node `id` of the skeleton is, if any.
    std::optional<std::size_t> operand_of(ir::NodeId id) const;
};

/// Everything that pattern matching uses of the definitions.
struct PatternSet {
    std::vector<Pattern> patterns;
    std::vector<const Definition*>
        windowed_definitions;  ///< definitions with Definition::windowed_definition (image_matches.hpp)
    GraphTraits traits;        ///< of the graphs that the patterns serve
};

/// The largest rank that kernels support.
inline constexpr std::size_t max_axes = 8;

/// The problems that a pattern represents. `axis=?` and `axes=?` stand for each of the last eight axes, with new sizes
/// after it in operands of more than one axis; with `axis=?(-1)` the last axis is not written. A first axis `R?`, and
/// operands marked `?` at the end, may be missing. The result is in order of precedence.
///
///     softmax axis=? | f32[R?,D]              softmax axis=(-1) | f32[R,D]   softmax axis=(-1) | f32[D]   ...
///     rms_norm axis=?(-1) eps=? | f32[R,D]    rms_norm eps=? | f32[R,D]   rms_norm axis=(-2) eps=? | f32[R,D,I1]   ...
///     linear | f32[R,K] f32[K,N] f32[N]?
std::vector<std::string> problems_of(const std::string& pattern);

/// Bit op_bit(op) for each op in the form, at any depth.
std::uint64_t ops_in(const Normalizer& normalizer, TermId core);

/// Bit op_bit(op) for each of Definition::required_ops. Throws Error(argument) if there is no such op.
std::uint64_t required_ops_of(const Definition& definition);

/// The patterns of all definitions, except those that cannot match in graphs with the traits `sought`. Throws
/// Error(argument) if a pattern's text is malformed, its definition rejects it, or it lacks an op that the definition
/// requires.
std::vector<Pattern> make_patterns(std::span<const Definition> definitions, const std::stop_token& stop = {},
                                   const GraphTraits& sought = {});

}  // namespace cairn::fusion
