#include "tests/io/onnx_import/node_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

/// Models that people use, beside the results of ONNX Runtime. scripts/assets installs them. Where it cannot, none of
/// them is tested, and scripts/test says so; where it has, all of them must be there.
namespace cairn::test {
namespace {

namespace fs = std::filesystem;

struct RealModel {
    std::string name;
    std::map<std::string, onnx::SizeBounds> sizes;
    std::vector<std::string> fixed_inputs = {};
    std::map<std::string, std::string> equal_sizes = {};
};

fs::path assets() { return fs::path(CAIRN_SOURCE_DIR) / "build/assets"; }

ModelCase case_of(const RealModel& model) {
    const fs::path folder = fs::path(CAIRN_ONNX_REAL_CASES) / model.name;
    std::ifstream in(folder / "model.txt");
    std::string path;
    std::getline(in, path);
    return {assets() / path, folder / "test_data_set_0", {}, model.fixed_inputs, model.equal_sizes};
}

const std::vector<RealModel> real_models = {
    // `If` on the sample rate, weights in branches, states in and out.
    {"silero_vad", {{"input_0", {1, 4}}, {"input_1", {512, 576, 64}}}, {"sr"}, {{"state_1", "input_0"}}},
    {"silero_vad_16k_op15", {{"batch", {1, 4}}, {"sequence", {512, 576, 64}}}, {"sr"}},
    {"silero_vad_op18_ifless", {{"batch", {1, 4}}, {"sequence", {512, 576, 64}}}, {"sr"}},
    {"silero_vad_half", {{"batch", {1, 4}}, {"sequence", {512, 576, 64}}}},
    // An LSTM over a length that must be known.
    {"silero_vad_16k_sequence", {{"sequence_length", {3, 3}}}},
    {"ocr_detection",
     {{"DynamicDimension.0", {1, 2}}, {"DynamicDimension.1", {32, 320, 32}}, {"DynamicDimension.2", {32, 320, 32}}}},
    {"ocr_direction", {{"x_0", {1, 4}}, {"x_2", {48, 48}}, {"x_3", {96, 384}}}},
    {"magika", {{"unk__214", {1, 16}}}},
};

std::vector<RealModel> installed_models() {
    return fs::exists(assets() / "complete") ? real_models : std::vector<RealModel>();
}

class RealModels : public testing::TestWithParam<RealModel> {
protected:
    const Context context_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RealModels);

TEST_P(RealModels, AgreeWithOnnxRuntime) {
    const CaseResult result = run_model(case_of(GetParam()), context_);
    EXPECT_EQ(result.state, CaseResult::State::passed) << result.reason;
}

TEST_P(RealModels, AgreeAtSymbolicSizes) {
    ModelCase symbolic = case_of(GetParam());
    symbolic.sizes = GetParam().sizes;
    const CaseResult result = run_model(symbolic, context_);
    EXPECT_EQ(result.state, CaseResult::State::passed) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(Files, RealModels, testing::ValuesIn(installed_models()),
                         [](const auto& model) { return model.param.name; });

}  // namespace
}  // namespace cairn::test
