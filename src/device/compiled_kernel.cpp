#include "device/compiled_kernel.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::device {
namespace {

class Compilation {
public:
    Compilation(std::span<const KernelToCompile> kernels, Backend& backend, HostThreads* threads)
        : kernels_(kernels), backend_(backend), threads_(threads), texts_(kernels.size()), compiled_(kernels.size()) {}

    std::vector<CompiledKernel> run() {
        for (std::size_t i = 0; i < kernels_.size(); ++i) add(i);
        if (!with_text_.empty() && !compile(with_text_))
            for (const std::size_t i : with_text_)
                if (with_text_.size() == 1 || !compile({i})) compiled_[i].fault = fault_;
        return std::move(compiled_);
    }

private:
    void add(std::size_t i) {
        try {
            KernelCode code = kernels_[i].kernel->code(*kernels_[i].problem);
            compiled_[i].grid = code.grid;
            texts_[i] = text_of(*kernels_[i].kernel, *kernels_[i].problem, std::move(code));
            with_text_.push_back(i);
        } catch (...) { compiled_[i].fault = std::current_exception(); }
    }

    /// False if a text does not compile, with the error in `fault_`.
    bool compile(const std::vector<std::size_t>& batch) {
        std::vector<const DeviceCode*> texts;
        for (const std::size_t i : batch) texts.push_back(&texts_[i]);
        try {
            std::vector<std::shared_ptr<const void>> codes = backend_.compile(texts, {.threads = threads_});
            for (std::size_t n = 0; n < batch.size(); ++n) compiled_[batch[n]].code = std::move(codes[n]);
            return true;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported || backend_.is_lost()) throw;
            // An error about a text names it.
            if (batch.size() == 1 && !names(error.what(), batch.front())) throw;
            fault_ = std::current_exception();
            return false;
        }
    }

    bool names(std::string_view message, std::size_t i) const {
        return message.find(texts_[i].entry) != message.npos || message.find(kernels_[i].kernel->id) != message.npos;
    }

    std::span<const KernelToCompile> kernels_;
    Backend& backend_;
    HostThreads* threads_;
    std::vector<DeviceCode> texts_;
    std::vector<CompiledKernel> compiled_;
    std::vector<std::size_t> with_text_;
    std::exception_ptr fault_;
};

}  // namespace

DeviceCode text_of(const Kernel& kernel, const Problem& problem, KernelCode code) {
    const bool has_blocks =
        std::all_of(code.grid.begin(), code.grid.end(), [](const Dim& blocks) { return provably_le(1, blocks); });
    return {std::move(code.text),
            std::move(code.entry),
            code.block,
            code.cluster,
            static_cast<std::size_t>(code.shared_bytes.upper_bound()),
            fmt::format("{} for {}", kernel.id, to_string(problem)),
            kernel.waits_for_dependencies && has_blocks};
}

std::vector<CompiledKernel> compile_kernels(std::span<const KernelToCompile> kernels, Backend& backend,
                                            HostThreads* threads) {
    return Compilation(kernels, backend, threads).run();
}

}  // namespace cairn::device
