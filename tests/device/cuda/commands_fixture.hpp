#pragma once

#include "tests/device/cuda/cuda_fixture.hpp"

#include <map>
#include <string>
#include <string_view>

namespace cairn::device::cuda {

/// The error that a submission ended with.
template <class Kind>
std::string thrown_by(const Submission& submission, Kind kind) {
    if (submission.thrown == nullptr) {
        ADD_FAILURE() << "nothing was thrown";
        return {};
    }
    return message_of(kind, [&] { std::rethrow_exception(submission.thrown); });
}

/// Launches of kernels that note their calls: `note` its instruction, operand, grid and first symbol, `add` also adds
/// its two inputs, `fail` reports that element 3 of input 1 is 7 while `is_failing`.
class CommandsTest : public CudaTest {
protected:
    explicit CommandsTest(bool graphs) : CudaTest(graphs) {
        driver.add_kernel("note", {4, [this](const StandInLaunch& launch) {
                                       ran.push_back(launch.integer(4));
                                       operands.push_back(*static_cast<std::byte**>(launch.parameters[0]));
                                       configs.push_back(launch.config);
                                       dependent.push_back(launch.is_dependent);
                                       if (const auto* values = launch.pointer<long long>(2))
                                           seen_symbols.push_back(values[0]);
                                   }});
        driver.add_kernel("add", {6, [this](const StandInLaunch& launch) {
                                      ran.push_back(launch.integer(6));
                                      configs.push_back(launch.config);
                                      clusters.push_back(launch.cluster);
                                      const auto *a = launch.pointer<int>(0), *b = launch.pointer<int>(1);
                                      auto* sum = launch.pointer<int>(2);
                                      for (int i = 0; i < 4; ++i) sum[i] = a[i] + b[i];
                                  }});
        driver.add_kernel(
            "fail", {4, [this](const StandInLaunch& launch) {
                         ran.push_back(launch.integer(4));
                         auto* report = launch.pointer<FailureReport>(3);
                         if (report->code != 0 || !is_failing) return;
                         *report = {
                             static_cast<unsigned>(failure_code), static_cast<unsigned>(launch.integer(4)), 1, 0, 3, 7};
                     }});
        for (const char* entry : {"note", "fail"}) codes[entry] = compile({entry, entry});
        codes["add"] = compile({"add", "add", 128, 2, 1000});
    }
    void TearDown() override {
        commands.reset();
        codes.clear();
        memories.clear();
        CudaTest::TearDown();
    }

    /// Launches of `n`ote and `f`ail.
    void record(std::string_view kinds) {
        for (const char kind : kinds) {
            KernelLaunch& launch = launches.emplace_back();
            launch.args.outputs = &one_operand;
            launch.outputs = 1;
            launch.code = codes.at(kind == 'f' ? "fail" : "note").get();
        }
        commands = backend->record(launches, symbols);
    }
    void add_copy(const TensorArg& source, const TensorArg& target, std::size_t bytes) {
        KernelLaunch& launch = launches.emplace_back();
        launch.args = {&source, &target, nullptr, nullptr, nullptr};
        launch.inputs = launch.outputs = 1;
        launch.copy_bytes = bytes;
        launch.bytes = static_cast<std::int64_t>(2 * bytes);
    }
    Submission& run() {
        ran.clear();
        operands.clear();
        configs.clear();
        dependent.clear();
        submission = std::make_unique<Submission>();
        commands->run(*submission);
        return *submission;
    }
    /// An operand in the memory of the device, and one in that of the host.
    TensorArg operand(const std::vector<int>& values) {
        return {memories.emplace_back(upload(values))->data(), nullptr, nullptr, 0};
    }
    static TensorArg host_operand(std::vector<int>& values) {
        return {reinterpret_cast<std::byte*>(values.data()), nullptr, nullptr, 0};
    }

    std::map<std::string, std::shared_ptr<const void>> codes;
    std::vector<std::unique_ptr<Memory>> memories;
    TensorArg one_operand = operand({0});
    std::vector<KernelLaunch> launches;
    std::vector<std::int64_t> symbols;
    std::unique_ptr<CommandBuffer> commands;
    std::unique_ptr<Submission> submission;

    int failure_code = 1;
    bool is_failing = true;
    std::vector<int> ran;
    std::vector<const std::byte*> operands;
    std::vector<long long> seen_symbols;
    std::vector<LaunchConfig> configs;
    std::vector<unsigned> clusters;
    std::vector<bool> dependent;  // programmatically on the launch before
};

}  // namespace cairn::device::cuda
