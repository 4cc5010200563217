#include "autotune/database/key.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace cairn::autotune {

std::string id_of(std::string_view text) {
    const Digest whole = digest(text);
    std::string bytes;
    for (const std::uint64_t half : {whole.high, whole.low})
        for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(half >> shift);
    return bytes;
}

std::string Key::id() const { return id_of(fmt::format("{}\n{}\n{}\n{}", problem, kernel, hard, policy)); }

std::string policy_text(const TimingPolicy& policy) {
    return fmt::format("threads={} {} inputs={}", policy.threads, policy.cold ? "cold" : "hot", policy.inputs);
}

std::string class_of(const Problem& problem) {
    Problem bare;
    bare.definition = problem.definition;
    bare.body = problem.body;
    bare.results = problem.results;
    for (Step& step : bare.body) step.number = 0;
    const auto add = [](const std::vector<TensorDesc>& from, std::vector<TensorDesc>& to) {
        for (const TensorDesc& tensor : from) {
            to.push_back(TensorDesc::dense(tensor.dtype, {}));
            to.back().layout = tensor.layout;
        }
    };
    add(problem.inputs, bare.inputs);
    add(problem.outputs, bare.outputs);
    return to_string(bare);
}

}  // namespace cairn::autotune
