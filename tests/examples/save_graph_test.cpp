#include "cairn/graph.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

/// `--save-graph` writes the graph that the program would compile, and nothing else is done.
namespace cairn::test {
namespace {

TEST(SaveGraph, OfAModelFolder) {
    const TempFolder temp;
    tiny_gpt2().write(temp / "gpt2");
    tiny_distilbert().write(temp / "distilbert");
    const auto saved = [&](const char* program, const char* model) {
        const std::string path = (temp / (std::string(model) + ".cairn")).string();
        const Outcome outcome = run(program, {"--model", (temp / model).string(), "--save-graph", path});
        EXPECT_TRUE(succeeds(outcome));
        EXPECT_EQ(outcome.out, "");
        return read_file(path);
    };
    const auto gpt2 = models::Gpt2Config::read(temp / "gpt2/config.json");
    EXPECT_EQ(saved(CAIRN_GPT2, "gpt2"), to_string(models::gpt2_graph(gpt2, models::gpt2_weights(gpt2))));
    auto bert = models::EncoderConfig::read(temp / "distilbert/config.json");
    EXPECT_EQ(saved(CAIRN_DISTILBERT, "distilbert"),
              to_string(models::encoder_graph(bert, models::encoder_weights(bert), 1)));
}

TEST(SaveGraph, OfTheFullSize) {
    const TempFolder temp;
    const std::string path = (temp / "gpt2.cairn").string();
    EXPECT_TRUE(succeeds(run(CAIRN_GPT2, {"--synthetic", "--save-graph", path})));
    const models::Gpt2Config config;
    EXPECT_EQ(read_file(path), to_string(models::gpt2_graph(config, models::gpt2_weights(config))));
    EXPECT_EQ(to_string(parse_graph(read_file(path))), read_file(path));
}

TEST(SaveGraph, WeightsKeepTheDtypeTheyAreStoredIn) {
    const TempFolder temp;
    const std::string path = (temp / "small.cairn").string();
    EXPECT_TRUE(succeeds(run(CAIRN_GPT2, {"--save-graph", path})));  // stored as F16
    EXPECT_NE(read_file(path).find("= weight \"transformer.wte.weight\" : f16["), std::string::npos);
}

TEST(SaveGraph, UnwritablePathsAreRefused) {
    const TempFolder temp;
    const std::string path = (temp / "no/graph.cairn").string();
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, {"--synthetic", "--save-graph", path}), {"cannot write", "graph.cairn"}));
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, {"--model", "/no/such/folder", "--save-graph", path}), {"/no/such/folder"}));
}

}  // namespace
}  // namespace cairn::test
