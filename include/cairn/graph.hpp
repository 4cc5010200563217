#pragma once

#include "cairn/types.hpp"

#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cairn::inline v0 {

namespace ir {
class GraphData;
}

/// A value of a graph: a handle of two words. Copying it copies nothing, and it keeps its graph alive, so `auto y =
/// f(x);` is always safe. Nothing is computed when a Tensor is made; its dtype and shape are known at once.
class CAIRN_API Tensor {
public:
    /// An empty handle; using it in an op throws Error(graph).
    Tensor() noexcept = default;
    DType dtype() const;
    const Shape& shape() const;
    int rank() const;
    /// The size of an axis; negative axes count from the end. Throws Error(graph) when out of range.
    Dim dim(int axis) const;
    /// True for a default-made or moved-from handle. (There is no conversion to bool: `a && b` on tensors is an op.)
    bool empty() const noexcept { return graph_ == nullptr; }

    /// The graph and the node's number in it, as text forms print it (`%3`).
    const std::shared_ptr<ir::GraphData>& graph() const noexcept { return graph_; }
    std::uint32_t id() const noexcept { return id_; }
    Tensor(std::shared_ptr<ir::GraphData> graph, std::uint32_t id) noexcept : graph_(std::move(graph)), id_(id) {}

private:
    std::shared_ptr<ir::GraphData> graph_;
    std::uint32_t id_ = 0;
};

/// What an op takes: a Tensor, or a scalar that takes on the dtype of the tensors beside it. Made implicitly at the
/// call, where it also notes the caller's source line for error messages.
class Operand {
public:
    Operand(Tensor tensor, std::source_location where = std::source_location::current()) noexcept
        : tensor_(std::move(tensor)), where_(where) {}
    template <typename T>
    requires std::is_arithmetic_v<T> Operand(T value, std::source_location where = std::source_location::current())
    noexcept : scalar_(static_cast<double>(value)), is_scalar_(true), where_(where) {}

    /// Which of the two it is, the scalar's value, the tensor, and the caller's line.
    bool is_scalar() const noexcept { return is_scalar_; }
    double scalar() const noexcept { return scalar_; }
    const Tensor& tensor() const noexcept { return tensor_; }
    const std::source_location& where() const noexcept { return where_; }

private:
    Tensor tensor_;
    double scalar_ = 0;
    bool is_scalar_ = false;
    std::source_location where_;
};

/// Memory that outlives a run. One that grows along an axis keeps, for example, the keys a transformer has seen; it has
/// fixed strides at its capacity, so growing never moves data. One of fixed size keeps, for example, the hidden state
/// of a recurrent network. Each `append`, `write` and `assign` makes a new version; every reader sees the version it
/// was given, and a run leaves the latest one.
///
///     Dim past = g.symbol("past", 0, 1023);
///     State keys = g.state("keys", DType::f32, {12, past, 64}, 1, 1024);
///     Tensor all = keys.append(new_keys);          // f32[12, past + T, 64], in place: only the new rows are written
///
///     State hidden = g.state("hidden", DType::f32, {1, 256});                 // zero before the first run
///     hidden.assign(tanh(matmul(x, w) + matmul(hidden.read(), u)));
///
/// After a run the length symbol advances by what was appended; CompiledGraph::rewind sets it back. All states that
/// grow by one symbol must grow by the same size in a run; compile() checks it.
class CAIRN_API State {
public:
    /// The live part before this run: the shape given to Graph::state.
    Tensor read(std::source_location where = std::source_location::current()) const;
    /// Writes `rows` behind what is live so far in this run and returns the live part with them. `rows` has the state's
    /// dtype and shape but for the growing axis. Throws Error(graph) on a mismatch, and for a state of fixed size.
    Tensor append(const Operand& rows);
    /// Replaces the slice that begins at `start` on an axis, and returns the whole live part. `rows` has the state's
    /// dtype and shape but for that axis: the growing one, or the first one of a state of fixed size, where none is
    /// given; negative axes count from the end. Throws Error(graph) on a mismatch, and where the slice is not sure to
    /// lie within what is live.
    ///
    ///     State ring = g.state("ring", DType::f32, {4, 100});
    ///     Tensor all = ring.write(column, 99, 1);  // column f32[4,1] becomes the last column
    Tensor write(const Operand& rows, const Dim& start);
    Tensor write(const Operand& rows, const Dim& start, int axis);
    /// Replaces the whole live part by `value`, of the same dtype and shape, and returns it. Throws Error(graph) on a
    /// mismatch.
    Tensor assign(const Operand& value);
    /// The latest version: what read() gives, with all changes so far.
    Tensor latest() const;

