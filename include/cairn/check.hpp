#pragma once

#include "cairn/context.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// Options of check_kernel.
struct CheckOptions {
    bool same_for_any_team = true;  ///< expect the same bits for every number of threads
    std::size_t size_stride = 1;    ///< try every `size_stride`-th of the sizes of a Problem, and always the last
    /// Returns the number of heap calls of the calling thread so far, in a program that counts them; null: not checked.
    std::int64_t (*heap_calls)() noexcept = nullptr;
    bool only_extra = false;    ///< check_kernels: only the kernels of ContextOptions::extra
    std::stop_token stop = {};  ///< throws Cancelled between two Problems
};

/// Result of checking a kernel.
struct KernelReport {
    std::vector<std::string> faults;  ///< the first few, each with the Problem's text; empty: passed
    int runs = 0;                     ///< runs compared with the definition
    int variations = 0;               ///< Problems tried: the samples and their variations
    int in_place = 0;                 ///< runs with an output in the memory of an input
    std::string kernel = {};          ///< Kernel::id
    /// Why the kernel could not be run here: its library is missing, and it refuses all of its samples for that reason
    /// (Kernel::enqueue); in check_kernels() also its device or features. Empty: it was run.
    std::string not_checked = {};
};

/// Tests a kernel against its definition, as a black box; every built-in kernel passes. Runs each of its samples and
/// their variations (other strides and dtypes, as far as it accepts them) at several sizes; with 1, 2 and 3 threads,
/// and with one thread on data prepared for 3; and with other memory contents around and in the operands, at addresses
/// aligned to the dtype's size only. Checks that
/// * results are within tolerance of the definition in float64: (terms + 16) eps for sums and products, 16 eps for one
///   op, 64 eps for a composite; integers are exact; a kernel that states an error (Kernel::error) is within that;
/// * the bits are the same each time;
/// * nothing is written outside the outputs and the workspace, and nothing read outside the inputs affects results;
/// * if it accepts a range of sizes, it accepts each size in it, and workspace(), prepare() and code() succeed there;
/// * with an output in an input's memory, where the kernel allows it: the same bits again;
/// * an index that the definition refuses is reported as a failure (Team::fail);
/// * run() makes no heap call, the cost is a finite number, and the workspace suffices.
///
/// A kernel with code (Kernel::code) runs on its device, with operands in the memory of the device and guards around
/// each: every Problem three times, and one compiled text at all sizes. In addition the text must compile, be the same
/// for equal Problems, and have a grid that can be launched. A kernel for `copy_to` of such a device copies between it
/// and the host. If a kernel makes the device unusable, its report says so and the kernels after it are not checked.
///
///     Context context({.extra = my_kernels()});
///     for (const std::string& fault : check_kernel(context, "cpu.mine.swish.f32@1").faults) std::puts(fault.c_str());
///
/// Uses threads of its own during the call. Throws Error(argument) if the Context has no such kernel,
/// Error(unsupported) if this machine cannot run it, if the Context has not opened its device, or if it packs into a
/// layout of its own (check a kernel that reads the layout instead).
CAIRN_API KernelReport check_kernel(const Context& context, std::string_view id, const CheckOptions& options = {});
/// As above, for a kernel outside a Context, whose definition is an op or one of `definitions`. A kernel with code is
/// an Error(unsupported): it needs a device, which a Context opens.
CAIRN_API KernelReport check_kernel(const Kernel& kernel, std::span<const Definition> definitions,
                                    const CheckOptions& options = {});

/// Checks all kernels of a Context, those of ContextOptions::extra first, each with all its settings. Returns one
/// report for each, in that order. KernelReport::not_checked gives the reason for a kernel that this machine cannot
/// run, whose device the Context has not opened, or whose packed layout is unknown. The built-in kernels pass; they
/// take minutes. A program's tests check its own kernels:
///
///     for (const KernelReport& report : check_kernels(context, {.only_extra = true}))
///         for (const std::string& fault : report.faults) std::puts(fault.c_str());
///
/// CompileOptions::verify checks a kernel on the Problems that a program calls it with. Throws Cancelled.
CAIRN_API std::vector<KernelReport> check_kernels(const Context& context, const CheckOptions& options = {});

/// The reference of a Problem: a graph of atomic ops with an input `in0`, `in1`, ... for each of its inputs and an
/// output `out0`, ... for each of its outputs; strides and layouts are ignored. Throws Error(argument) if it names no
/// op and no definition, if an axis is not negative (axes of Problems count from the end), and if its outputs are not
/// those that follow from its inputs; Error(graph) for inputs that the op or definition does not take.
CAIRN_API Graph reference_graph(const Problem& problem, const Context& context);

}  // namespace cairn::inline v0
