#pragma once

#include "fusion/match.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/candidates/views.hpp"

#include <cstddef>
#include <optional>
#include <vector>

/// Result views: how kernels write results that reshapes and transposes move elsewhere (fusion/moved_results.hpp).
namespace cairn::selection {

/// The memory that a moved result is written to, in the shape in which a kernel computes it. An elementwise kernel may
/// also compute behind some of the movements; it then reads its operands through them.
///
///     %4 = mul %2, %3 : f32[T,768]   %5 = reshape %4 : f32[T,12,64]   %6 = transpose %5 : f32[12,T,64]
///     appended to f32[12,P,64] of 1024 rows: f32[T,12,64]:(64,65536,1), operands seen through %5
///
///     %4 = attention ... : f32[12,T,64]   %5 = transpose %4 : f32[T,12,64]   %6 = reshape %5 : f32[T,768]
///     f32[12,T,64]:(64,768,1)
struct ResultView {
    Shape shape;
    std::vector<Dim> strides;
    std::size_t moves = 0;  ///< number of movements through which operands are read
};

/// The view of a moved output with the fewest such movements; `by_element` allows any number, otherwise 0. Empty if
/// strides cannot express it.
std::optional<ResultView> result_view(const ir::GraphData& graph, const fusion::Match& match, std::size_t output,
                                      const std::vector<ValueView>& views, bool by_element);

/// The same for columns of a product, which may become several axes behind the leading ones.
///
///     %5 = slice %4 axis=(-1) ... : f32[T,768]   %6 = reshape %5 : f32[T,12,64]   %7 = transpose %6 : f32[12,T,64]
///     appended to f32[12,P,64] of 1024 rows: f32[T,12,64]:(64,65536,1)
std::optional<ResultView> columns_view(const ir::GraphData& graph, const fusion::Match& match, std::size_t output,
                                       const std::vector<ValueView>& views);

/// The strides of an operand, given in the shape of the moved value, read through the first `moves` movements.
std::optional<std::vector<Dim>> strides_through(const ir::GraphData& graph, const fusion::Nodes& moved,
                                                std::size_t moves, std::vector<Dim> strides);

/// True if an operand may lie in a state that a run overwrites. An append may have to come after the overwriting write
/// and the read before it; no cost model counts the copy that would save the old contents.
bool may_read_overwritten_state(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                const std::vector<ValueView>& views, const fusion::Match& match);

}  // namespace cairn::selection
