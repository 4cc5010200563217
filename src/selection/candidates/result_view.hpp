#pragma once

#include "fusion/match.hpp"
#include "rewrite/alternatives/e_classes.hpp"
#include "selection/candidates/views.hpp"

#include <cstddef>
#include <optional>
#include <vector>

/// Tiles whose results are moved (fusion/moved_results.hpp): how their kernels see the memory that they write to.
namespace cairn::selection {

/// A result where it is moved to, in the shape in which a kernel computes it. What goes element by element may be
/// computed behind some of the movements as well, its operands seen through them.
///
///     %4 = mul %2, %3 : f32[T,768]   %5 = reshape %4 : f32[T,12,64]   %6 = transpose %5 : f32[12,T,64]
///     appended to f32[12,P,64] of 1024 rows: f32[T,12,64]:(64,65536,1), operands seen through %5
///
///     %4 = attention ... : f32[12,T,64]   %5 = transpose %4 : f32[T,12,64]   %6 = reshape %5 : f32[T,768]
///     f32[12,T,64]:(64,768,1)
struct ResultView {
    Shape shape;
    std::vector<Dim> strides;
    std::size_t moves = 0;  ///< how many movements operands are seen through
};

/// Of an output that is moved, with the fewest movements that do; `by_element`: there may be any. Nothing where strides
/// cannot say it.
std::optional<ResultView> result_view(const ir::GraphData& graph, const fusion::Match& match, std::size_t output,
                                      const std::vector<ValueView>& views, bool by_element);

/// The same of columns of a product, which may be several axes behind its leading ones.
///
///     %5 = slice %4 axis=(-1) ... : f32[T,768]   %6 = reshape %5 : f32[T,12,64]   %7 = transpose %6 : f32[12,T,64]
///     appended to f32[12,P,64] of 1024 rows: f32[T,12,64]:(64,65536,1)
std::optional<ResultView> columns_view(const ir::GraphData& graph, const fusion::Match& match, std::size_t output,
                                       const std::vector<ValueView>& views);

/// The strides of an operand, of the shape of what is moved, seen through the first movements.
std::optional<std::vector<Dim>> strides_through(const ir::GraphData& graph, const fusion::Nodes& moved,
                                                std::size_t moves, std::vector<Dim> strides);

/// True where an operand may lie in a state that is written over in a run: what appends may have to come after the
/// write, what reads before it, and nobody counts what saving the old contents takes.
bool may_read_overwritten_state(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                const std::vector<ValueView>& views, const fusion::Match& match);

}  // namespace cairn::selection
