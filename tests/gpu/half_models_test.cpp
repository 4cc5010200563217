#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <string>

// The models in f16 that scripts/gpu_check makes (bench/gpu/models.py).
namespace cairn::test {
namespace {

/// A program of Python that makes a model of other sizes.
std::string making(const std::string& model, const std::string& sizes, const std::string& folder) {
    return "import pathlib\nfrom gpu import models\nmodels.MODELS['" + model + "'][3].update(" + sizes +
           ")\nmodels.make('" + model + "', pathlib.Path('" + folder + "'))\n";
}

TEST(HalfModels, AreReadByTheBenchmarks) {
    struct Case {
        std::string model, sizes, work;
    };
    for (const Case& each :
         {Case{"gpt2", "dict(vocab_size=101, n_positions=40, n_embd=96, n_layer=3, n_head=3)", "decode"},
          Case{"distilbert",
               "dict(vocab_size=30522, max_position_embeddings=64, dim=96, n_layers=3, n_heads=3, "
               "hidden_dim=384)",
               "classify"}}) {
        const TempFolder folder;
        const std::string made = (folder.path() / each.model).string();
        const Outcome outcome = run(CAIRN_PYTHON, {"-B", "-c", making(each.model, each.sizes, made)},
                                    {.variables = {"PYTHONPATH=" CAIRN_SOURCE_DIR "/bench"}});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        const Outcome timed = run(CAIRN_MODEL_BENCH, {"--model", made, "--work", each.work, "--length", "5",
                                                      "--iterations", "1", "--mode", "off", "--json"});
        EXPECT_EQ(timed.exit_code, 0) << timed.err;
        EXPECT_NE(timed.out.find("median_ns"), timed.out.npos) << timed.out;
    }
}

}  // namespace
}  // namespace cairn::test
