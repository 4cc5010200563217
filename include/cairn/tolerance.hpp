#pragma once

#include "cairn/version.hpp"

#include <string>

namespace cairn::inline v0 {

/// How far results may lie from what their graph means in float64.
///
///     options.tolerance = Tolerance::relative(1e-2);                  // kernels that state an error may be taken,
///     options.output_tolerances = {{"logits", Tolerance::exact()}};   // but not on the way to this output
class CAIRN_API Tolerance {
public:
    /// Every op is computed and accumulated in at least its dtype, the terms of sums in any order: |y - r| is at most
    /// (terms + 16) eps times the sum of the absolute terms. Not bitwise.
    static Tolerance exact() noexcept { return {}; }
    /// Kernels that state an error (Kernel::error) may be taken as well, as long as the errors on the way to an output
    /// add up to `error` at most. It stands for a relative L2 error of the output, and for a tenth of its largest
    /// |y - r| / max(|r|, RMS r). Throws Error(argument) unless it is finite and above 0.
    ///
    /// The sum is to first order and in relation to each value on the way: it does not tell what a later op makes of an
    /// error. Where one amplifies (a difference of near equal values, exp of large ones), an output could be further
    /// off. So the first run of each bucket whose program holds anything inexact runs its exact program too, on the
    /// same inputs and states, and compares every output and every state it leaves, by the same measure; integers and
    /// booleans must be equal, so must NaN and infinities. What is beyond `error` is never seen: the exact results are
    /// returned, and the bucket runs its exact program for good. CompiledGraph::verified_errors() tells.
    ///
    /// States that only grow may be stored in f16 or bf16, where that is faster: each adds 2^-11 or 2^-8 to the errors
    /// on the way to what it shows in. Beside CompileOptions::memory_limit they are not, nor in paths(). Where one
    /// bucket is then beyond `error`, all of them run their exact programs for good.
    ///
    /// One run on one set of inputs shows that errors are not amplified there. It is no proof for other inputs, sizes
    /// of the bucket, or for what many runs bring in through states: compare with exact results where that matters.
    static Tolerance relative(double error);

    /// True of exact().
    bool is_exact() const noexcept { return error_ == 0; }
    /// What was given to relative(); 0 of exact().
    double error() const noexcept { return error_; }
    friend bool operator==(const Tolerance&, const Tolerance&) = default;

private:
    double error_ = 0;
};

/// `exact`, `0.001`.
CAIRN_API std::string to_string(const Tolerance& tolerance);

/// The tolerance of one output, by its name.
struct OutputTolerance {
    std::string output;                        ///< of the graph
    Tolerance tolerance = Tolerance::exact();  ///< in place of CompileOptions::tolerance
};

}  // namespace cairn::inline v0
