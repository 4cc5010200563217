#pragma once

#include <cstdint>
#include <optional>

namespace cairn::compare {

/// Memory of this process, or of others, by the files of Linux in /proc. Nothing where there are none.
std::optional<double> resident_bytes();
/// The most resident memory since reset_peak(), or since the process began.
std::optional<double> peak_resident_bytes();
/// Makes the peak what is resident now; without effect if the system does not permit it.
void reset_peak();

/// The sum of the peaks of all processes of a process group. A peak is that of the program that a process runs now:
/// ru_maxrss of wait4() would include the memory that this process had when it started the other one.
std::optional<double> peak_bytes_of_group(int group);

}  // namespace cairn::compare
