#pragma once

#include "select/candidates.hpp"
#include "select/goals.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace cairn::inline v0::select {

struct Options {
    bool search = true;  ///< false: each node on its own, by the first kernel that accepts
    bool packed = true;  ///< consider packed weights
    std::stop_token stop = {};
    bool find_low = false;  ///< also find Selection::low, by a search of its own
};

/// A candidate and the goal it was chosen for; its problem is kept by the Candidates it was chosen from.
struct Choice {
    GoalKey goal;
    Candidate candidate;
};

/// The cover: candidates that together make all outputs and state versions, each value once.
struct Selection {
    std::vector<Choice> chosen;  ///< operands come before their users, but for multi-output tiles; emit() orders them
    std::vector<GoalKey> resident;  ///< what its runs keep in memory
    double seconds = 0;             ///< expected for one run at representative sizes
    double low = 0;          ///< where asked for: no cover can take less, if all estimates' lower bounds are right
    std::size_t states = 0;  ///< of the search
    std::size_t regions = 0, regions_solved = 0;
    bool exact = true;
};

/// Picks the cheapest cover of `graph` by `tiles` and `kernels`. An interior value that something outside a tile reads
/// is demanded like any other: made again, or provided by a tile that has it as an output, whichever costs less. Throws
/// Error(unsupported) naming the node that no kernel can make and what each said.
Selection select(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates,
                 const Options& options = {});

/// One line a chosen candidate: `cpu.avx2.linear.f32@1 1.2e-05 s (measured) | linear ...`.
std::string to_string(const Selection& selection);

}  // namespace cairn::inline v0::select
