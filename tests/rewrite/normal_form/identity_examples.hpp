#pragma once

#include <ostream>
#include <span>
#include <string_view>

namespace cairn::test {

/// A graph without the header line whose outputs `left` and `right` are the sides of an identity. Symbol: N in 1..8.
struct IdentityExample {
    std::string_view identity, graph;
    bool in_definitions = false;  ///< shown with Laws::of_definitions(), else with the exact identities
    friend std::ostream& operator<<(std::ostream& out, const IdentityExample& one) { return out << one.identity; }
};

std::span<const IdentityExample> arithmetic_examples();  ///< sums, products, masks, exponentials
std::span<const IdentityExample> logic_examples();       ///< logic, integers, coefficients
std::span<const IdentityExample> structure_examples();   ///< products of matrices, movement

}  // namespace cairn::test
