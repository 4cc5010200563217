#pragma once

#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// Tables of expressions: graphs of atomic ops for one function that must match, and near misses that must not.
namespace cairn::test {

using Tensors = std::vector<Tensor>;

/// One expression of a function of the family's operands.
struct Expression {
    std::string text;
    std::function<Tensor(const Tensors&)> build;
};

/// A definition, the operands of its expressions, and the match they must give: `softmax axis=(-1) (x)`.
struct Family {
    std::string definition;
    std::function<Tensors(Graph&)> operands;
    std::string match;
    std::map<std::string, std::string> others = {};  ///< near misses that are another call of the definition: its match
};

/// Expects at least 20 different expressions, each with the family's match at its result.
void expect_found(const Family& family, const std::vector<Expression>& expressions);
/// Expects at least 20 different expressions without a match of the definition at their result, except for the
/// `others`. The values that matches compute are checked.
void expect_missed(const Family& family, const std::vector<Expression>& expressions);

}  // namespace cairn::test
