#pragma once

#include "cairn/version.hpp"

#include <string>

namespace cairn::inline v0 {

/// The error that results may have against the float64 reference of their graph.
///
///     options.tolerance = Tolerance::relative(1e-2);                  // admits kernels that state an error,
///     options.output_tolerances = {{"logits", Tolerance::exact()}};   // but none that contribute to this output
class CAIRN_API Tolerance {
public:
    /// Every op is computed and accumulated in at least its dtype; sums may be in any order: |y - r| is at most (terms
    /// + 16) eps times the sum of the absolute terms, with y the result and r the reference. Not bitwise.
    static Tolerance exact() noexcept { return {}; }
    /// Also admits kernels that state an error (Kernel::error), as long as the errors e that contribute to an output
    /// combine to sqrt(sum of e^2) <= `error`. `error` limits the relative L2 error of the output and a tenth of its
    /// largest |y - r| / max(|r|, RMS r). Throws Error(argument) unless it is finite and above 0.
    ///
    /// The combined error is an estimate for independent errors, relative to each intermediate value: it does not
    /// account for errors in the same direction, nor for later ops that amplify an error (a difference of nearly equal
    /// values, exp of large ones). So the first run of each bucket whose program is inexact also runs the bucket's
    /// exact program on the same inputs and states, and compares every output and every updated state by the same
    /// measure. Integers, booleans, NaN and infinities must be equal. A result whose error exceeds `error` is never
    /// returned: the run returns the exact results, and the bucket uses its exact program from then on. See
    /// CompiledGraph::verified_errors().
    ///
    /// The measured errors are kept in the timing database, by graph and tolerance, and scale the combined error that
    /// the next compile admits: by up to 8 where they were far below the stated errors, and down after a result beyond
    /// `error`. See ExplainedError::scale.
    ///
    /// States that only grow may be stored in f16 or bf16 if that is faster. Each such state is an error of 2^-11 or
    /// 2^-8 of the outputs it influences. This is not done with CompileOptions::memory_limit, nor in paths(). With
    /// such states, one bucket whose error exceeds `error` makes all buckets use their exact programs.
    ///
    /// One run on one set of inputs shows that errors are not amplified there. It proves nothing for other inputs, for
    /// other sizes of the bucket, or for errors that accumulate in states over many runs: where that matters, compare
    /// with exact results.
    static Tolerance relative(double error);

    /// True for exact().
    bool is_exact() const noexcept { return error_ == 0; }
    /// The argument of relative(); 0 for exact().
    double error() const noexcept { return error_; }
    friend bool operator==(const Tolerance&, const Tolerance&) = default;

private:
    double error_ = 0;
};

/// `exact`, or the error: `0.001`.
CAIRN_API std::string to_string(const Tolerance& tolerance);

/// The tolerance of one output.
struct OutputTolerance {
    std::string output;                        ///< name of the output in the graph
    Tolerance tolerance = Tolerance::exact();  ///< replaces CompileOptions::tolerance
};

}  // namespace cairn::inline v0
