#include "cairn/cairn.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/driver/own_kernels.hpp"
#include "tests/errors/message.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

/// The summary of 40 lines: where the time is spent and what can be done about it.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

void expect_short(const Explanation& explanation) {
    for (std::size_t b = 0; b < explanation.buckets.size(); ++b) {
        const std::vector<std::string> lines = lines_of(summary(explanation, b));
        EXPECT_LE(lines.size(), 40U);
        EXPECT_GE(lines.size(), 4U);
        for (const std::string& line : lines) EXPECT_LE(line.size(), 160U) << line;
    }
}

TEST(Summary, HasAtMostFortyLines) {
    const Context context;
    for (std::uint64_t seed = 0; seed < 30; ++seed) expect_short(compile(random_model(seed), context).explain());
}

TEST(Summary, OfGpt2NamesTheSlowestLayers) {
    models::Gpt2Config config;
    config.layers = 6;
    const Explanation explanation =
        compile(models::gpt2_graph(config, models::gpt2_weights(config)), Context(), {.splits = {{"T", {1, 12}}}})
            .explain();
    ASSERT_EQ(explanation.buckets.size(), 3U);
    expect_short(explanation);
    const std::string text = summary(explanation, 0);
    EXPECT_THAT(text, StartsWith("gpt2, T in 1..1"));
    EXPECT_THAT(text,
                AllOf(HasSubstr("a run, 0 % of it measured"), HasSubstr("other sizes: "),
                      HasSubstr("what takes longest, equal calls together ("), HasSubstr(" 6 x "),
                      HasSubstr("transformer.h.0..5."), HasSubstr("\"layer 0..5 feed-forward hidden\""),
                      HasSubstr("\"logits\""), HasSubstr("transformer.wte.weight"), HasSubstr("runner-up: +"),
                      HasSubstr("packed once for their kernels: "), HasSubstr("`cairn tune`"), HasSubstr("--why-not")));
    EXPECT_THAT(text, Not(HasSubstr("e-0"))) << "units people read";
    EXPECT_EQ(to_string(explanation), summary(explanation, 2)) << "of the bucket that takes longest";
    EXPECT_THAT(message([&] { summary(explanation, 3); }), HasSubstr("there is no bucket 3: there are 3"));
    // The largest calls come first.
    double last = 1e9;
    int calls = 0;
    for (const std::string& line : lines_of(text)) {
        if (!line.starts_with("  ") || line.find(" %  ") == std::string::npos || line.find("the other") != line.npos)
            continue;
        const double share = std::stod(line);
        EXPECT_LE(share, last) << line;
        last = share;
        ++calls;
    }
    EXPECT_TRUE(calls >= 5 && calls <= 10) << calls;
}

TEST(Summary, ListsRefusalsThatOptionsCouldPermit) {
    Kernel loose;
    loose.id = "my.loose.exp@1";
    loose.definition = "exp";
    loose.accepts = [](const Problem&) -> Refusal { return {}; };
    loose.error = [](const Problem&) { return 5e-3; };
    loose.run = [](const Args&, Team&) {};
    Graph g("loose");
    g.output("y", exp(name(g.input("x", DType::f32, {256, 256}), "pixels")));
    const Context context = context_with({loose});
    const Explanation explanation = compile(g, context).explain();
    EXPECT_THAT(
        to_string(explanation),
        AllOf(HasSubstr("refusals for the longest calls:"),
              HasSubstr("my.loose.exp@1 for exp: its relative error is 0.005, the tolerance is exact; allow it by "
                        "CompileOptions::tolerance (--tolerance)")));
    int refused = 0;
    for (const ExplainedValue& value : explanation.buckets[0].values)
        for (const ExplainedAlternative& alternative : value.alternatives)
            for (const ExplainedKernel& each : alternative.kernels)
                if (each.kernel == "my.loose.exp@1") refused += each.refused_by == RefusedBy::tolerance ? 1 : 0;
    EXPECT_GT(refused, 0);
}

TEST(Summary, NamesWeightsThatAreReadInOtherLayouts) {
    Graph g("weights");
    const Tensor x = g.input("x", DType::f32, {128, 512});
    g.output("y", matmul(x, g.weight("projection", DType::f32, {512, 512})));
    const std::string text = to_string(compile(g, Context()).explain());
    EXPECT_THAT(text, AllOf(HasSubstr("reads x, projection"), HasSubstr("of projection")));
}

/// Names of values affect neither the selection nor the results.
TEST(Summary, NamesOfModelsChangeNoChoice) {
    const Context context;
    const auto without_names = [](const Graph& graph) {
        std::string text = to_string(graph);
        for (std::size_t at = 0; (at = text.find(" as \"")) != std::string::npos;)
            text.erase(at, text.find('\n', at) - at);
        return parse_graph(text);
    };
    models::Gpt2Config gpt2;
    gpt2.layers = 2;
    models::EncoderConfig distilbert = models::EncoderConfig::distilbert_base();
    distilbert.layers = 2;
    for (const Graph& graph : {models::gpt2_graph(gpt2, models::gpt2_weights(gpt2)),
                               models::encoder_graph(distilbert, models::encoder_weights(distilbert))}) {
        const Explanation named = compile(graph, context).explain(),
                          plain = compile(without_names(graph), context).explain();
        ASSERT_EQ(named.buckets.size(), plain.buckets.size());
        std::size_t names = 0;
        for (std::size_t b = 0; b < named.buckets.size(); ++b) {
            const auto &with = named.buckets[b].instructions, &without = plain.buckets[b].instructions;
            ASSERT_EQ(with.size(), without.size());
            for (std::size_t i = 0; i < with.size(); ++i) {
                EXPECT_EQ(with[i].chosen, without[i].chosen);
                EXPECT_TRUE(without[i].names.empty());
                names += with[i].names.size();
            }
        }
        EXPECT_GT(names, 6U);
    }
}

}  // namespace
}  // namespace cairn::test
