#pragma once

#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// Tables of spellings: ways to write one function with atomic ops that must be found, and near misses that must not.
namespace cairn::test {

using Tensors = std::vector<Tensor>;

/// One way to write a function of the family's operands.
struct Expression {
    std::string text;
    std::function<Tensor(const Tensors&)> build;
};

/// A definition, the operands of its spellings, and the tile they must give: `softmax axis=(-1) (x)`.
struct Family {
    std::string definition;
    std::function<Tensors(Graph&)> operands;
    std::string match;
    std::map<std::string, std::string> others = {};  ///< near misses that are another call of the definition: its tile
};

/// At least 20 different spellings, each of which gives the family's tile at its result.
void expect_found(const Family& family, const std::vector<Expression>& expressions);
/// At least 20 different spellings, none of which gives a tile of the definition at its result, but for the `others`.
/// What any tile computes is checked by value.
void expect_missed(const Family& family, const std::vector<Expression>& expressions);

}  // namespace cairn::test
