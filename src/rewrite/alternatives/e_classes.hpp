#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/normal_form/laws.hpp"

#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace cairn::alternatives {

using normal_form::Law, normal_form::Laws;

/// Which nodes of a graph are spellings of one value. The first spelling, the program's own, stands for the class.
///
///     %5 = matmul %0, %3                          value_of(%5) = value_of(%6) = %5
///     %6 = slice %4 (=matmul %0, concat %1, %3)   spellings(%5) = {%5, %6}    laws_of(%6) = exact
///
/// In an expanded graph every spelling of a value comes before every user of any of them, so that whichever are chosen,
/// nothing is computed from itself.
class EClasses {
public:
    EClasses() = default;
    /// Each value of the graph alone.
    explicit EClasses(const ir::GraphData& graph);

    /// One more node, a value alone.
    void add() { value_of_.push_back(static_cast<ir::NodeId>(value_of_.size())); }

    ir::NodeId value_of(ir::NodeId node) const { return value_of_[node]; }
    /// All of a value, the first in front; of a value without others itself alone. Valid until one is added or joined.
    std::span<const ir::NodeId> expressions(ir::NodeId value) const;
    /// What a spelling rests on beside the first; nothing for that itself.
    Laws laws_of(ir::NodeId node) const;
    /// What any of the spellings rests on.
    Laws laws() const noexcept { return all_laws_; }
    /// True where no value has another spelling.
    bool have_one_expression_each() const noexcept { return others_.empty(); }
    /// How many spellings the value with the most has.
    std::size_t most() const noexcept { return most_; }

    /// Adds a spelling that stood alone to a value.
    void join(ir::NodeId value, ir::NodeId expression, Laws laws);

    /// A value rounded to fewer bits, which may be read in its place by who widens it, at an error (ir::unit_roundoff):
    /// a cast of it, or a view of such a cast. It is made of the value, and so no spelling.
    ///
    ///     %5 = cast %3 : bf16     rounded(%3) = %5
    std::optional<ir::NodeId> rounded(ir::NodeId value) const;
    const std::map<ir::NodeId, ir::NodeId>& all_rounded() const noexcept { return rounded_; }
    void round(ir::NodeId value, ir::NodeId narrow) { rounded_[value] = narrow; }

private:
    std::vector<ir::NodeId> value_of_;
    std::unordered_map<ir::NodeId, std::vector<ir::NodeId>> others_;  // of values with several spellings: all of them
    std::unordered_map<ir::NodeId, Laws> laws_;
    std::map<ir::NodeId, ir::NodeId> rounded_;  // by value
    Laws all_laws_;
    std::size_t most_ = 1;
};

/// The classes without the spellings that the normal form does not prove under the laws they name: it knows laws up to
/// a size, and writes some values otherwise than a row thinks (n g + g as g (n + 1)). Throws Cancelled on a stop.
EClasses proved(const ir::GraphData& graph, const EClasses& classes, const std::stop_token& stop = {});

/// The first thing wrong with classes, in words; empty when all is well: each spelling has the dtype and shape of its
/// value, comes before every user of any spelling, and has the value's normal form under the laws it names; what is a
/// value rounded is a narrower cast of it, or the same view of what it is a view of, rounded.
std::string verify(const ir::GraphData& graph, const EClasses& classes);

/// `%5 = %6 exact, %9 distributed`: a line for each value with several spellings, then `%5 rounded: %7` for each that
/// may be read so; for dumps and tests.
std::string to_string(const ir::GraphData& graph, const EClasses& classes);

}  // namespace cairn::alternatives
