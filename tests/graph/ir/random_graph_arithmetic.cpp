#include "graph/ir/infer.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"
#include "tests/graph/ir/random_graph_builder.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

/// Steps that compute values: elementwise ops, reductions, matmul, casts. Each gives a bound of its result and of its
/// f32 error: the slope of the function times the error of its operand, plus a few roundings of the result.
namespace cairn::test {
namespace {

constexpr double few = 4;

}  // namespace

bool RandomGraphBuilder::unary() {
    const BoundedValue x = any_float();
    const Tensor& t = x.tensor;
    const double l = x.limit, e = x.error;
    switch (random_.below(14)) {
        case 0: return keep(-t, l, e, x.quantum);
        case 1: return keep(abs(t), l, e, x.quantum);
        case 2: return l <= 3 && keep(exp(t), std::exp(l), std::exp(l) * (e + few));
        case 3: return keep(log(abs(t) + 0.5), std::log(l + 0.5) + 1, 2 * (e + l) + few * l);
        case 4: return keep(sqrt(abs(t) + 0.25), std::sqrt(l + 0.25), e + l + few * l);
        case 5: return keep(rsqrt(abs(t) + 0.25), 2, 4 * (e + l) + few * 2);
        case 6: return keep(sin(t), 1, e + few);
        case 7: return keep(cos(t), 1, e + few);
        case 8: return keep(tanh(t), 1, e + few);
        case 9: return keep(erf(t), 1, 1.2 * e + few);
        case 10: {
            const auto exact = exact_float();
            return exact && keep(floor(exact->tensor), exact->limit + 1, 0, 0);
        }
        case 11: return keep(max(t, 0), l, e, x.quantum);
        case 12: return keep(t * t, l * l, 2 * l * e + l * l, x.exact() ? 2 * x.quantum : -1);
        default: return keep(tanh(t), 1, e + few);
    }
}

bool RandomGraphBuilder::binary() {
    const BoundedValue x = any_float(), y = partner(x);
    const Tensor &a = x.tensor, &b = y.tensor;
    const double sum = x.limit + y.limit, product = x.limit * y.limit;
    const int finer = x.exact() && y.exact() ? std::max(x.quantum, y.quantum) : -1;
    switch (random_.below(8)) {
        case 0:
        case 1: return keep(a + b, sum, x.error + y.error + sum, finer);
        case 2: return keep(a - b, sum, x.error + y.error + sum, finer);
        case 3:
        case 4:
            return keep(a * b, product, x.limit * y.error + y.limit * x.error + product,
                        x.exact() && y.exact() ? x.quantum + y.quantum : -1);
        case 5: {
            const Tensor away = abs(b) + 0.5;
            return keep(a / away, 2 * x.limit, 2 * x.error + 4 * x.limit * (y.error + y.limit) + 2 * x.limit);
        }
        case 6: {
            const Tensor result = random_.one_in(2) ? min(a, b) : max(a, b);
            return keep(result, std::max(x.limit, y.limit), std::max(x.error, y.error), finer);
        }
        default: {
            if (x.limit > 4 || y.limit > 2) return false;
            const Tensor base = abs(a) + 0.5;
            return keep(pow(base, b), 21, 16 * (x.error + x.limit) + 32 * y.error + few * 21);
        }
    }
}

// Applies any elementwise op, so that a new one needs no step of its own. Its operands are exact and not zero, so it is
// exactly known where the result is NaN or infinite. The result is clamped.
bool RandomGraphBuilder::any_formula() {
    static constexpr auto is_plain = [](const ir::OpInfo& row) {
        return row.kind == ir::OpClass::elementwise && has_floats(row.accepts) && row.op != ir::Op::cast &&
               row.op != ir::Op::where;
    };
    std::vector<ir::OpInfo> rows;
    std::ranges::copy_if(ir::op_table(), std::back_inserter(rows), is_plain);
    const ir::OpInfo& row = random_.pick(rows);
    const auto known = exact_float();
    const BoundedValue x = known ? *known : leaf(any_shape(1, 3));
    const auto off_zero = [](const BoundedValue& item) { return item.tensor + std::ldexp(1.0, -(item.quantum + 1)); };
    std::vector<Tensor> operands = {off_zero(x)};
    if (row.min_operands == 2) operands.push_back(off_zero(leaf(narrowed(x.tensor.shape()))));
    const Tensor result = ir::apply(row.name, operands, {});
    if (result.dtype() == DType::boolean) return keep_boolean(result);
    const Tensor held = max(min(result, 4), -4);
    return keep(where(held == held, held, 0), 4, few * 4);
}

bool RandomGraphBuilder::with_scalar() {
    const BoundedValue x = any_float();
    const double scale = static_cast<double>(random_.between(-8, 8)) / 4, size = std::fabs(scale);
    const int finer = x.exact() ? x.quantum + 2 : -1;
    switch (random_.below(4)) {
        case 0: return keep(x.tensor * scale, x.limit * size, size * x.error + x.limit * size, finer);
        case 1:
            return keep(scale - x.tensor, x.limit + size, x.error + x.limit + size,
                        x.exact() ? std::max(x.quantum, 2) : -1);
        case 2:
            return keep(x.tensor + scale, x.limit + size, x.error + x.limit + size,
                        x.exact() ? std::max(x.quantum, 2) : -1);
        default: return scale != 0 && keep(x.tensor / scale, x.limit / size, x.error / size + x.limit / size);
    }
}

bool RandomGraphBuilder::compare() {
    Tensor a, b;
    if (random_.one_in(3)) {
        a = random_.pick(integers_).tensor;
        b = random_.pick(integers_).tensor;
    } else {
        const auto x = exact_float(), y = exact_float();
        if (!x || !y) return false;
        a = x->tensor;
        b = y->tensor;
    }
    const bool scalar = random_.one_in(3);
    if (!scalar && !ir::broadcast_shapes(a.shape(), b.shape())) return false;
    const Operand other = scalar ? Operand(static_cast<int>(random_.between(-1, 2))) : Operand(b);
    switch (random_.below(6)) {
        case 0: return keep_boolean(a == other);
        case 1: return keep_boolean(a != other);
        case 2: return keep_boolean(a < other);
        case 3: return keep_boolean(a <= other);
        case 4: return keep_boolean(a > other);
        default: return keep_boolean(a >= other);
    }
}

bool RandomGraphBuilder::logic() {
    const Tensor a = random_.pick(booleans_);
    if (random_.one_in(3)) return keep_boolean(!a);
    Tensor b = random_.pick(booleans_);
    if (b.shape() != a.shape()) b = boolean_input(narrowed(a.shape()));
    switch (random_.below(3)) {
        case 0: return keep_boolean(a && b);
        case 1: return keep_boolean(a || b);
        default: return keep_boolean(logical_xor(a, b));
    }
}

bool RandomGraphBuilder::choose() {
    const BoundedValue x = any_float(), y = partner(x);
    Tensor condition = random_.pick(booleans_);
    const Shape shape = (x.tensor + y.tensor).shape();
    const auto fits = [&] {
        if (condition.shape().size() > shape.size()) return false;
        const auto offset = static_cast<std::ptrdiff_t>(shape.size() - condition.shape().size());
        return std::equal(condition.shape().begin(), condition.shape().end(), shape.begin() + offset,
                          [](const Dim& a, const Dim& b) { return a == b || a == Dim(1); });
    };
    if (!fits()) condition = boolean_input(narrowed(shape));
    if (random_.one_in(4))
        return keep(where(condition, x.tensor, -1.5), std::max(x.limit, 1.5), x.error,
                    x.exact() ? std::max(x.quantum, 1) : -1);
    const int finer = x.exact() && y.exact() ? std::max(x.quantum, y.quantum) : -1;
    return keep(where(condition, x.tensor, y.tensor), std::max(x.limit, y.limit), std::max(x.error, y.error), finer);
}

bool RandomGraphBuilder::average(const BoundedValue& x, const std::vector<int>& axes, bool keepdims, double terms) {
    const double scale = scale_for(x.limit), own = (rounds_once() ? few : terms + few) * x.limit;
    if (scale == 1) return keep(mean(x.tensor, axes, keepdims), x.limit, x.error + own);
    return keep(mean(x.tensor * scale, axes, keepdims) / scale, x.limit, x.error + own);
}

bool RandomGraphBuilder::reduce() {
    const BoundedValue x = any_float();
    std::vector<int> axes;
    for (int axis = 0; axis < x.tensor.rank(); ++axis)
        if (random_.one_in(2)) axes.push_back(random_.one_in(2) ? axis : axis - x.tensor.rank());
    Dim terms = 1;
    bool filled = true;
    for (int axis = 0; axis < x.tensor.rank(); ++axis) {
        const bool reduced = axes.empty() || std::find_if(axes.begin(), axes.end(), [&](int a) {
                                                 return a == axis || a == axis - x.tensor.rank();
                                             }) != axes.end();
        if (reduced) terms = terms * x.tensor.dim(axis);
        if (reduced && !provably_le(1, x.tensor.dim(axis))) filled = false;
    }
    const bool keepdims = random_.one_in(2);
    const auto n = static_cast<double>(terms.upper_bound());
    switch (random_.below(3)) {
        case 0: return filled && keep(max_reduce(x.tensor, axes, keepdims), x.limit, x.error, x.quantum);
        case 1: return filled && options_.composites && average(x, axes, keepdims, n);
        default: return keep(sum(x.tensor, axes, keepdims), n * x.limit, n * (x.error + n * x.limit), x.quantum);
    }
}

bool RandomGraphBuilder::arg_max() {
    const auto x = exact_float();
    if (!x || x->tensor.rank() == 0) return false;
    const int axis = axis_of(x->tensor);
    if (!provably_le(1, x->tensor.dim(axis))) return false;
    const auto n = static_cast<double>(x->tensor.dim(axis).upper_bound());
    switch (random_.below(5)) {
        case 0: return keep_integer(argsort(x->tensor, axis, random_.one_in(2)), n);
        case 1: {
            const Tensor order = argsort(x->tensor, axis, random_.one_in(2));
            return keep(take_along_axis(x->tensor, order, axis), x->limit, x->error, x->quantum);
        }
        case 2: return keep(cumsum(x->tensor, axis), n * x->limit, n * (x->error + n * x->limit), x->quantum);
        case 3: {
            const double limit = std::pow(x->limit, n);
            return n <= 3 && x->limit >= 1 && keep(prod(x->tensor, axis), limit, n * limit * (1 + x->error));
        }
        default: return keep_integer(argmax(x->tensor, axis, random_.one_in(2)), n);
    }
}

bool RandomGraphBuilder::product() {
    const BoundedValue x = any_float();
    if (x.tensor.rank() < 2) return false;
    BoundedValue y;
    for (int tries = 0; tries < 4 && y.tensor.empty(); ++tries) {
        const BoundedValue& other = any_float();
        if (other.tensor.rank() == 2 && other.tensor.dim(0) == x.tensor.dim(-1)) y = other;
    }
    if (y.tensor.empty()) {
        Shape shape = narrowed({x.tensor.shape().begin(), x.tensor.shape().end() - 2});
        shape.push_back(x.tensor.dim(-1));
        shape.push_back(any_size());
        y = leaf(shape);
    }
    const auto n = static_cast<double>(x.tensor.dim(-1).upper_bound());
    const double limit = n * x.limit * y.limit;
    return keep(matmul(x.tensor, y.tensor), limit, n * (x.limit * y.error + y.limit * x.error) + n * limit,
                x.exact() && y.exact() ? x.quantum + y.quantum : -1);
}

// Applies any elementwise op of integers alone. It draws no random number: other graphs stay as they were.
bool RandomGraphBuilder::integer_formula(const BoundedValue& x, int scalar) {
    std::vector<ir::OpInfo> rows;
    std::ranges::copy_if(ir::op_table(), std::back_inserter(rows),
                         [](const ir::OpInfo& row) { return row.accepts == ir::DTypeSet::integers; });
    const ir::OpInfo& row = rows[integers_.size() / 3 % rows.size()];
    std::vector<Tensor> operands = {x.tensor, 3 * x.tensor - static_cast<double>(scalar)};
    operands.resize(static_cast<std::size_t>(row.min_operands));
    return keep_integer(max(min(ir::apply(row.name, operands, {}), 6), -6), 6);
}

// The bytes of integers, or these put together again.
bool RandomGraphBuilder::keep_bits(const BoundedValue& x) {
    const Tensor bytes = bitcast(x.tensor, DType::u8);
    if (integers_.size() % 2 == 0) return keep_integer(cast(bytes, DType::i32), 255);
    return can_keep(bytes) && keep_integer(bitcast(bytes, x.tensor.dtype()), x.limit);
}

bool RandomGraphBuilder::integer_op() {
    const BoundedValue x = random_.pick(integers_);
    const Tensor& t = x.tensor;
    const int scalar = static_cast<int>(random_.between(-3, 5));
    switch (random_.below(11)) {
        case 0: return keep_integer(t + scalar, x.limit + 5);
        case 1: return keep_integer(t - scalar, x.limit + 5);
        case 2: return keep_integer(t * scalar, x.limit * 5);
        case 3: return keep_integer(t / scalar, x.limit);  // by zero too: that is 0
        case 4: return integers_.size() % 3 == 0 ? integer_formula(x, scalar) : keep_integer(-t, x.limit);
        case 5: return integers_.size() % 3 == 0 ? keep_bits(x) : keep_integer(abs(t), x.limit);
        case 6: return keep_integer(max(t, scalar), x.limit + 5);
        case 7: return keep_integer(min(t, scalar), x.limit + 5);
        case 8: return keep_integer(sum(t, {}, true), x.limit * max_elements);
        case 9: return t.rank() > 0 && keep_integer(max_reduce(t, {-1}), provably_le(1, t.dim(-1)) ? x.limit : 1e9);
        default: return x.limit <= 64 && keep(cast(t, options_.dtype), x.limit, 0, 0);
    }
}

bool RandomGraphBuilder::cast_and_back() {
    const auto x = exact_float();
    if (!x) return false;
    const double bits = x->limit * std::ldexp(1.0, x->quantum);
    const auto cast_through = [&](DType dtype) { return cast(cast(x->tensor, dtype), options_.dtype); };
    switch (random_.below(7)) {
        case 0: return keep_moved(cast_through(DType::f64), *x);
        case 1: return bits <= 0x1p10 && keep_moved(cast_through(DType::f16), *x);
        case 2: return bits <= 0x1p7 && keep_moved(cast_through(DType::bf16), *x);
        case 3:
            if (floats_.size() % 3 == 0) return keep_moved(bitcast(bitcast(x->tensor, DType::u8), options_.dtype), *x);
            return keep(cast_through(DType::i64), x->limit, 0, 0);
        case 4: return keep(cast_through(DType::i8), x->limit, 0, 0);
        case 5: return keep(cast_through(DType::u8), x->limit, 0, 0);
        default: return keep_integer(cast(x->tensor, DType::i32), x->limit);
    }
}

}  // namespace cairn::test
