#pragma once

#include "autotune/measurement/clock.hpp"
#include "cairn/context.hpp"
#include "device/memory.hpp"
#include "program/program.hpp"
#include "runtime/arenas.hpp"
#include "runtime/bound_values.hpp"
#include "runtime/frame.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::autotune {

/// Runs whole programs as an instance does, on synthetic data: floats near 0, as many threads as in use, each weight in
/// memory of its own. So times include what sums of kernel times leave out: the cache contents that other instructions
/// leave, barriers, and serial sections.
///
/// Buffers of the same name are shared: weights and what is derived from them, inputs, states. States do not advance:
/// each run appends to the same rows. For one thread at a time.
class ProgramRunner {
public:
    /// Makes synthetic weights and runs the bind instructions. `programs` must outlive the runner. Throws
    /// Error(memory), Cancelled, Error(argument) if that is not done by `until`, and what kernels throw.
    ProgramRunner(std::span<const program::Program* const> programs, const Context& context,
                  const std::stop_token& stop, autotune::Clock::time_point until = autotune::Clock::time_point::max());

    /// Sizes at which a program is timed: selection::representative_sizes, with symbols closer to their lower bounds if
    /// a state would have no room.
    std::vector<std::vector<std::int64_t>> sizes_of(std::size_t program) const;
    /// Seconds of `runs` consecutive runs of a program. Throws what kernels throw.
    double seconds(std::size_t program, std::span<const std::int64_t> sizes, std::int64_t runs);

private:
    struct PreparedProgram {
        std::shared_ptr<runtime::BoundProgram> bound;
        runtime::Frame frame;
        std::vector<std::byte*> bases;
    };
    void bind();
    void check_interrupt() const;
    std::byte* memory_of(const program::Buffer& buffer, std::size_t bytes);
    void prepare(PreparedProgram& prepared, std::span<const std::int64_t> sizes);

    Context context_;
    std::stop_token stop_;
    autotune::Clock::time_point until_;  // deadline for making the weights
    std::vector<std::shared_ptr<runtime::BoundProgram>> bound_;
    std::vector<PreparedProgram> prepared_;
    runtime::BoundValues values_;
    runtime::Arenas arenas_;
    std::map<std::pair<std::string, Device>, std::unique_ptr<device::Memory>>
        inputs_and_states_;  // by kind and name, and device
};

}  // namespace cairn::autotune
