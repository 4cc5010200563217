#include "cairn/context.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

/// --help and --version of the programs, and their behaviour without tokenizer files.
namespace cairn::test {
namespace {

using testing::ContainsRegex;
using testing::StartsWith;

TEST(Help, ShowsDefaults) {
    // CLI11 prints `=1` or ` [1]`, depending on its version.
    const auto expect_default = [](const Outcome& help, const std::string& option, const std::string& value) {
        EXPECT_TRUE(succeeds(help));
        EXPECT_THAT(help.out, ContainsRegex(option + " [A-Z]+(:.*)?(=| \\[)" + value));
    };
    const Outcome gpt2 = run(CAIRN_GPT2, {"--help"});
    expect_default(gpt2, "--model", ".*models/shakespeare-gpt2");
    expect_default(gpt2, "--temperature", "1");
    expect_default(gpt2, "--top-k", "0");
    expect_default(gpt2, "--seed", "0");
    const Outcome distilbert = run(CAIRN_DISTILBERT, {"--help"});
    expect_default(distilbert, "--model", ".*models/sst2-distilbert");
    expect_default(distilbert, "--batch", "1");
    const Outcome diffusion = run(CAIRN_DIFFUSION, {"--help"});
    expect_default(diffusion, "--model", ".*models/digits-unet");
    expect_default(diffusion, "--steps", "20");
    expect_default(diffusion, "--guidance", "2");
    for (const Outcome& shared : {gpt2, distilbert, diffusion}) {
        expect_default(shared, "--mode", "normal");
        expect_default(shared, "--tune-seconds", "5");
        EXPECT_THAT(shared.out, ContainsRegex("--disable TEXT \\.\\.\\."));  // an empty list is not shown as a default
    }
    EXPECT_TRUE(succeeds(run(CAIRN_TOKENIZE, {"--help"})));
}

TEST(Version, IsThatOfTheLibraryAndNeedsNoOtherOption) {
    for (const char* program : {CAIRN_GPT2, CAIRN_DISTILBERT, CAIRN_LLAMA, CAIRN_DIFFUSION, CAIRN_TOKENIZE}) {
        const Outcome outcome = run(program, {"--version"});
        EXPECT_TRUE(succeeds(outcome)) << program;
        EXPECT_THAT(outcome.out, testing::EndsWith(", Cairn " + std::string(version()) + "\n"));
        EXPECT_EQ(lines_of(outcome.out).size(), 1u);
    }
}

TEST(WithoutTokenizerFiles, Gpt2ContinuesFromIds) {
    const TempFolder folder;
    TinyModel model = tiny_gpt2();
    for (const char* name : {"vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json"})
        model.files.erase(name);
    model.write(folder / "model");
    ASSERT_FALSE(std::filesystem::exists(folder / "model/vocab.json"));
    const std::string ids = folder.write("ids.jsonl", "[1, 2, 3]\n").string();
    const std::vector<std::string> common{"--mode", "off", "--no-progress", "--model", (folder / "model").string()};
    const auto gpt2 = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), common.begin(), common.end());
        return run(CAIRN_GPT2, arguments);
    };
    const Outcome outcome = gpt2({"--prompt-ids", ids, "--tokens", "4", "--greedy"});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_THAT(outcome.out, StartsWith("ids: "));
    EXPECT_TRUE(refuses(gpt2({"--prompt", "a"}), {"[tokenizer]", "got none of them"}));
    model.files["vocab.json"] = "{";  // a damaged file is not treated as missing
    model.write(folder / "model");
    EXPECT_TRUE(refuses(gpt2({"--prompt-ids", ids}), {"[tokenizer]", "vocab.json"}));
}

TEST(WithoutTokenizerFiles, DistilBertClassifiesIds) {
    const TempFolder folder;
    TinyModel model = tiny_distilbert();
    for (const char* name : {"vocab.txt", "tokenizer.json", "tokenizer_config.json"}) model.files.erase(name);
    model.write(folder / "model");
    const std::string ids = folder.write("ids.jsonl", "{\"ids\": [1, 2, 3]}\n").string();
    const Outcome outcome = run(CAIRN_DISTILBERT, {"--mode", "off", "--no-progress", "--model",
                                                   (folder / "model").string(), "--input-ids", ids});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_THAT(outcome.out, StartsWith("["));
}

}  // namespace
}  // namespace cairn::test
