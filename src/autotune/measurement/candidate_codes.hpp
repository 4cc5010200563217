#pragma once

#include "autotune/measurement/clock.hpp"
#include "cairn/kernel.hpp"
#include "device/compiled_kernel.hpp"
#include "device/context_impl.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cairn::autotune {

struct BenchmarkCandidate;

/// How the code of candidates is compiled.
struct CompilationOptions {
    Clock::time_point until = Clock::time_point::max();  ///< nothing is compiled that is expected to take longer
    /// Candidates that may be measured later: as many as fit are compiled together with those that are needed. Called
    /// only if something is compiled.
    std::function<std::vector<BenchmarkCandidate>()> upcoming = {};
    /// Called before a compilation, with those of its candidates that are needed and the number of all its texts; and
    /// with none when it has returned.
    std::function<void(std::span<const BenchmarkCandidate> needed, std::size_t texts)> on_compile = {};
};

/// The compiled code of measured kernels. A kernel is compiled once for each Problem, and many in one compilation, on
/// the threads of the Context: with NVRTC one text takes about 43 ms and 16 texts on one thread take about 150 ms. Used
/// by the thread that measures.
class CandidateCodes {
public:
    /// Texts of one compilation at most: what a deadline is missed by.
    static constexpr std::size_t max_texts = 16;

    /// The Context must outlive it.
    explicit CandidateCodes(Context::Impl& impl) : impl_(impl) {}

    /// Compiles the code of candidates that have none yet. Those for which there is no time are left out. Throws as
    /// compile_kernels() does.
    void compile(std::span<const BenchmarkCandidate> needed, const CompilationOptions& options);
    /// The code of a kernel for a Problem, or why there is none; null if it has not been compiled.
    const device::CompiledKernel* find(const Kernel& kernel, const Problem& problem) const;

private:
    using Key = std::pair<const Kernel*, std::string>;  // with the Problem's text
    static Key key_of(const Kernel& kernel, const Problem& problem) { return {&kernel, to_string(problem)}; }

    bool is_missing(const BenchmarkCandidate& candidate) const;
    /// The first `needed` of the candidates are needed.
    void compile_together(std::span<const BenchmarkCandidate> candidates, std::size_t needed, device::Backend& backend,
                          const CompilationOptions& options);

    Context::Impl& impl_;
    double seconds_per_text_ = 0.05;  // of the last compilation; before it, a guess
    std::map<Key, device::CompiledKernel> codes_;
};

}  // namespace cairn::autotune
