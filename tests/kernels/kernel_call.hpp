#pragma once

#include "cairn/kernels.hpp"
#include "device/cpu/team.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace cairn::test {

/// Runs a kernel given its problem as text, with one thread; returns the failure it reported, or null.
inline const char* run(const Kernel& kernel, const std::string& text, std::vector<void*> in, void* out) {
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem(text, *symbols);
    EXPECT_EQ(kernel.accepts(problem), "");
    std::vector<std::vector<std::int64_t>> lists;
    std::vector<TensorArg> args;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *tensors) {
            lists.emplace_back();
            for (const Dim& size : tensor.shape) lists.back().push_back(size.constant());
            lists.emplace_back(tensor.shape.size(), 0);
            for (std::size_t i = 0; i < tensor.strides.size(); ++i) lists.back()[i] = tensor.strides[i].constant();
        }
    in.push_back(out);
    for (std::size_t i = 0; i < in.size(); ++i)
        args.push_back({static_cast<std::byte*>(in[i]), lists[2 * i].data(), lists[2 * i + 1].data(),
                        static_cast<int>(lists[2 * i].size())});
    const std::shared_ptr<const void> prepared = kernel.prepare ? kernel.prepare(problem, 1) : nullptr;
    const auto scratch =
        static_cast<std::size_t>(kernel.workspace ? kernel.workspace(problem, 1).constant() : std::int64_t{0});
    std::vector<std::byte> workspace(scratch);
    device::SpinBudget no_spin(std::chrono::nanoseconds(0), 1);
    device::TeamState state(1, no_spin);
    state.begin();
    Team team(0, 1, &state);
    kernel.run({args.data(), args.data() + problem.inputs.size(), nullptr, workspace.data(), prepared.get()}, team);
    return state.failure() != nullptr ? state.failure()->reason : nullptr;
}

}  // namespace cairn::test
