#pragma once

#include "tune/rivals.hpp"

#include <stop_token>
#include <vector>

/// All that can be measured of a graph.
namespace cairn::inline v0::tune {

/// Every way to reach every goal: the calls of each kernel that accepts, from operands in whatever form, of copies and
/// packings too, at each representative size; each call once, with those that make the same at the same sizes. What is
/// known is among them (Call::time is false). What may take longest comes first. Throws Cancelled.
std::vector<Rivals> all_rivals(std::span<const select::Bucket> buckets, const select::CostSource& costs,
                               const std::stop_token& stop);

/// All of these whose time is unknown, the likeliest first: each is to be run.
Field whole_field_of(const Rivals& rivals, const select::CostSource& costs);

}  // namespace cairn::inline v0::tune
