#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

/// Prompts and files of texts or ids that an undamaged model cannot accept.
namespace cairn::test {
namespace {

class WrongInput : public testing::Test {
protected:
    WrongInput() {
        tiny_gpt2().write(temp / "gpt2");
        tiny_distilbert().write(temp / "distilbert");
    }
    Outcome gpt2(const std::vector<std::string>& arguments) const { return call(CAIRN_GPT2, "gpt2", arguments); }
    Outcome distilbert(const std::vector<std::string>& arguments, const std::string& input = "") const {
        return call(CAIRN_DISTILBERT, "distilbert", arguments, input);
    }
    std::string file(const std::string& text) const { return temp.write("input", text).string(); }
    TempFolder temp;

private:
    Outcome call(const char* program, const char* model, std::vector<std::string> arguments,
                 const std::string& input = "") const {
        const std::vector<std::string> common{
            "--model", (temp / model).string(), "--mode", "off", "--no-progress", "--threads", "1"};
        arguments.insert(arguments.begin(), common.begin(), common.end());
        return run(program, arguments, {.input = input});
    }
};

TEST_F(WrongInput, PromptsAndTheContext) {
    const auto ids = [&](int count) {
        std::string text = "[1";
        for (int i = 1; i < count; ++i) text += ", 1";
        return file(text + "]\n");
    };
    EXPECT_TRUE(refuses(gpt2({"--prompt-ids", ids(17), "--tokens", "0"}), {"17 ids, expected 1 to 16"}));
    EXPECT_TRUE(refuses(gpt2({"--prompt-ids", ids(15), "--tokens", "2"}),
                        {"15 prompt tokens and 2 new ones", "context of 16"}));
    EXPECT_TRUE(refuses(gpt2({"--prompt-ids", ids(1), "--tokens", "9223372036854775807"}), {"context of 16"}));
    EXPECT_TRUE(refuses(gpt2({"--prompt", std::string(20000, 'a')}), {"context of 16"}));
    EXPECT_TRUE(succeeds(gpt2({"--prompt-ids", ids(15), "--tokens", "1"})));
    EXPECT_TRUE(succeeds(gpt2({"--prompt-ids", ids(16), "--print-logits"})));
    EXPECT_TRUE(refuses(gpt2({"--score", file("a")}), {"fewer than two tokens"}));
    EXPECT_TRUE(refuses(gpt2({"--score", file(std::string(1000, 'a'))}), {"context of 16"}));
}

TEST_F(WrongInput, FilesOfPromptIds) {
    const std::string form = "expected an array of token ids";
    const std::vector<std::string> malformed = {"[1, 2",  "{\"ids\": 3}", "\"a\"", "[1, \"2\"]", "[1.5]", "[true]",
                                                "[null]", "{}",           "[[1]]", "[1] [2]",    "[1",    "3"};
    for (const std::string& line : malformed)
        EXPECT_TRUE(
            refuses(gpt2({"--prompt-ids", file("[1]\n\n" + line + "\n"), "--print-logits"}), {"/input:3: ", form}))
            << line;
    EXPECT_TRUE(refuses(gpt2({"--prompt-ids", file("")}), {"/input contains no"}));
    EXPECT_TRUE(refuses(gpt2({"--prompt-ids", file(" \n\n")}), {"/input contains no"}));
    EXPECT_TRUE(refuses(gpt2({"--prompt-ids", file("[1]\n[]\n")}), {"/input:2: 0 ids"}));
    for (const std::string id : {"1024", "-1", "4294967297", "18446744073709551615", "-9223372036854775808"})
        EXPECT_TRUE(refuses(gpt2({"--prompt-ids", file("[1]\n[2, " + id + "]\n"), "--tokens", "1"}),
                            {"/input:2: token id " + id + " is not in the vocabulary of 1024"}));
}

TEST_F(WrongInput, FilesThatCannotBeRead) {
    for (const std::string& path :
         {std::string("/no/such/file"), temp.path().string(), std::string("/proc/self/mem"), std::string("a\nb")}) {
        const std::string shown = path == "a\nb" ? "a b" : path;
        for (const char* option : {"--prompt-ids", "--score"})
            EXPECT_TRUE(refuses(gpt2({option, path}), {"[input] cannot read", shown}));
        for (const char* option : {"--input", "--input-ids"})
            EXPECT_TRUE(refuses(distilbert({option, path}), {"[input] cannot read", shown}));
        EXPECT_TRUE(refuses(run(CAIRN_TOKENIZE, {"--tokenizer", (temp / "gpt2").string(), "--input", path}),
                            {"cannot be read"}));
    }
}

TEST_F(WrongInput, LinesOfTexts) {
    for (const std::string line : {"film", "\"a", "{\"text\": \"a\"}", "[\"a\"]", "3", "\"a\" \"b\"", "\"\xff\""}) {
        EXPECT_TRUE(refuses(distilbert({"--input", file("\"a\"\n\"b\"\n" + line + "\n")}),
                            {"/input:3: expected a JSON string"}))
            << line;
        EXPECT_TRUE(refuses(distilbert({"--input", "-", "--json"}, line + "\n"), {"-:1: expected a JSON string"}))
            << line;
    }
    const Outcome whole =
        run(CAIRN_TOKENIZE, {"--tokenizer", (temp / "distilbert").string(), "--input", "-"}, {.input = "\"a\"\nb\n"});
    EXPECT_TRUE(refuses(whole, {"-:2", "expected a JSON string"}, "[2,5,3]\n"));
    for (const std::string line : {"3", "[1.5]", "[\"a\"]", "[4294967297]", "[true]"}) {
        const std::vector<std::string> decode{"--tokenizer", (temp / "distilbert").string(), "--input", "-",
                                              "--decode"};
        const Outcome back = run(CAIRN_TOKENIZE, decode, {.input = "[5]\n" + line + "\n"});
        EXPECT_TRUE(refuses(back, {"-:2", "expected a JSON array of ids"}, "\"a\"\n")) << line;
    }
    const Outcome foreign =
        run(CAIRN_TOKENIZE, {"--tokenizer", (temp / "distilbert").string(), "--input", "-", "--decode"},
            {.input = "[31]\n"});
    EXPECT_TRUE(refuses(foreign, {"expected an id from 0 to 30, got 31"}));
}

TEST_F(WrongInput, LinesOfIdsAndMasks) {
    const std::string good = "{\"ids\": [2, 5, 3], \"mask\": [1, 1, 1]}\n";
    const auto wrong = [&](const std::string& line) { return distilbert({"--input-ids", file(good + line + "\n")}); };
    for (const std::string line : {"{", "{\"id\": [1]}", "{\"ids\": [true]}", "{\"ids\": [1.5]}"})
        EXPECT_TRUE(refuses(wrong(line), {"/input:2: expected an array of token ids"})) << line;
    for (const std::string line :
         {"{\"ids\": [2], \"mask\": 1}", "{\"ids\": [2], \"mask\": [\"1\"]}", "{\"ids\": [2], \"mask\": [2]}"})
        EXPECT_TRUE(refuses(wrong(line), {"/input:2: ", "mask"})) << line;
    EXPECT_TRUE(refuses(wrong("{\"ids\": [2, 3], \"mask\": [1]}"), {"/input:2: 2 ids have a mask of 1"}));
    std::string many = "[2";
    for (int i = 0; i < 16; ++i) many += ", 2";
    EXPECT_TRUE(refuses(wrong(many + "]"), {"/input:2: 17 ids, expected 1 to 16"}));
    EXPECT_TRUE(refuses(wrong("[]"), {"/input:2: 0 ids, expected 1 to 16"}));
    EXPECT_TRUE(refuses(wrong("[2, 31, 3]"), {"/input:2: token id 31 is not in the vocabulary of 31"}));
    EXPECT_TRUE(refuses(wrong("[4294967297]"), {"/input:2: token id 4294967297 is not in the vocabulary"}));
    EXPECT_TRUE(succeeds(wrong("[2, 3]")));
}

TEST_F(WrongInput, TextThatIsNoUtf8IsRead) {
    const Outcome bpe = gpt2({"--prompt", "\xff\xc3", "--tokens", "2", "--greedy", "--print-ids"});
    EXPECT_TRUE(succeeds(bpe));
    EXPECT_TRUE(is_utf8(bpe.out)) << bpe.out;
    const Outcome pieces = distilbert({"--json", "a \xff\xc3"});
    EXPECT_TRUE(succeeds(pieces));
    EXPECT_TRUE(is_utf8(pieces.out)) << pieces.out;
    const Outcome lines = distilbert({"--input", "-", "--lines"}, "a\n\xff\n");
    EXPECT_TRUE(succeeds(lines));
    EXPECT_EQ(lines_of(lines.out).size(), 2U) << lines.out;
}

}  // namespace
}  // namespace cairn::test
