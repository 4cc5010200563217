#pragma once

#include "cairn/elements.hpp"
#include "cairn/types.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <ranges>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn::ir {
class GraphData;
}

namespace cairn::inline v0 {

class Safetensors;
class Gguf;

/// A value of a graph: a handle of two words. Copying it copies no data, and it keeps its graph alive, so `auto y =
/// f(x);` is always safe. Creating a Tensor computes nothing; its dtype and shape are known at once.
class CAIRN_API Tensor {
public:
    /// An empty handle; using it in an op throws Error(graph).
    Tensor() noexcept = default;
    DType dtype() const;
    /// The reference stays valid while a handle to the graph exists, even if the graph grows.
    const Shape& shape() const;
    int rank() const;
    /// The size of an axis; negative axes count from the end. Throws Error(graph) if out of range.
    Dim dim(int axis) const;
    /// True for a default-constructed or moved-from handle. (No conversion to bool: `a && b` on tensors is an op.)
    bool empty() const noexcept { return graph_ == nullptr; }

    /// The graph, and the index of the node in it, as printed in text forms (`%3`).
    const std::shared_ptr<ir::GraphData>& graph() const noexcept { return graph_; }
    std::uint32_t id() const noexcept { return id_; }
    Tensor(std::shared_ptr<ir::GraphData> graph, std::uint32_t id) noexcept : graph_(std::move(graph)), id_(id) {}

private:
    std::shared_ptr<ir::GraphData> graph_;
    std::uint32_t id_ = 0;
};

/// Writes the index and type of the node: `%3 f32[N,768]`.
CAIRN_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// Argument of an op: a Tensor, or a scalar that takes the dtype of the op's tensors: a number, or a constant or
/// symbolic size (`x / n`). Constructed implicitly at the call, where it records the caller's source line for errors.
class Operand {
public:
    Operand(Tensor tensor, std::source_location where = std::source_location::current()) noexcept
        : tensor_(std::move(tensor)), where_(where) {}
    template <std::floating_point T>
    Operand(T value, std::source_location where = std::source_location::current()) noexcept
        : scalar_(static_cast<double>(value)), kind_(Kind::number), where_(where) {}
    template <std::integral T>
    Operand(T value, std::source_location where = std::source_location::current()) noexcept
        : scalar_(static_cast<double>(value)), kind_(Kind::number), where_(where) {
        if (!std::in_range<std::int64_t>(value + 0)) return;  // only a float dtype can hold the value, rounded
        size_ = Dim(static_cast<std::int64_t>(value));
        kind_ = Kind::integral;
    }
    Operand(Dim size, std::source_location where = std::source_location::current()) noexcept
        : size_(std::move(size)), kind_(Kind::integral), where_(where) {}

    /// is_scalar: true for numbers and sizes. is_integral: true for integers and sizes, whose value is integral();
    /// scalar() is the value of other numbers.
    bool is_scalar() const noexcept { return kind_ != Kind::tensor; }
    bool is_integral() const noexcept { return kind_ == Kind::integral; }
    double scalar() const noexcept { return scalar_; }
    const Dim& integral() const noexcept { return size_; }
    /// The tensor, and the caller's source line.
    const Tensor& tensor() const noexcept { return tensor_; }
    const std::source_location& where() const noexcept { return where_; }

private:
    enum class Kind : std::uint8_t { tensor, number, integral };
    Tensor tensor_;
    double scalar_ = 0;
    Dim size_;
    Kind kind_ = Kind::tensor;
    std::source_location where_;
};

/// A tensor that is kept across runs. A growing state keeps, for example, the keys that a transformer has seen; it has
/// fixed strides at its capacity, so growing never moves data. A state of fixed size keeps, for example, the hidden
/// state of a recurrent network. Each `append`, `write` and `assign` makes a new version; a reader sees the version it
/// was given, and after a run the state is the latest one.
///
///     Dim past = g.symbol("past", 0, 1023);
///     State keys = g.state("keys", DType::f32, {12, past, 64}, 1, 1024);
///     Tensor all = keys.append(new_keys);          // f32[12, past + T, 64], in place: only the new rows are written
///
///     State hidden = g.state("hidden", DType::f32, {1, 256});                 // zero before the first run
///     hidden.assign(tanh(matmul(x, w) + matmul(hidden.read(), u)));
///
/// After a run the length symbol has advanced by what was appended; CompiledGraph::rewind sets it back. All states that
/// grow by one symbol must grow by the same size in a run; compile() checks it. A moved-from handle throws Error(graph)
/// on any use.
class CAIRN_API State {
public:
    /// The live part before this run, in the shape given to Graph::state.
    Tensor read(std::source_location where = std::source_location::current()) const;
    /// Appends `rows` to the live part and returns the extended live part. `rows` has the state's dtype, and its shape
    /// except for the growing axis. Throws Error(graph) on a mismatch, and for a state of fixed size.
    Tensor append(const Operand& rows);
    /// Replaces the slice that begins at `start` of an axis, and returns the whole live part. `rows` has the state's
    /// dtype, and its shape except for that axis. Default axis: the growing one, or the first one of a state of fixed
    /// size; negative axes count from the end. Throws Error(graph) on a mismatch, and unless the slice provably lies
    /// within the live part.
    ///
    ///     State ring = g.state("ring", DType::f32, {4, 100});
    ///     Tensor all = ring.write(column, 99, 1);  // column f32[4,1] becomes the last column
    Tensor write(const Operand& rows, const Dim& start);
    Tensor write(const Operand& rows, const Dim& start, int axis);
    /// Replaces the whole live part by `value`, of the same dtype and shape, and returns it. Throws Error(graph) on a
    /// mismatch.
    Tensor assign(const Operand& value);
    /// The latest version: read() with all changes so far.
    Tensor latest() const;

