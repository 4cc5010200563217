#include "rewrite/normal_form/identities.hpp"

namespace cairn::normal_form {
namespace {

using enum DTypeClass;
using ir::Op;
using ir::OpTrait;

constexpr Laws exact{}, distributed{Law::distributed}, masked{Law::masked}, reassociated{Law::reassociated},
    multiplied_out{Law::distributed, Law::reassociated};
constexpr OpSet reshapes{Op::reshape}, transposes{Op::transpose}, slices{Op::slice}, gathers{Op::gather};
/// neg, sum, matmul, reshape and transpose have rows, or a place, of their own.
constexpr OpSet linear_ops =
    OpSet::with(OpTrait::linear).without({Op::neg, Op::sum, Op::matmul, Op::reshape, Op::transpose});

// clang-format off
constexpr Identity rows[] = {
    // Sums and products of floats.
    {"neg", "neg(x) -> -1 * x", "floats", exact, OfOperation{{Op::neg}, floats, negative}},
    {"add", "a + (b + c) -> (c + a) + b", "floats", exact, OfOperation{{Op::add}, floats, sum_of_two}},
    {"sub", "a - b -> a + -1 * b", "floats", exact, OfOperation{{Op::sub}, floats, difference}},
    {"mul", "a * (b * c) -> (c * a) * b", "floats", exact, OfOperation{{Op::mul}, floats, product_of_two}},
    {"div", "a / b -> a * b^-1", "floats", exact, OfOperation{{Op::div}, floats, quotient}},
    {"sqrt", "sqrt(x) -> x^0.5", "floats", exact, OfOperation{{Op::sqrt}, floats, square_root}},
    {"rsqrt", "rsqrt(x) -> x^-0.5", "floats", exact, OfOperation{{Op::rsqrt}, floats, inverse_root}},
    {"pow", "pow(x, c) -> x^c", "floats; c is a number", exact, OfOperation{{Op::pow}, floats, constant_power}},
    {"power_of_product", "(a^p * b^q)^n -> a^(p * n) * b^(q * n)", "floats; n is 1 or -1, or n, p and q are whole", exact, OfPower{power_of_product}},
    {"power_of_exp", "exp(x)^n -> exp(n * x)", "floats", exact, OfPower{power_of_exponential}},
    {"power_of_multiple", "(c * x)^n -> c^n * x^n", "floats; the number c is positive, or n is whole", exact, ByRepresentation{}},
    {"like_factors", "x^p * x^q -> x^(p + q)", "floats; p and q are whole and of one sign", exact, OfProduct{like_factors}},
    {"softmax_shift", "exp(x - max(x)) / sum(exp(x - max(x))) -> exp(x) / sum(exp(x))", "floats; max_reduce and sum along the same axes", exact, OfProduct{softmax_shift}},
    {"rising_exponents", "exp(x) * exp(-x) / (1 + exp(-x)) -> 1 / (1 + exp(-x))", "floats", exact, OfProduct{rising_exponents}},
    {"flatten_sum", "c * (a + b) + d -> c * a + c * b + d", "floats; c is a number, up to 8 terms", exact, OfSummand{flatten_sum}},
    {"distribute", "a * (b + c) + d -> a * b + a * c + d", "floats; up to 8 terms", distributed, OfSummand{distribute}},
    {"zero_terms", "x + 0 -> x", "floats; but for the sign of a zero", exact, OfSum{zero_terms}},
    {"added_mask", "x + where(c, 0, m) -> where(c, x, m)", "floats; m <= -1e30 and x is computed from a matmul, or m is -inf", masked, OfSum{added_mask}},
    {"terms_under_mask", "where(c, x, -inf) + y -> where(c, x + y, -inf)", "floats; y varies along the last axis", masked, OfSum{terms_under_mask}},
    {"like_terms", "c * x + d * x -> (c + d) * x", "floats; c and d are numbers of one sign", exact, OfSum{like_terms}},
    {"softmax_shift", "(x - max(x)) - log(sum(exp(x - max(x)))) -> x - log(sum(exp(x)))", "floats; max_reduce and sum along the same axes", exact, OfSum{log_softmax_shift}},
    {"common_factors", "a * b + a * c -> a * (b + c)", "floats", distributed, OfSum{common_factors}},
    {"joined_numbers", "x + c + d -> x + (c + d)", "floats; c and d are numbers, of any sign beside another term", exact, OfSum{joined_numbers}},
    {"tanh_by_logistic", "1 + tanh(x) -> 2 / (1 + exp(-2 * x))", "floats; 1 - tanh(x) likewise", exact, OfSum{tanh_by_logistic}},
    {"falling_exponent", "1 + exp(x) -> exp(x) * (1 + exp(-x))", "floats; exp(-x) is falling: x has a positive number in front", exact, OfSum{falling_exponent}},
    {"rest_of_logistic", "1 - 1 / (1 + exp(x)) -> exp(x) / (1 + exp(x))", "floats; and the reverse", exact, OfSum{rest_of_logistic}},
    {"largest_coefficient", "c * x + d * y -> c * (x + d / c * y)", "floats; c and d are numbers, c the one of larger magnitude", exact, OfSum{largest_coefficient}},

    // Exponentials.
    {"exp_of_log", "exp(n * log(x)) -> x^n", "floats; x is made of exponentials: never negative", exact, OfOperation{{Op::exp}, floats, exponential_of_log}},
    {"exp_of_sum", "exp(x + y) -> exp(x) * exp(y)", "floats; numbers up to 64", exact, OfOperation{{Op::exp}, floats, exponential_of_sum}},
    {"log_of_product", "log(exp(x) * y) -> x + log(y)", "floats", exact, OfOperation{{Op::log}, floats, logarithm_of_product}},
    {"log_of_inverse", "log(1 / x) -> -log(x)", "floats", exact, OfOperation{{Op::log}, floats, logarithm_of_inverse}},

    // Maxima, comparisons, logic and choices.
    {"scaled_max", "max(c * x, c * y) -> c * max(x, y)", "floats; the number c is positive", exact, OfOperation{{Op::max}, floats, scaled_maximum}},
    {"min", "min(x, y) -> -max(-x, -y)", "floats", exact, OfOperation{{Op::min}, floats, minimum}},
    {"ne", "x != y -> not x == y", "", exact, OfOperation{{Op::ne}, all, unequal}},
    {"ge", "x >= y -> y <= x", "", exact, OfOperation{{Op::ge}, all, greater_or_equal}},
    {"gt", "x > y -> y < x", "", exact, OfOperation{{Op::gt}, all, greater}},
    {"lt", "x < y -> not y <= x", "integers", exact, OfOperation{{Op::lt}, integers, less}},
    {"order_of_positions", "i + x <= j + y -> 0 <= j - i + (y - x)", "i32 and i64; i and j are sums of iotas, x and y sizes or numbers", exact, OfOperation{{Op::le}, integers, order_of_positions}},
    {"not", "not not x -> x", "booleans", exact, OfOperation{{Op::logical_not}, booleans, negation}},
    {"or", "x or y -> not (not x and not y)", "booleans", exact, OfOperation{{Op::logical_or}, booleans, disjunction}},
    {"and", "x and (y and x) -> y and x", "booleans; up to 8 parts", exact, OfOperation{{Op::logical_and}, booleans, flat_conjunction}},
    {"choice_by_sign", "where(x < 0, 0, x) -> max(x, 0)", "floats; x <= 0 likewise", exact, OfOperation{{Op::where}, floats, choice_by_sign}},
    {"negated_choice", "where(not c, x, y) -> where(c, y, x)", "", exact, OfOperation{{Op::where}, all, negated_choice}},
    {"nested_choice", "where(c, where(d, x, y), y) -> where(c and d, x, y)", "and where x and y are swapped in one of both", exact, OfOperation{{Op::where}, all, nested_choice}},

    // Integers.
    {"integer_add", "x + (y + x) -> 2 * x + y", "integers", exact, OfOperation{{Op::add}, integers, integer_sum_of_two}},
    {"integer_sub", "x - y -> x + -1 * y", "integers", exact, OfOperation{{Op::sub}, integers, integer_difference}},
    {"integer_neg", "neg(x) -> -1 * x", "integers", exact, OfOperation{{Op::neg}, integers, integer_negative}},
    {"integer_mul", "c * (x + y) -> c * x + c * y", "integers; c is a number below 2^20", exact, OfOperation{{Op::mul}, integers, integer_multiple}},
    {"cast_positions", "cast(i, i64) -> i", "i32 and i64; i is a sum of iotas within i32", exact, OfOperation{{Op::cast}, integers, cast_positions}},
    {"iota_from_zero", "iota(n, start) -> iota(n) + start", "integers", exact, OfOperation{{Op::iota}, integers, iota_from_zero}},

    // Coefficients.
    {"abs", "abs(c * x) -> abs(c) * abs(x)", "floats; c is a number", exact, OfOperation{{Op::abs}, floats, absolute_multiple}},
    {"odd_function", "f(-x) -> -f(x)", "floats; f is sin, tanh or erf", exact, OfOperation{OpSet::with(OpTrait::odd).without({Op::neg}), floats, odd_function}},
    {"even_function", "f(-x) -> f(x)", "floats; f is cos", exact, OfOperation{OpSet::with(OpTrait::even).without({Op::abs}), floats, even_function}},
    {"linear_function", "f(c * x) -> c * f(x)", "floats, and negation of booleans; c is a number, f broadcast, window, gather, take_along_axis, cumsum or copy_to", exact, OfOperation{linear_ops, floats | booleans, linear_function}},
    {"move_of_multiple", "move(c * x) -> c * move(x)", "c is a number, move a reshape, transpose, slice or gather", exact, ByRepresentation{}},
    {"concat_of_multiples", "concat(c * x, d * y) -> c * concat(x, d / c * y)", "floats, and negation of booleans; c and d are numbers", exact, OfOperation{{Op::concat}, floats | booleans, concat_of_multiples}},
    {"largest_multiple", "max_reduce(c * x) -> c * max_reduce(x)", "floats; the number c is positive", exact, OfOperation{{Op::max_reduce}, floats, largest_multiple}},

    // States.
    {"appended_rows", "append(s, x) -> concat(s, x)", "along the axis in which the state grows", exact, OfOperation{{Op::state_append}, all, appended_rows}},

    // Sums along axes, and products of matrices (written @).
    {"factors_of_sum", "sum(f * x) -> f * sum(x)", "floats; f does not vary along the axes", distributed, OfOperation{{Op::sum}, floats, factors_of_sum}},
    {"product_of_concat", "concat(x, y) @ w -> x @ slice(w) + y @ slice(w)", "floats; concat of the last axis, up to 8 parts", reassociated, OfMatrices{MatrixStep::sums, product_of_concat}},
    {"product_of_sums", "(a + b) @ c -> a @ c + b @ c", "floats; a and b vary along the summed axis, up to 8 products; likewise c", multiplied_out, OfMatrices{MatrixStep::sums, product_of_sums}},
    {"bound_factors", "(x * g) @ w -> x @ (g^T * w)", "floats; g and w are bound, g a row, x is not bound", distributed, OfMatrices{MatrixStep::chains, bound_factors}},
    {"bound_terms", "(x + r) @ w -> x @ w + r @ w", "floats; r and w are bound, r a row, x is not bound", distributed, OfMatrices{MatrixStep::chains, bound_terms}},
    {"chain_of_products", "(a @ b) @ c -> a @ (b @ c)", "floats; up to 8 matrices", reassociated, OfMatrices{MatrixStep::chains, chain_of_products}},
    {"factors_of_product", "(f * a) @ (b * g) -> f * (a @ b) * g", "floats; f does not vary along the last axis, g along the one before", distributed, OfMatrices{MatrixStep::factors, factors_of_product}},

    // Movement: reshape, transpose.
    {"leading_ones", "reshape(x, [1, shape of x]) -> x", "", exact, ByRepresentation{}},
    {"still_transpose", "transpose(x, p) -> reshape(x)", "p moves only axes of size 1, and x is no matmul", exact, OfMove{Op::transpose, still_transpose}},
    {"two_reshapes", "reshape(reshape(x, s), t) -> reshape(x, t)", "", exact, OfTwoMoves{Op::reshape, two_reshapes}},
    {"two_transposes", "transpose(transpose(x, p), q) -> transpose(x, q after p)", "", exact, OfTwoMoves{Op::transpose, two_transposes}},
    {"move_of_elements", "move(f(x, y)) -> f(move(x), move(y))", "f is elementwise, move a reshape or transpose, x and y have one shape; through up to 64 terms", exact, Pushdown{{Op::reshape, Op::transpose}, move_of_elements}},
    {"transpose_of_product", "transpose(a @ b) -> transpose(b) @ transpose(a)", "floats; the last two axes are swapped", exact, Pushdown{transposes, transpose_of_product}},
    {"rows_of_product", "reshape(a @ b) -> reshape(a) @ b", "floats; b is a matrix, and columns stay", exact, Pushdown{reshapes, rows_of_product}},
    {"reshape_of_gather", "reshape(gather(x, ids)) -> gather(x, reshape(ids))", "of the first axis, and the later axes stay", exact, Pushdown{reshapes, reshape_of_gather}},
    {"unit_axes", "reshape(f(x)) -> f(reshape(x))", "only axes of size 1 come or go, before those along which f works; f elementwise, matmul, sum, max_reduce or transpose", exact, Pushdown{reshapes, unit_axes}},
    {"reshape_of_broadcast", "reshape(f(x, r)) -> f(reshape(x), r)", "f is elementwise, r repeated along all axes but the last, which stay", exact, Pushdown{reshapes, reshape_of_broadcast}},
    {"transpose_of_broadcast", "transpose(f(x, r)) -> f(transpose(x), transpose(r))", "f is elementwise, r repeated along some axes", exact, Pushdown{transposes, transpose_of_broadcast}},

    // Movement: slice, gather.
    {"slice_of_elements", "slice(f(x, r)) -> f(slice(x), r)", "f is elementwise, r repeated along the axis, else sliced too", exact, Pushdown{slices, slice_of_elements}},
    {"slice_of_reduction", "slice(sum(x)) -> sum(slice(x))", "floats; sum and max_reduce along other axes", exact, Pushdown{slices, slice_of_reduction}},
    {"slice_of_product", "slice(a @ b) -> a @ slice(b)", "floats; slice(a) of rows, both of batches", exact, Pushdown{slices, slice_of_product}},
    {"slice_across_concat", "slice(concat(x, y)) -> concat(slice(x), slice(y))", "along different axes", exact, Pushdown{slices, slice_across_concat}},
    {"slice_within_concat", "slice(concat(x, y)) -> slice(y)", "along one axis, where it lies within y", exact, Pushdown{slices, slice_within_concat}},
    {"slice_of_slice", "slice(slice(x, a), b) -> slice(x, b within a)", "along one axis", exact, Pushdown{slices, slice_of_slice}},
    {"slices_of_two_axes", "slice(slice(x, a), b) -> slice(slice(x, b), a)", "b of the earlier axis", exact, Pushdown{slices, slices_of_two_axes}},
    {"slice_of_transpose", "slice(transpose(x)) -> transpose(slice(x))", "", exact, Pushdown{slices, slice_of_transpose}},
    {"slice_of_reshape", "slice(reshape(x)) -> reshape(slice(x))", "the axes from that of the slice on stay", exact, Pushdown{slices, slice_of_reshape}},
    {"gather_of_elements", "gather(f(x, r), ids) -> f(gather(x, ids), r)", "f is elementwise, r repeated along the axis and those before, else gathered too", exact, Pushdown{gathers, gather_of_elements}},
};
// clang-format on

constexpr auto tables = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{IdentityTable(rows, Laws::of_index(i))...};
}
(std::make_index_sequence<Laws::count>());

}  // namespace

std::span<const Identity> all_identities() { return rows; }

const IdentityTable& IdentityTable::under(Laws laws) { return tables[laws.index()]; }

}  // namespace cairn::normal_form
