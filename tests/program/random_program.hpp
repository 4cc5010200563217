#pragma once

#include "cairn/cairn.hpp"
#include "program/program.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/graph/ir/random_graph.hpp"

namespace cairn::test {

/// The program of the first bucket of a random graph.
inline program::Program program_of(std::uint64_t seed) {
    static const Context context;
    return runtime::parse_program_set(compile(random_graph(seed), context).program()).buckets[0].program;
}

}  // namespace cairn::test
