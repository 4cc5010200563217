#include "autotune/measurement/candidate_codes.hpp"

#include "autotune/measurement/benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

namespace cairn::autotune {
namespace {

// Fraction of the remaining time that may be spent on code that may never be needed.
constexpr double share_of_upcoming = 0.1;

std::size_t texts_within(double seconds, double seconds_per_text) {
    const double count = std::floor(seconds / std::max(seconds_per_text, 1e-6));
    return static_cast<std::size_t>(std::clamp(count, 0.0, 1e6));
}

}  // namespace

bool CandidateCodes::is_missing(const BenchmarkCandidate& candidate) const {
    return candidate.kernel->code && find(*candidate.kernel, *candidate.problem) == nullptr;
}

void CandidateCodes::compile(std::span<const BenchmarkCandidate> needed, const CompilationOptions& options) {
    struct OfDevice {
        std::vector<BenchmarkCandidate> candidates;  // those that are needed first
        std::size_t needed = 0;
    };
    types::PerDevice<OfDevice> of_device;
    std::set<Key> seen;
    const auto add = [&](const BenchmarkCandidate& candidate, std::vector<BenchmarkCandidate>& to) {
        if (seen.insert(key_of(*candidate.kernel, *candidate.problem)).second) to.push_back(candidate);
    };
    for (const BenchmarkCandidate& candidate : needed)
        if (is_missing(candidate)) add(candidate, of_device[candidate.kernel->device].candidates);
    if (of_device.size() == 0) return;
    for (auto& [device, all] : of_device) all.needed = all.candidates.size();
    if (options.upcoming) {
        const std::chrono::duration<double> left = options.until - Clock::now();
        const std::size_t room = texts_within(share_of_upcoming * left.count(), seconds_per_text_);
        std::size_t added = 0;
        for (const BenchmarkCandidate& candidate : options.upcoming()) {
            OfDevice* const all = of_device.find(candidate.kernel->device);
            if (all == nullptr || all->candidates.size() >= max_texts || !is_missing(candidate)) continue;
            if (added++ == room) break;
            add(candidate, all->candidates);
        }
    }
    for (const auto& [device, all] : of_device)
        for (std::size_t first = 0; first < all.candidates.size(); first += max_texts) {
            const std::chrono::duration<double> left = options.until - Clock::now();
            const std::size_t count =
                std::min({all.candidates.size() - first, max_texts, texts_within(left.count(), seconds_per_text_)});
            if (count == 0) return;
            compile_together(std::span(all.candidates).subspan(first, count), std::min(all.needed - first, count),
                             impl_.backend(device), options);
        }
}

void CandidateCodes::compile_together(std::span<const BenchmarkCandidate> candidates, std::size_t needed,
                                      device::Backend& backend, const CompilationOptions& options) {
    class Notice {
    public:
        Notice(const CompilationOptions& options, std::span<const BenchmarkCandidate> needed, std::size_t texts)
            : options_(options) {
            if (options_.on_compile) options_.on_compile(needed, texts);
        }
        ~Notice() {
            if (options_.on_compile) options_.on_compile({}, 0);
        }
        Notice(const Notice&) = delete;
        Notice& operator=(const Notice&) = delete;

    private:
        const CompilationOptions& options_;
    };
    std::vector<device::KernelToCompile> kernels;
    for (const BenchmarkCandidate& candidate : candidates) kernels.push_back({candidate.kernel, candidate.problem});
    const Clock::time_point begin = Clock::now();
    const Notice notice(options, candidates.first(needed), candidates.size());
    std::vector<device::CompiledKernel> compiled =
        device::compile_kernels(kernels, backend, &impl_.cpu->host_threads());
    seconds_per_text_ = seconds_since(begin) / static_cast<double>(kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i)
        codes_[key_of(*kernels[i].kernel, *kernels[i].problem)] = std::move(compiled[i]);
}

const device::CompiledKernel* CandidateCodes::find(const Kernel& kernel, const Problem& problem) const {
    const auto it = codes_.find(key_of(kernel, problem));
    return it == codes_.end() ? nullptr : &it->second;
}

}  // namespace cairn::autotune