    State(std::shared_ptr<ir::GraphData> graph, std::uint32_t index) noexcept
        : graph_(std::move(graph)), index_(index) {}

private:
    ir::GraphData& data() const;
    std::shared_ptr<ir::GraphData> graph_;
    std::uint32_t index_ = 0;
};

/// A lazily built program over tensors: inputs, weights and states, ops on them, named outputs. Equal ops on equal
/// operands are made once. A Graph is a handle like Tensor; the graph lives as long as any handle to it. Building is
/// for one thread at a time.
class CAIRN_API Graph {
public:
    explicit Graph(std::string_view name = "graph");

    /// A size known only when the program runs, within inclusive bounds. Throws Error(graph) on ill-formed bounds or a
    /// second meaning of a name.
    Dim symbol(std::string_view name, std::int64_t low, std::int64_t high,
               std::source_location where = std::source_location::current());
    /// A tensor given anew for each run. Names of inputs, weights and states are distinct; Error(graph) otherwise.
    Tensor input(std::string_view name, DType dtype, Shape shape,
                 std::source_location where = std::source_location::current());
    /// A tensor bound once; its shape must be constant.
    Tensor weight(std::string_view name, DType dtype, Shape shape,
                  std::source_location where = std::source_location::current());
    /// A state whose axis `axis` has the bare symbol of its live length as its size and `capacity` as its limit.
    State state(std::string_view name, DType dtype, Shape shape, int axis, std::int64_t capacity,
                std::source_location where = std::source_location::current());
    /// A state of fixed size, zero before the first run unless CompiledGraph::set_state gives it other contents; its
    /// shape must be constant, and may be empty: `g.state("step", DType::i64, {})`.
    State state(std::string_view name, DType dtype, Shape shape,
                std::source_location where = std::source_location::current());
    /// A tensor with these values (converted to dtype as by `cast`, row-major), kept inside the graph. For small
    /// tables; large ones are weights. Throws Error(graph) when the shape is not constant or has another number of
    /// elements.
    Tensor constant(DType dtype, Shape shape, std::span<const double> values,
                    std::source_location where = std::source_location::current());
    /// A scalar.
    Tensor constant(DType dtype, double value, std::source_location where = std::source_location::current());
    /// The value of a Dim as a scalar tensor.
    Tensor constant(DType dtype, const Dim& value, std::source_location where = std::source_location::current());
    /// Names a result. Throws Error(graph) when the name is taken or the tensor belongs to another graph.
    void output(std::string_view name, const Tensor& tensor,
                std::source_location where = std::source_location::current());

    /// The name given when it was made.
    const std::string& name() const;
    /// The symbol table; shapes of this graph use its Dims.
    Symbols& symbols() const;
    /// Nodes made so far, leaves included.
    std::size_t size() const;
    const std::shared_ptr<ir::GraphData>& data() const noexcept { return data_; }
    explicit Graph(std::shared_ptr<ir::GraphData> data) noexcept : data_(std::move(data)) {}

private:
    std::shared_ptr<ir::GraphData> data_;
};

/// The text form of a graph, one node a line (`%3 = matmul %1, %2 : f32[N,768]`). Weights are named, never stored;
/// parse_graph gives back an equal graph.
CAIRN_API std::string to_string(const Graph& graph);
/// Reads what to_string(Graph) wrote. Throws Error(argument) naming line and column.
CAIRN_API Graph parse_graph(std::string_view text);

}  // namespace cairn::inline v0
