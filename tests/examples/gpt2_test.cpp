#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <set>

/// Compares the embedded GPT-2 with the reference, and tests the program's options.
namespace cairn::test {
namespace {

using nlohmann::json;

const json& golden_cases() {
    static const json list = golden("shakespeare_gpt2.json").at("cases");
    return list;
}

Outcome gpt2(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--mode", "off", "--no-progress"});
    return run(CAIRN_GPT2, arguments);
}

std::string ids_line(const json& ids) {
    std::string line = "ids:";
    for (const json& id : ids) line += " " + id.dump();
    return line;
}

TEST(Gpt2Program, LogitsAndGreedyIdsOfAllPromptsMatchTheReference) {
    std::string prompts;
    for (const json& c : golden_cases())
        prompts += (prompts.empty() ? c.at("ids") : json{{"ids", c.at("ids")}}).dump() + "\n";
    const TempFolder folder;
    const std::string path = folder.write("prompts.jsonl", prompts).string();
    const Outcome result =
        gpt2({"--prompt-ids", path, "--tokens", "48", "--greedy", "--print-ids", "--print-logits", "--ignore-eos"});
    EXPECT_TRUE(succeeds(result));
    std::vector<std::string> logits, ids;
    for (const std::string& line : lines_of(result.out)) {
        if (line.starts_with("[")) logits.push_back(line);
        if (line.starts_with("ids:")) ids.push_back(line);
    }
    ASSERT_EQ(ids.size(), golden_cases().size());
    ASSERT_EQ(logits.size(), golden_cases().size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(ids[i], ids_line(golden_cases()[i].at("greedy_ids"))) << golden_cases()[i].at("prompt");
        EXPECT_LE(
            largest_difference(json::parse(logits[i]).get<std::vector<float>>(), golden_cases()[i].at("last_logits")),
            5e-5);
    }
}

TEST(Gpt2Program, APromptIsPrintedAndContinued) {
    const json& c = golden_cases()[0];
    const auto prompt = c.at("prompt").get<std::string>();
    const Outcome result = gpt2({"--prompt", prompt, "--tokens", "48", "--greedy", "--print-ids"});
    EXPECT_TRUE(succeeds(result));
    EXPECT_EQ(result.out, prompt + c.at("greedy_text").get<std::string>() + "\n" + ids_line(c.at("greedy_ids")) + "\n");
    const Outcome none = gpt2({"--prompt", prompt, "--tokens", "0", "--print-ids"});
    EXPECT_TRUE(succeeds(none));
    EXPECT_EQ(none.out, "ids:\n");
}

TEST(Gpt2Program, EqualSeedsGiveEqualText) {
    const auto sampled = [](const char* seed) {
        return gpt2({"--prompt", "The 3 cafés: 你好 😀", "--tokens", "60", "--temperature", "1.3", "--top-k", "200",
                     "--top-p", "0.98", "--repetition-penalty", "1.1", "--seed", seed, "--print-ids"});
    };
    const Outcome first = sampled("7"), again = sampled("7"), other = sampled("8");
    for (const Outcome* result : {&first, &again, &other}) {
        EXPECT_TRUE(succeeds(*result));
        EXPECT_TRUE(is_utf8(result->out)) << result->out;
        EXPECT_TRUE(result->out.starts_with("The 3 cafés: 你好 😀")) << result->out;
    }
    EXPECT_EQ(first.out, again.out);
    EXPECT_NE(first.out, other.out);
}

/// Random weights generate invalid UTF-8 sequences; the program must still print valid UTF-8.
TEST(Gpt2Program, AnySampledTextIsPrintedAsUtf8) {
    const TempFolder folder;
    tiny_gpt2().write(folder / "model");
    std::string prompts;
    for (int i = 0; i < 200; ++i) prompts += "[" + std::to_string(i * 5) + "]\n";
    const Outcome result =
        gpt2({"--model", (folder / "model").string(), "--prompt-ids", folder.write("prompts", prompts).string(),
              "--tokens", "15", "--temperature", "20", "--ignore-eos", "--seed", "3"});
    EXPECT_TRUE(succeeds(result));
    EXPECT_TRUE(is_utf8(result.out));
    EXPECT_NE(result.out.find("\xEF\xBF\xBD"), std::string::npos) << "no byte was chosen that is no text";
}

TEST(Gpt2Program, TheLikelihoodOfThePassageMatchesTheReference) {
    const json passage = golden("shakespeare_gpt2.json").at("passage");
    const TempFolder folder;
    const Outcome result = gpt2({"--score", folder.write("passage", passage.at("text").get<std::string>()).string()});
    EXPECT_TRUE(succeeds(result));
    const std::string expected =
        std::to_string(passage.at("ids").size() - 1) + " tokens, mean negative log likelihood ";
    ASSERT_TRUE(result.out.starts_with(expected)) << result.out;
    EXPECT_NEAR(std::stod(result.out.substr(expected.size())), passage.at("mean_nll").get<double>(), 1e-4);
}

TEST(Gpt2Program, StagesAreDumpedOneFileEach) {
    const TempFolder folder;
    tiny_gpt2().write(folder / "model");
    const std::string dump = (folder / "new/dump").string();
    EXPECT_TRUE(succeeds(
        gpt2({"--model", (folder / "model").string(), "--prompt", "a", "--tokens", "1", "--dump-stages", dump})));
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dump)) {
        names.insert(entry.path().filename().string());
        EXPECT_GT(entry.file_size(), 100U) << entry.path();
    }
    std::set<std::string> expected;
    for (const std::string bucket : {"T-1-1", "T-2-12", "T-13-16"})
        for (const std::string stage :
             {"01_graph", "02_simplify", "03_expand", "04_fuse", "05_select", "06_emit", "07_plan"})
            expected.insert(bucket + "_" + stage + ".txt");
    EXPECT_EQ(names, expected);
}

TEST(Gpt2Program, AReportNamesPhasesKernelsMemoryAndSpeed) {
    const TempFolder folder;
    tiny_gpt2().write(folder / "model");
    const Outcome result = gpt2({"--model", (folder / "model").string(), "--report", "--threads", "1"});
    EXPECT_TRUE(succeeds(result));
    for (const char* word : {"compile and bind", "kernel  definition", "memory at the largest sizes",
                             "planned arena peak", "prefill of 8 tokens", "decode:"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace cairn::test
