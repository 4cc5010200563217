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

/// How check_kernel tries a kernel.
struct CheckOptions {
    bool same_for_any_team = true;  ///< the same bits are expected whatever the number of threads
    std::size_t every = 1;          ///< of the sizes of a Problem each `every`-th is tried, the last one always
    /// Heap calls of the calling thread so far, from a program that counts them; null: not watched.
    std::int64_t (*heap_calls)() noexcept = nullptr;
    bool only_own = false;      ///< of check_kernels: only those of ContextOptions::extra
    std::stop_token stop = {};  ///< throws Cancelled between two Problems
};

/// What check_kernel found.
struct KernelReport {
    std::vector<std::string> faults;  ///< the first few, each with the Problem's text; empty: the kernel passed
    int runs = 0;                     ///< runs compared with the definition
    int variations = 0;               ///< Problems tried: the samples, and those made from them
    int in_place = 0;                 ///< runs with an output in an input's memory
    std::string kernel = {};          ///< its id
    std::string not_checked = {};     ///< of check_kernels: why the kernel could not be run here; empty: it was
};

/// Tries a kernel against its definition, knowing nothing else about it: what every built-in kernel passes. Each of its
/// samples and variations of them (other strides and dtypes, as far as it accepts them), at several sizes, with 1, 2
/// and 3 threads, by one thread what was prepared for 3, and in other memory: other poison around and in it, addresses
/// that are multiples of nothing but the dtype's size:
/// * results lie within tolerance of the float64 meaning of the definition: (terms + 16) eps for sums and products,
///   16 eps for one op, 64 eps for a composite; integers are exact; those of a kernel that states an error
///   (Kernel::error) within that;
/// * the bits are the same each time;
/// * nothing is written outside the outputs and the workspace, nothing read that shows;
/// * if it accepts a range of sizes, it accepts each size in it, and workspace() and prepare() succeed there;
/// * with an output in an input's memory, where the kernel says so: the same bits again;
/// * run() makes no heap call, the cost is a finite number, the workspace is enough.
///
///     Context context({.extra = my_kernels()});
///     for (const std::string& fault : check_kernel(context, "cpu.mine.swish.f32@1").faults) std::puts(fault.c_str());
///
/// Threads of its own run the kernel while the call lasts. Throws Error(argument) when the Context has no such kernel,
/// Error(unsupported) when this machine cannot run it or it packs into a layout of its own (check what reads it).
CAIRN_API KernelReport check_kernel(const Context& context, std::string_view id, const CheckOptions& options = {});
/// The same for a kernel of no Context, whose definition is an op or one of `definitions`.
CAIRN_API KernelReport check_kernel(const Kernel& kernel, std::span<const Definition> definitions,
                                    const CheckOptions& options = {});

/// Checks all kernels of a Context, those of ContextOptions::extra first, each at all its settings, and returns a
/// report for each in that order. KernelReport::not_checked gives the reason for a kernel that this machine cannot run
/// or whose packed layout is unknown. The built-in kernels pass; they take minutes. A program checks its own in its
/// tests:
///
///     for (const KernelReport& report : check_kernels(context, {.only_own = true}))
///         for (const std::string& fault : report.faults) std::puts(fault.c_str());
///
/// CompileOptions::verify checks a kernel on the Problems that a program calls it with. Throws Cancelled.
CAIRN_API std::vector<KernelReport> check_kernels(const Context& context, const CheckOptions& options = {});

/// What a Problem means: a graph of atomic ops with an input `in0`, `in1`, ... for each of its inputs and an output
/// `out0`, ... for each of its outputs; strides and layouts mean nothing. Throws Error(argument) where its name is that
/// of no op and no definition, where axes do not count from the end as in all Problems, and where its outputs are not
/// what it makes of its inputs; Error(graph) for inputs that it does not take.
CAIRN_API Graph reference_graph(const Problem& problem, const Context& context);

}  // namespace cairn::inline v0
