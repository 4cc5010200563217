#include "tests/graph/ir/random_graph.hpp"

#include "graph/ir/infer.hpp"
#include "tests/graph/ir/random_graph_builder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cairn::test {

/// The kinds of step; the number of entries is the weight.
struct Steps {
    using Builder = RandomGraphBuilder;
    using Step = bool (Builder::*)();
    static constexpr Step always[] = {
        &Builder::unary,       &Builder::unary,       &Builder::unary,         &Builder::binary,
        &Builder::binary,      &Builder::binary,      &Builder::binary,        &Builder::binary,
        &Builder::compare,     &Builder::logic,       &Builder::choose,        &Builder::reduce,
        &Builder::reduce,      &Builder::arg_max,     &Builder::product,       &Builder::product,
        &Builder::cut,         &Builder::integer_op,  &Builder::reshape_value, &Builder::reshape_value,
        &Builder::permute,     &Builder::permute,     &Builder::repeat,        &Builder::with_scalar,
        &Builder::cut,         &Builder::windows,     &Builder::pad_axis,      &Builder::join,
        &Builder::with_scalar, &Builder::gather_rows, &Builder::scatter_rows,  &Builder::make_iota,
        &Builder::copy,        &Builder::gather_rows, &Builder::any_formula};
    static constexpr Step composites[] = {&Builder::composite, &Builder::composite, &Builder::decomposed_composite,
                                          &Builder::attend, &Builder::rotary};
};

RandomGraphBuilder::RandomGraphBuilder(std::uint64_t seed, const RandomGraphOptions& options)
    : random_(seed), options_(options), graph_("random" + std::to_string(seed)) {
    const std::vector<std::int64_t> constants = {1, 1, 2, 3, 4};
    for (int i = 0; i < 2; ++i) sizes_.push_back(random_.pick(constants));
    if (random_.one_in(12)) sizes_.push_back(0);
    if (!options_.symbols) {
        sizes_.push_back(random_.pick(constants));
        return;
    }
    const char* const names[] = {"A", "B", "C"};
    const int count = 1 + random_.below(3);
    for (int i = 0; i < count; ++i) {
        const std::int64_t low = random_.one_in(4) ? 0 : random_.between(1, 2);
        const std::int64_t high = low + random_.between(0, 3);
        const Dim size = graph_.symbol(names[i], low, high);
        sizes_.push_back(size);
        if (options_.edge_values && random_.one_in(3)) sizes_.push_back(high - size);
    }
    if (options_.spatial) derived_sizes();
}

Graph RandomGraphBuilder::build() {
    make_leaves();
    if (options_.states && random_.one_in(3)) attempt(&RandomGraphBuilder::state);
    for (int i = 0; i < options_.steps; ++i) {
        if (options_.edge_values && random_.one_in(8)) edge_value_integer();
        if (options_.blocks && random_.one_in(4)) use_blocks();
        if (options_.spatial && random_.one_in(2)) {
            attempt(&RandomGraphBuilder::spatial);
            continue;
        }
        const bool high = options_.composites && random_.one_in(options_.edge_values ? 3 : 8);
        const Steps::Step step = high ? Steps::composites[random_.below(std::size(Steps::composites))]
                                      : Steps::always[random_.below(std::size(Steps::always))];
        if (options_.narrow && random_.one_in(24))
            cast_and_back();
        else if (options_.devices && random_.one_in(6))
            copy();
        else
            attempt(step);
    }
    any_formula();
    make_outputs();
    return graph_;
}

/// A few tries of one step: an op may reject sizes that are polynomials, such as an axis that a window may exceed.
void RandomGraphBuilder::attempt(bool (RandomGraphBuilder::*step)()) {
    if (!options_.spatial) {
        (this->*step)();
        return;
    }
    for (int tries = 0; tries < 4; ++tries) try {
            (this->*step)();
            return;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::graph) throw;
        }
}

void RandomGraphBuilder::make_leaves() {
    const int count = 1 + random_.below(3);
    for (int i = 0; i < count; ++i) floats_.push_back(leaf(any_shape(1, 3)));
    booleans_.push_back(boolean_input(any_shape(1, 2)));
    integers_.push_back({integer_input(any_shape(1, 2), 7), 6, 0, 0});
    if (options_.edge_values) edge_value_inputs();
}

void RandomGraphBuilder::make_outputs() {
    const auto uses = ir::use_counts(*graph_.data());
    std::vector<Tensor> candidates;
    for (const BoundedValue& item : floats_)
        if (uses[item.tensor.id()] == 0) candidates.push_back(item.tensor);
    for (const BoundedValue& item : integers_)
        if (uses[item.tensor.id()] == 0 && random_.one_in(2)) candidates.push_back(item.tensor);
    for (const Tensor& tensor : booleans_)
        if (uses[tensor.id()] == 0 && random_.one_in(3)) candidates.push_back(tensor);
    if (random_.one_in(6)) candidates.push_back(any_float().tensor);  // also read by others, a leaf, or an output twice
    if (candidates.empty()) candidates.push_back(floats_.back().tensor);
    if (options_.edge_values) edge_value_outputs(candidates);
    int number = 0;
    for (const Tensor& tensor : candidates)
        if (candidates.size() <= 4 || random_.one_in(2) || &tensor == &candidates.back())
            graph_.output("y" + std::to_string(number++), tensor);
}