    State(std::shared_ptr<ir::GraphData> graph, std::uint32_t index) noexcept
        : graph_(std::move(graph)), index_(index) {}

private:
    ir::GraphData& data() const;
    std::shared_ptr<ir::GraphData> graph_;
    std::uint32_t index_ = 0;
};

/// The weights returned by Graph::weights, keyed by name without the prefix, sorted.
class CAIRN_API WeightMap {
public:
    /// Name and weight.
    using Map = std::map<std::string, Tensor, std::less<>>;

    /// The weight of that name. If there is none, throws Error(file) with the file, the prefix, the nearest names, the
    /// number of weights, and the caller's source line.
    ///
    ///     Tensor w = graph.weights(file, "encoder.0.").at("w");   // the tensor "encoder.0.w" of the file
    const Tensor& at(std::string_view name, std::source_location where = std::source_location::current()) const;
    /// As at(), without the caller's source line in the message.
    const Tensor& operator[](std::string_view name) const;
    /// True if there is a weight of that name.
    bool contains(std::string_view name) const { return by_name_.contains(name); }
    /// Iterator to the weight of that name, or end().
    Map::const_iterator find(std::string_view name) const { return by_name_.find(name); }
    /// Iteration in the order of names: `for (const auto& [name, weight] : weights)`.
    Map::const_iterator begin() const noexcept { return by_name_.begin(); }
    Map::const_iterator end() const noexcept { return by_name_.end(); }
    /// Number of weights.
    std::size_t size() const noexcept { return by_name_.size(); }
    bool empty() const noexcept { return by_name_.empty(); }

    /// Constructed by Graph::weights; `file` and `prefix` are for messages.
    WeightMap(Map by_name, std::string file, std::string prefix)
        : by_name_(std::move(by_name)), file_(std::move(file)), prefix_(std::move(prefix)) {}

private:
    std::string missing(std::string_view name) const;

    Map by_name_;
    std::string file_, prefix_;
};

/// A lazily built program over tensors: inputs, weights and states, ops on them, named outputs. Equal ops on equal
/// operands are one node. A Graph is a handle like Tensor; the graph lives as long as any handle to it. Building is not
/// thread-safe. A moved-from handle throws Error(graph) on any use.
class CAIRN_API Graph {
public:
    explicit Graph(std::string_view name = "graph");

