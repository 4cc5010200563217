#pragma once

#include "cairn/kernel.hpp"
#include "device/backend.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cairn::test {

/// A device whose kernels are texts: each is the name of a function of the test, which runs on the host. Its memory is
/// the host's, but is said to be inaccessible, so that operands are copied.
class TextBackend final : public device::Backend {
public:
    /// Runs a kernel with these arguments. What it throws or returns is the failure of the launch.
    using Function =
        std::function<std::optional<device::Failure>(const Args& args, std::span<const std::int64_t> symbols)>;

    TextBackend();
    ~TextBackend() override;

    void add(const std::string& text, Function function) { functions_[text] = std::move(function); }

    std::vector<std::vector<std::string>> compilations;  ///< the texts of each, in order
    bool has_compiler = true;
    bool accepts_all_texts = false;             ///< a text without a function compiles, but cannot run
    std::chrono::milliseconds compile_time{0};  ///< of one text
    bool lost = false;
    double call_seconds = 1e-3;  ///< of a call, as time() measures it
    std::int64_t timed_calls = 0;

    std::unique_ptr<device::Memory> reserve(std::size_t bytes, device::MemoryUse use) override;
    std::size_t page_bytes() const noexcept override { return 256; }
    std::optional<std::int64_t> free_memory() const override { return {}; }
    /// A text without a function does not compile.
    std::vector<std::shared_ptr<const void>> compile(std::span<const device::DeviceCode* const> texts,
                                                     const device::CompileRequest& request = {}) override;
    bool compiles_kernels() const noexcept override { return true; }
    std::unique_ptr<device::CommandBuffer> record(std::span<const device::KernelLaunch> launches,
                                                  std::span<const std::int64_t> symbols) override;
    double time(const device::TimedCalls& calls, std::optional<device::Failure>& failure) override;
    double clock_step() const noexcept override { return 5e-7; }
    bool is_lost() const noexcept override { return lost; }
    int threads() const noexcept override { return 1; }
    FeatureSet features() const override { return {}; }
    device::CacheSizes caches() const override { return {}; }
    std::string fingerprint(const FeatureSet&) const override { return "texts"; }

private:
    class HiddenMemory;
    class Commands;

    void throw_if_lost() const;
    std::optional<device::Failure> run(const device::KernelLaunch& launch, std::span<const std::int64_t> symbols) const;

    std::map<std::string, Function> functions_;
    std::shared_ptr<std::map<const std::byte*, std::size_t>> allocations_;
};

/// Code with this text for a Problem, with an entry of its own.
KernelCode text_code(const Problem& problem, const std::string& text);
/// A kernel of cuda:0 that accepts dense f32.
Kernel text_kernel(const std::string& id, const std::string& definition, KernelCode (*code)(const Problem& problem));

}  // namespace cairn::test
