#pragma once

#include <cstdint>
#include <string>

namespace cairn::compare {

/// The machine and the programs of a report.
struct Machine {
    std::string id;        ///< the hard part of the timing database's environment: CPU, features, threads, flags
    std::string details;   ///< its soft part: kernel release, governor, microcode
    std::string os;        ///< `Linux 6.1.0 x86_64`
    std::string compiler;  ///< of this program
    std::string cairn;     ///< version
    std::int64_t usable_cpus = 1;
};

/// This machine, with that many threads.
Machine this_machine(std::int64_t threads);

}  // namespace cairn::compare
