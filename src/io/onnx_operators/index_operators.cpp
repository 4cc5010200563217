#include "io/onnx_operators/operators.hpp"

#include "io/onnx_operators/element_gather.hpp"
#include "io/onnx_operators/index_positions.hpp"
#include "io/onnx_operators/ngram_counts.hpp"
#include "io/onnx_operators/scatter.hpp"
#include "io/onnx_operators/unique.hpp"
#include "io/onnx_operators/wide.hpp"

#include "io/onnx_node/known_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

/// Operators that select elements by their indices.
namespace cairn::inline v0::onnx {
namespace {

// OneHot.

/// The size of the new axis; floats are truncated.
Dim depth_of_one_hot(const Node& node) {
    const Known& depth = node.require_known(1, "depth");
    if (depth.count() != 1) node.refuse(fmt::format("depth has {} elements instead of one", depth.count()));
    if (depth.is_float() && !(depth.floats[0] >= 0 && depth.floats[0] <= 0x1p53))
        node.refuse(fmt::format("its depth is {}", depth.floats[0]));
    const Dim size = depth.is_float() ? Dim(static_cast<std::int64_t>(depth.floats[0])) : depth.integers[0];
    if (!provably_le(0, size)) node.refuse(fmt::format("whether depth, {}, is negative is not known", to_string(size)));
    return size;
}

void make_one_hot(Node& node) {
    const Dim depth = depth_of_one_hot(node);
    const Tensor indices = as_dtype(node.tensor(0), DType::i64), values = node.tensor(2);
    if (values.rank() != 1 || !(values.dim(0) == Dim(2)))
        node.refuse(fmt::format("its values are {} instead of [2]", to_string(values.shape())));
    const int axis = node.axis(node.integer("axis", -1), indices.rank() + 1);
    const Known* const known = node.known(2);
    if (known != nullptr && known->is_float() && known->floats[0] == 0 && known->floats[1] == 1)
        return node.set(0, one_hot(indices, depth, values.dtype(), axis));
    const auto value = [&](int i) { return reshape(cairn::slice(values, 0, i, i + 1), Shape()); };
    node.set(0, where(one_hot(indices, depth, DType::boolean, axis), value(1), value(0)));
}

// TopK.

/// The result is sorted in any case: without `sorted` every order will do.
void make_top_k(Node& node) {
    const Tensor x = node.tensor(0);
    const int axis = node.axis(node.integer("axis", -1), x.rank());
    Dim k;
    if (node.opset() >= 10) {
        const Shape given = node.sizes(1, "K");
        if (given.size() != 1) node.refuse(fmt::format("K has {} elements instead of one", given.size()));
        k = given[0];
    } else {
        k = node.integer("k");
    }
    if (!provably_le(0, k) || !provably_le(k, x.dim(axis)))
        node.refuse(
            fmt::format("K, {}, may be more than the {} elements of the axis", to_string(k), to_string(x.dim(axis))));
    const Sorted top = topk(x, k, axis, node.integer("largest", 1) != 0);
    node.set(0, top.values);
    if (node.wants(1)) node.set(1, cast(top.indices, DType::i64));
}

/// Of a list, as it occurs among the sizes of a shape.
bool fold_top_k(Node& node) {
    const Known& x = node.elements(0);
    if (node.opset() < 10 || x.dims.size() != 1 || !x.is_constant() || x.is_float()) return false;
    const std::int64_t k = node.integer(1, "K");
    if (k < 0 || k > x.dims[0]) return false;
    std::vector<std::size_t> order(x.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool largest = node.integer("largest", 1) != 0;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const std::int64_t p = x.integers[a].constant(), q = x.integers[b].constant();
        return largest ? p > q : p < q;
    });
    order.resize(static_cast<std::size_t>(k));
    node.set(0, picked(x, {k}, order));
    node.set(1, Known::list({order.begin(), order.end()}));
    return true;
}

// Trilu.

void make_trilu(Node& node) {
    const Tensor x = node.tensor(0);
    if (x.rank() < 2) node.refuse(fmt::format("its input of rank {} is no matrix", x.rank()));
    const Tensor rows = reshape(iota(node.graph(), x.dim(-2), DType::i64), {x.dim(-2), 1});
    const Tensor columns = iota(node.graph(), x.dim(-1), DType::i64);
    const Tensor k =
        node.has(1) ? reshape(as_dtype(node.tensor(1), DType::i64), Shape()) : node.graph().constant(DType::i64, 0);
    const Tensor diagonal = columns - rows;
    node.set(0, where(node.integer("upper", 1) != 0 ? diagonal >= k : diagonal <= k, x, 0));
}

// Compress.

/// The positions at which the condition is true.
std::vector<std::int64_t> positions_of_compress(const Node& node) {
    const std::vector<std::int64_t> condition = node.integers(1, "condition");
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < condition.size(); ++i)
        if (condition[i] != 0) positions.push_back(static_cast<std::int64_t>(i));
    return positions;
}

