#pragma once

#include "cairn/composites.hpp"
#include "tests/graph/ir/random_generator.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cairn::test {

/// A value of a growing random graph, with bounds on its elements at all sizes.
struct BoundedValue {
    Tensor tensor;
    double limit = 2;  ///< no element is larger in magnitude
    double error = 0;  ///< largest error of arithmetic, in units of the dtype's rounding (f32: 2^-24)
    int quantum = 3;   ///< elements are multiples of 2^-quantum and exact in the dtype; -1: not known to be
    bool exact() const noexcept { return quantum >= 0; }
};

/// Builds one random graph, a step at a time. A step returns false if it cannot be made (nothing fits, values would
/// grow too large).
class RandomGraphBuilder {
public:
    RandomGraphBuilder(std::uint64_t seed, const RandomGraphOptions& options);
    Graph build();

private:
    // random_graph.cpp
    void attempt(bool (RandomGraphBuilder::*step)());
    void make_leaves();
    void make_outputs();
    Dim any_size();
    Shape any_shape(int low_rank, int high_rank);
    BoundedValue leaf(const Shape& shape);
    Tensor integer_input(const Shape& shape, std::int64_t below);
    Tensor boolean_input(const Shape& shape);
    Tensor added_mask(const Shape& shape);
    const BoundedValue& any_float();
    std::optional<BoundedValue> exact_float();
    BoundedValue partner(const BoundedValue& x);
    Shape narrowed(const Shape& shape);
    static bool can_keep(const Tensor& tensor);
    bool keep(const Tensor& tensor, double limit, double error, int quantum = -1);
    bool keep_moved(const Tensor& tensor, const BoundedValue& from);
    /// True of f16 and bf16: composites compute them in f32, so that their own error is one rounding of the result.
    bool rounds_once() const { return is_widening(options_.dtype, DType::f32); }
    /// A power of two. Values of f16 up to `limit` in magnitude are below 2^15 once multiplied by it, and sums of a few
    /// of them, or of their squares, are beyond f16. 1 for other dtypes.
    double scale_for(double limit) const;
    bool keep_integer(const Tensor& tensor, double limit);
    bool keep_boolean(const Tensor& tensor);
    std::string name(const std::string& stem);
    int axis_of(const Tensor& tensor) { return random_.below(tensor.rank()); }

    // random_graph_arithmetic.cpp
    bool unary();
    bool binary();
    bool any_formula();
    bool integer_formula(const BoundedValue& x, int scalar);
    bool with_scalar();
    bool compare();
    bool logic();
    bool choose();
    bool reduce();
    bool average(const BoundedValue& x, const std::vector<int>& axes, bool keepdims, double terms);
    bool arg_max();
    bool product();
    bool keep_bits(const BoundedValue& x);
    bool integer_op();
    bool cast_and_back();

    // random_graph_movement.cpp
    bool reshape_value();
    bool permute();
    bool repeat();
    bool cut();
    bool windows();
    bool pad_axis();
    bool join();
    bool gather_rows();
    bool scatter_rows();
    bool make_iota();
    bool copy();

    // random_graph_states.cpp
    bool state();
    State state_with_values(const Shape& shape);
    BoundedValue change(State& memory, const std::vector<BoundedValue>& versions, int axis, bool grows);
    BoundedValue rows_for(const Shape& shape, const std::vector<BoundedValue>& versions, int axis);
    BoundedValue computed_rows(const Shape& shape);
    void read_together(const std::vector<BoundedValue>& versions, int axis);

    // random_graph_composites.cpp
    bool composite();
    bool decomposed_composite();
    bool attend();
    bool rotary();
    bool use_blocks();

    // random_graph_spatial.cpp
    void derived_sizes();
    BoundedValue image(int axes);
    IntList each_axis(int axes, int low, int high);
    bool keep_scaled(const Tensor& tensor, double limit, double error, int quantum = -1);
    bool spatial();
    bool convolve();
    bool pool();
    bool rescale();
    bool channel_norm();
    bool rank_elements();

    // random_graph_edge_values.cpp
    void edge_value_inputs();
    Tensor edge_value_constant();
    Tensor edge_value_iota();
    bool edge_value_integer();
    bool edge_value_row(const Tensor& x);
    bool keep_edge_value(const Tensor& tensor);
    void edge_value_outputs(std::vector<Tensor>& candidates);

    friend struct Steps;
    RandomGenerator random_;
    RandomGraphOptions options_;
    Graph graph_;
    std::vector<Dim> sizes_;
    std::vector<BoundedValue> floats_, integers_;
    std::vector<Tensor> booleans_;
    std::vector<Tensor> edge_values_;  ///< integers of any value
    int names_ = 0;
    bool has_state_ = false;
};

/// Largest number of elements of a value at the upper bounds of its sizes.
inline constexpr std::int64_t max_elements = 2048;

}  // namespace cairn::test
