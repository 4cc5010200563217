#pragma once

#include "rewrite/normal_form/identity.hpp"

/// The functions of the rows of identities.cpp, which says what each does, and what they share, by file.
namespace cairn::normal_form {

// arithmetic.cpp
std::optional<ScaledTerm> sum_of_two(Normalizer& n, const Operation& add);
std::optional<ScaledTerm> difference(Normalizer& n, const Operation& sub);
std::optional<ScaledTerm> negative(Normalizer& n, const Operation& neg);
std::optional<ScaledTerm> product_of_two(Normalizer& n, const Operation& mul);
std::optional<ScaledTerm> quotient(Normalizer& n, const Operation& div);
std::optional<ScaledTerm> square_root(Normalizer& n, const Operation& sqrt);
std::optional<ScaledTerm> inverse_root(Normalizer& n, const Operation& rsqrt);
std::optional<ScaledTerm> constant_power(Normalizer& n, const Operation& pow);
bool flatten_sum(Normalizer& n, const ScaledTerm& summand, std::vector<ScaledTerm>& out);
bool distribute(Normalizer& n, const ScaledTerm& summand, std::vector<ScaledTerm>& out);
std::optional<ScaledTerm> zero_terms(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> like_terms(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> common_factors(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> joined_numbers(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> largest_coefficient(Normalizer& n, Sum& sum);
void like_factors(Normalizer& n, Product& product);
bool power_of_product(Normalizer& n, TermId core, double exponent, std::vector<ScaledTerm>& out);

// masks.cpp
std::optional<ScaledTerm> added_mask(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> terms_under_mask(Normalizer& n, Sum& sum);

// exponential.cpp
std::optional<ScaledTerm> exponential_of_log(Normalizer& n, const Operation& exp);
std::optional<ScaledTerm> exponential_of_sum(Normalizer& n, const Operation& exp);
std::optional<ScaledTerm> logarithm_of_product(Normalizer& n, const Operation& log);
std::optional<ScaledTerm> logarithm_of_inverse(Normalizer& n, const Operation& log);
bool power_of_exponential(Normalizer& n, TermId core, double exponent, std::vector<ScaledTerm>& out);
std::optional<ScaledTerm> log_softmax_shift(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> tanh_by_logistic(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> falling_exponent(Normalizer& n, Sum& sum);
std::optional<ScaledTerm> rest_of_logistic(Normalizer& n, Sum& sum);
void softmax_shift(Normalizer& n, Product& product);
void rising_exponents(Normalizer& n, Product& product);

// factors.cpp
std::optional<ScaledTerm> absolute_multiple(Normalizer& n, const Operation& abs);
std::optional<ScaledTerm> odd_function(Normalizer& n, const Operation& of);
std::optional<ScaledTerm> even_function(Normalizer& n, const Operation& of);
std::optional<ScaledTerm> linear_function(Normalizer& n, const Operation& of);
std::optional<ScaledTerm> concat_of_multiples(Normalizer& n, const Operation& concat);
std::optional<ScaledTerm> largest_multiple(Normalizer& n, const Operation& max_reduce);

// logic.cpp
std::optional<ScaledTerm> scaled_maximum(Normalizer& n, const Operation& max);
std::optional<ScaledTerm> minimum(Normalizer& n, const Operation& min);
std::optional<ScaledTerm> unequal(Normalizer& n, const Operation& ne);
std::optional<ScaledTerm> greater_or_equal(Normalizer& n, const Operation& ge);
std::optional<ScaledTerm> greater(Normalizer& n, const Operation& gt);
std::optional<ScaledTerm> less(Normalizer& n, const Operation& lt);
std::optional<ScaledTerm> negation(Normalizer& n, const Operation& logical_not);
std::optional<ScaledTerm> disjunction(Normalizer& n, const Operation& logical_or);
std::optional<ScaledTerm> flat_conjunction(Normalizer& n, const Operation& logical_and);
std::optional<ScaledTerm> choice_by_sign(Normalizer& n, const Operation& where);
std::optional<ScaledTerm> negated_choice(Normalizer& n, const Operation& where);
std::optional<ScaledTerm> nested_choice(Normalizer& n, const Operation& where);

// integer.cpp
std::optional<ScaledTerm> integer_sum_of_two(Normalizer& n, const Operation& add);
std::optional<ScaledTerm> integer_difference(Normalizer& n, const Operation& sub);
std::optional<ScaledTerm> integer_negative(Normalizer& n, const Operation& neg);
std::optional<ScaledTerm> integer_multiple(Normalizer& n, const Operation& mul);
std::optional<ScaledTerm> cast_positions(Normalizer& n, const Operation& cast);
std::optional<ScaledTerm> order_of_positions(Normalizer& n, const Operation& le);
std::optional<ScaledTerm> iota_from_zero(Normalizer& n, const Operation& iota);
/// The sum of integers and an offset.
ScaledTerm integer_sum(Normalizer& n, std::vector<ScaledTerm> terms, const Dim& offset, DType dtype);

// contraction.cpp
std::optional<ScaledTerm> factors_of_sum(Normalizer& n, const Operation& sum);
std::optional<ScaledTerm> product_of_concat(Normalizer& n, ScaledTerm& a, ScaledTerm& b);
std::optional<ScaledTerm> product_of_sums(Normalizer& n, ScaledTerm& a, ScaledTerm& b);
std::optional<ScaledTerm> bound_factors(Normalizer& n, ScaledTerm& a, ScaledTerm& b);
std::optional<ScaledTerm> bound_terms(Normalizer& n, ScaledTerm& a, ScaledTerm& b);
std::optional<ScaledTerm> chain_of_products(Normalizer& n, ScaledTerm& a, ScaledTerm& b);
std::optional<ScaledTerm> factors_of_product(Normalizer& n, ScaledTerm& a, ScaledTerm& b);

// movement_pushdown.cpp
std::optional<Move> still_transpose(Normalizer& n, const Term& term, const Move& move);
std::optional<Move> two_reshapes(Normalizer& n, const Term& term, const Move& move);
std::optional<Move> two_transposes(Normalizer& n, const Term& term, const Move& move);
std::vector<Move> move_of_elements(Normalizer& n, const Term& term, const Move& move);
std::vector<Move> transpose_of_product(Normalizer& n, const Term& term, const Move& move);
std::vector<Move> rows_of_product(Normalizer& n, const Term& term, const Move& move);
std::vector<Move> reshape_of_gather(Normalizer& n, const Term& term, const Move& move);
std::vector<Move> unit_axes(Normalizer& n, const Term& term, const Move& move);
std::vector<Move> reshape_of_broadcast(Normalizer& n, const Term& term, const Move& move);
std::vector<Move> transpose_of_broadcast(Normalizer& n, const Term& term, const Move& move);

// movement.cpp
std::optional<ScaledTerm> appended_rows(Normalizer& n, const Operation& state_append);

// slice_pushdown.cpp
std::vector<Move> slice_of_elements(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slice_of_reduction(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slice_of_product(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slice_across_concat(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slice_within_concat(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slice_of_slice(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slices_of_two_axes(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slice_of_transpose(Normalizer& n, const Term& term, const Move& slice);
std::vector<Move> slice_of_reshape(Normalizer& n, const Term& term, const Move& slice);
/// The move of a slice; nothing for a slice that is no move of the form of `x`.
std::optional<Move> slice_of(Normalizer& n, const ir::Node& node, const ScaledTerm& x);
/// True for the term of a slice that is a move.
bool is_slice(const Term& term);
/// A concat whose parts have been sliced.
ScaledTerm concat_of_cut(Normalizer& n, const Term& term, const Move& slice, std::span<const ScaledTerm> parts);

// gather_pushdown.cpp
std::vector<Move> gather_of_elements(Normalizer& n, const Term& term, const Move& gather);
/// The move of a gather; nothing for one that is no move of the form of the table.
std::optional<Move> gather_of(Normalizer& n, const ir::Node& node, const ScaledTerm& table, const ScaledTerm& ids);

}  // namespace cairn::normal_form