std::string RandomGraphBuilder::name(const std::string& stem) { return stem + std::to_string(names_++); }

Dim RandomGraphBuilder::any_size() { return random_.one_in(6) ? Dim(1) : random_.pick(sizes_); }

Shape RandomGraphBuilder::any_shape(int low_rank, int high_rank) {
    Shape shape;
    const auto rank = random_.between(low_rank, high_rank);
    for (std::int64_t i = 0; i < rank; ++i) shape.push_back(any_size());
    return shape;
}

BoundedValue RandomGraphBuilder::leaf(const Shape& shape) {
    const Dim count = element_count(shape);
    const bool constant = std::all_of(shape.begin(), shape.end(), [](const Dim& size) { return size.is_constant(); });
    if (!constant || random_.one_in(2)) return {graph_.input(name("x"), options_.dtype, shape)};
    if (count.constant() > 16 || random_.one_in(2)) return {graph_.weight(name("w"), options_.dtype, shape)};
    std::vector<double> values;
    for (std::int64_t i = 0; i < count.constant(); ++i)
        values.push_back(static_cast<double>(random_.between(-16, 16)) / 8);
    return {graph_.constant(options_.dtype, shape, values)};
}

Tensor RandomGraphBuilder::integer_input(const Shape& shape, std::int64_t below) {
    return graph_.input(name("i") + ".below" + std::to_string(below), DType::i32, shape);
}

Tensor RandomGraphBuilder::boolean_input(const Shape& shape) { return graph_.input(name("b"), DType::boolean, shape); }

// Recent values are likelier than old ones, so that graphs grow deep.
const BoundedValue& RandomGraphBuilder::any_float() {
    const int count = static_cast<int>(floats_.size());
    const int back = random_.one_in(2) ? random_.below(std::min(count, 4)) : random_.below(count);
    return floats_[static_cast<std::size_t>(count - 1 - back)];
}

std::optional<BoundedValue> RandomGraphBuilder::exact_float() {
    for (int tries = 0; tries < 6; ++tries)
        if (const BoundedValue& item = random_.pick(floats_); item.exact()) return item;
    return std::nullopt;
}

// Here and below, only one argument of a call draws a number or makes a node: evaluation order depends on the compiler.
Shape RandomGraphBuilder::narrowed(const Shape& shape) {
    Shape result(shape.begin() + random_.below(static_cast<int>(shape.size()) + 1), shape.end());
    for (Dim& size : result)
        if (random_.one_in(3)) size = 1;
    return result;
}

BoundedValue RandomGraphBuilder::partner(const BoundedValue& x) {
    for (int tries = 0; tries < 5; ++tries) {
        const BoundedValue& other = any_float();
        if (ir::broadcast_shapes(x.tensor.shape(), other.tensor.shape())) return other;
    }
    return leaf(narrowed(x.tensor.shape()));
}

/// True if a value is small at all sizes, and its sizes are provably not negative, so that leaves may have its shape.
bool RandomGraphBuilder::can_keep(const Tensor& tensor) {
    const Shape shape = tensor.shape();
    return element_count(shape).upper_bound() <= max_elements &&
           std::all_of(shape.begin(), shape.end(), [](const Dim& size) { return provably_le(0, size); });
}

bool RandomGraphBuilder::keep(const Tensor& tensor, double limit, double error, int quantum) {
    const bool is_f16 = options_.dtype == DType::f16, is_bf16 = options_.dtype == DType::bf16;
    const double exact_below = is_f16 ? 0x1p10 : is_bf16 ? 0x1p7 : 0x1p22, max_error = is_f16 || is_bf16 ? 48 : 1500;
    if (quantum >= 0 && limit * std::ldexp(1.0, quantum) > exact_below) quantum = -1;
    if (quantum >= 0) error = 0;
    if (!(limit <= 64) || !(error <= max_error) || !can_keep(tensor)) return false;
    if (floats_.size() % 5 == 0) cairn::name(tensor, "value");  // draws no random number: graphs stay as they were
    floats_.push_back({tensor, limit, error, quantum});
    return true;
}

bool RandomGraphBuilder::keep_moved(const Tensor& tensor, const BoundedValue& from) {
    return keep(tensor, from.limit, from.error, from.quantum);
}

bool RandomGraphBuilder::keep_integer(const Tensor& tensor, double limit) {
    if (limit > 1e6 || !can_keep(tensor)) return false;
    integers_.push_back({tensor, limit, 0, 0});
    return true;
}

bool RandomGraphBuilder::keep_boolean(const Tensor& tensor) {
    if (!can_keep(tensor)) return false;
    booleans_.push_back(tensor);
    return true;
}

Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options) {
    return RandomGraphBuilder(seed, options).build();
}

}  // namespace cairn::test