void make_compress(Node& node) {
    Tensor x = node.tensor(0);
    int axis = 0;
    if (node.has_attribute("axis"))
        axis = node.axis(node.integer("axis"), x.rank());
    else
        x = reshape(x, {element_count(x.shape())});
    const std::vector<std::int64_t> positions = positions_of_compress(node);
    if (!positions.empty() && provably_le(x.dim(axis), positions.back()))
        node.refuse(fmt::format("its condition selects element {} of {}", positions.back(), to_string(x.dim(axis))));
    const auto count = static_cast<std::int64_t>(positions.size());
    node.set(0, gather(x, node.graph().constant(positions, {count}), axis));
}

bool fold_compress(Node& node) {
    const Known& x = node.elements(0);
    if (x.dims.size() != 1) return false;
    std::vector<std::size_t> elements;
    for (const std::int64_t position : positions_of_compress(node)) {
        if (position >= x.dims[0]) return false;  // the maker names the fault
        elements.push_back(static_cast<std::size_t>(position));
    }
    node.set(0, picked(x, {static_cast<std::int64_t>(elements.size())}, elements));
    return true;
}

// ReverseSequence.

/// The time axis and the batch axis are gathered as one.
void make_reverse_sequence(Node& node) {
    const Tensor x = node.tensor(0);
    const std::int64_t batch_axis = node.integer("batch_axis", 1), time_axis = node.integer("time_axis", 0);
    if (x.rank() < 2 || std::min(batch_axis, time_axis) != 0 || std::max(batch_axis, time_axis) != 1)
        node.refuse(fmt::format("its batch axis is {} and its time axis {} of {}", batch_axis, time_axis, x.rank()));
    const Dim batch = x.dim(static_cast<int>(batch_axis)), time = x.dim(static_cast<int>(time_axis));
    Shape along_batch{1, 1};
    along_batch[static_cast<std::size_t>(batch_axis)] = batch;
    const Tensor lengths = reshape(as_dtype(node.tensor(1), DType::i64), along_batch);
    const Tensor step = coordinate_of_all(node.graph(), time, static_cast<int>(time_axis), 2).at;
    const Coordinate in_time{where(step < lengths, lengths - 1 - step, step), time, false};
    const Coordinate in_batch = coordinate_of_all(node.graph(), batch, static_cast<int>(batch_axis), 2);
    const Tensor position =
        time_axis == 0 ? position_of(std::array{in_time, in_batch}) : position_of(std::array{in_batch, in_time});
    Shape rows = x.shape();
    rows.erase(rows.begin());
    rows[0] = batch * time;
    node.set(0, gather(reshape(x, rows), position, 0));
}

void make_non_max_suppression(Node& node) { node.refuse("how many boxes it selects depends on their scores"); }

constexpr std::array<Operator, 14> index_rows{{{"GatherElements", 11, make_gather_elements, fold_gather_elements},
                                               {"GatherND", 11, make_gather_nd, fold_gather_nd},
                                               {"Scatter", 9, make_scatter_elements, fold_scatter_elements},
                                               {"ScatterElements", 11, make_scatter_elements, fold_scatter_elements},
                                               {"ScatterND", 11, make_scatter_nd, fold_scatter_nd},
                                               {"OneHot", 9, make_one_hot},
                                               {"TopK", 1, make_top_k, fold_top_k},
                                               {"Trilu", 14, make_trilu},
                                               {"Compress", 9, make_compress, fold_compress},
                                               {"Unique", 11, nullptr, fold_unique},
                                               {"NonZero", 9, nullptr, fold_nonzero},
                                               {"ReverseSequence", 10, make_reverse_sequence},
                                               {"TfIdfVectorizer", 9, make_tf_idf_vectorizer},
                                               {"NonMaxSuppression", 10, make_non_max_suppression}}};

}  // namespace

std::span<const Operator> index_operators() { return index_rows; }

}  // namespace cairn::inline v0::onnx