    /// Adds a size known only at run time, within inclusive bounds. Throws Error(graph) for ill-formed bounds, or if
    /// the name already has other bounds.
    Dim symbol(std::string_view name, std::int64_t low, std::int64_t high,
               std::source_location where = std::source_location::current());
    /// A tensor set before each run. Names of inputs, weights and states must be distinct; throws Error(graph)
    /// otherwise.
    Tensor input(std::string_view name, DType dtype, Shape shape,
                 std::source_location where = std::source_location::current());
    /// A tensor bound once; its shape must be constant.
    Tensor weight(std::string_view name, DType dtype, Shape shape,
                  std::source_location where = std::source_location::current());
    /// A weight with the name, dtype and shape of a tensor in a file. Floats of 8 bits are a weight of u8 behind their
    /// composite (dequantize.hpp). Throws what Safetensors::view throws.
    Tensor weight(const Safetensors& file, std::string_view name,
                  std::source_location where = std::source_location::current());
    /// Adds a weight for each tensor of a file whose name begins with `prefix`, keyed by the rest of its name. Throws
    /// Error(file) if no name begins with a non-empty prefix, with the file and the nearest prefixes, and what
    /// Safetensors::view throws.
    ///
    ///     auto layer = graph.weights(file, "encoder.0.");
    ///     y = linear(x, layer.at("w"), layer.at("b"));     // bound as "encoder.0.w" and "encoder.0.b"
    WeightMap weights(const Safetensors& file, std::string_view prefix = "",
                      std::source_location where = std::source_location::current());
    /// The same of a GGUF file. Tensors of blocks are weights u8[.., B, bytes of a block] behind their composite
    /// (dequantize.hpp): f32 with the shape that the file gives. Throws what Gguf::view throws, and Error(unsupported),
    /// naming the tensor, for a type of blocks without a composite.
    ///
    ///     graph.weight(file, "blk.0.ffn_up.weight")     // dequantize_q4_k() of the weight u8[3072,3,144]
    Tensor weight(const Gguf& file, std::string_view name,
                  std::source_location where = std::source_location::current());
    WeightMap weights(const Gguf& file, std::string_view prefix = "",
                      std::source_location where = std::source_location::current());
    /// A growing state: the size of axis `axis` is the bare symbol of its live length, limited by `capacity`.
    State state(std::string_view name, DType dtype, Shape shape, int axis, std::int64_t capacity,
                std::source_location where = std::source_location::current());
    /// A state of fixed size, zero before the first run; its shape must be constant, and may be empty:
    /// `g.state("step", DType::i64, {})`.
    State state(std::string_view name, DType dtype, Shape shape,
                std::source_location where = std::source_location::current());
    /// A state of fixed size with initial elements: its contents before the first run, in each new instance, and after
    /// CompiledGraph::reset_states. They are copied into the graph, row-major, from any contiguous range of the dtype's
    /// C++ type (std::uint16_t: the bits of f16 and bf16), or from an initializer list.
    ///
    ///     State seed = g.state("seed", DType::i64, {}, {std::int64_t{42}});
    ///     State mean = g.state("mean", DType::f32, {64}, means);                     // std::vector<float> means of 64
    ///
    /// Throws Error(graph) also for elements of another type, or if their number is not that of the shape.
    template <detail::Elements R>
    State state(std::string_view name, DType dtype, Shape shape, const R& initial,
                std::source_location where = std::source_location::current()) {
        return state_from(name, dtype, std::move(shape), detail::elements_of(initial), where);
    }
    template <detail::Stored T>
    State state(std::string_view name, DType dtype, Shape shape, std::initializer_list<T> initial,
                std::source_location where = std::source_location::current()) {
        return state_from(name, dtype, std::move(shape),
                          {initial.begin(), initial.size(), detail::stored_as<T>(), true}, where);
    }
    /// A tensor with these values, converted to dtype as by `cast`, row-major, stored in the graph. For small tables;
    /// large ones should be weights. Throws Error(graph) if the shape is not constant or has another number of
    /// elements.
    Tensor constant(DType dtype, Shape shape, std::span<const double> values,
                    std::source_location where = std::source_location::current());
    /// As above, with the values' own type as dtype; 64-bit integers are exact: `constant(std::vector{1.0f, 2.0f},
    /// {2})`.
    template <std::ranges::contiguous_range Values>
    requires Element<std::ranges::range_value_t<Values>> Tensor
    constant(const Values& values, Shape shape, std::source_location where = std::source_location::current()) {
        using T = std::ranges::range_value_t<Values>;
        if constexpr (std::same_as<T, double>)
            return constant(DType::f64, std::move(shape), std::span<const double>(values), where);
        else if constexpr (std::same_as<T, float>)
            return constant(DType::f32, std::move(shape),
                            std::vector<double>(std::ranges::begin(values), std::ranges::end(values)), where);
        else
            return integers(dtype_of<T>(), std::move(shape), {std::ranges::begin(values), std::ranges::end(values)},
                            where);
    }
    template <Element T>
    Tensor constant(std::initializer_list<T> values, Shape shape,
                    std::source_location where = std::source_location::current()) {
        return constant(std::span(values.begin(), values.size()), std::move(shape), where);
    }
    /// A scalar. Integers are exact; throws Error(graph) if an integer dtype cannot hold the value.
    Tensor constant(DType dtype, double value, std::source_location where = std::source_location::current());
    template <std::integral T>
    Tensor constant(DType dtype, T value, std::source_location where = std::source_location::current()) {
        return constant(dtype, Dim(value + 0), where);
    }
    /// The value of a Dim as a scalar tensor.
    Tensor constant(DType dtype, const Dim& value, std::source_location where = std::source_location::current());
    /// Adds a named output. Throws Error(graph) if the name is taken or the tensor belongs to another graph.
    void output(std::string_view name, const Tensor& tensor,
                std::source_location where = std::source_location::current());

    /// The name given at construction.
    const std::string& name() const;
    /// The symbol table of this graph's shapes.
    Symbols& symbols() const;
    /// Number of nodes so far, leaves included.
    std::size_t size() const;
    const std::shared_ptr<ir::GraphData>& data() const;
    explicit Graph(std::shared_ptr<ir::GraphData> data) noexcept : data_(std::move(data)) {}

private:
    State state_from(std::string_view name, DType dtype, Shape shape, const detail::ElementSpan& initial,
                     std::source_location where);
    Tensor integers(DType dtype, Shape shape, const std::vector<std::int64_t>& values, std::source_location where);
    std::shared_ptr<ir::GraphData> data_;
};

/// The text form of a graph, one node a line (`%3 = matmul %1, %2 : f32[N,768]`). It names weights but does not contain
/// their data; parse_graph returns an equal graph.
CAIRN_API std::string to_string(const Graph& graph);
/// Writes to_string(graph).
CAIRN_API std::ostream& operator<<(std::ostream& out, const Graph& graph);
/// Parses the output of to_string(Graph). Throws Error(argument) with line and column.
CAIRN_API Graph parse_graph(std::string_view text);

}  // namespace cairn::inline v0
