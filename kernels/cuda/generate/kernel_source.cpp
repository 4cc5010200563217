#include "kernels/cuda/generate/kernel_source.hpp"

#include <fmt/format.h>

#include <bit>

namespace cairn::kernels::cuda {

std::string kernel_head(const Problem& problem, const std::string& entry, int threads, int min_blocks) {
    const std::string bounds =
        min_blocks == 0 ? fmt::format("{}", threads) : fmt::format("{}, {}", threads, min_blocks);
    std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}(", bounds, entry);
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) text += fmt::format("void* in{}, ", i);
    for (std::size_t i = 0; i < problem.outputs.size(); ++i) text += fmt::format("void* out{}, ", i);
    return text + "void* workspace, const i64* symbols, FailureReport* status, u32 instruction) {\n";
}

std::string kernel_begin(const Problem& problem, const std::string& entry, int threads, int min_blocks) {
    return kernel_head(problem, entry, threads, min_blocks) + "    dependency_wait();\n    trigger_dependents();\n" +
           symbols_text(problem);
}

std::string symbols_text(const Problem& problem) {
    std::string text;
    if (const auto symbols = symbols_of(problem)) {
        const std::size_t count = symbols->list().size();
        for (std::size_t i = 0; i < count; ++i) text += fmt::format("    const i64 s{0} = symbols[{0}];\n", i);
    }
    return text;
}

std::string entry_of(std::string_view family, const Problem& problem) {
    return fmt::format("{}_{}", family, to_string(digest(to_string(problem))));
}

Dim blocks_for(const Dim& count, std::int64_t items) {
    const Dim blocks = ceildiv(count, items);
    return provably_le(1, blocks) ? blocks : max(blocks, 1);
}

std::string float_text(float value) {
    return fmt::format("__uint_as_float({:#010x}u)", std::bit_cast<std::uint32_t>(value));
}

}  // namespace cairn::kernels::cuda
