#pragma once

#include "program/memory_plan/packing_problem.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Packing problems for the benchmark of the memory planner.
namespace cairn::bench {

struct NamedProblem {
    std::string name;
    memory_plan::PackingProblem problem;
    std::int64_t capacity = 0;  ///< bytes that a plan is known to need at most; 0: unknown
};

/// Reads NAME.CAPACITY.csv in the format of MiniMalloc: a line for each buffer with id, first instruction, the one
/// after the last, bytes. Exits with a message if the file cannot be read.
NamedProblem read_minimalloc(const std::string& path);

/// Each op reads the one before and others up to `reach` ops before; sizes from 1 KiB to 1 MiB.
NamedProblem random_graph(std::uint32_t seed, int ops, int reach);

/// The files of tests/data/minimalloc, U-Nets, detectors and random graphs.
std::vector<NamedProblem> crowded_problems();

}  // namespace cairn::bench
