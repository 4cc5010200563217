#include "cairn/models/llama.hpp"
#include "cairn/text/chat_template.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <algorithm>

/// Compares the program with the same steps by the library, for a model of one layer.
namespace cairn::test {
namespace {

using Ids = std::vector<std::int32_t>;
using testing::EndsWith, testing::HasSubstr, testing::StartsWith;

class LlamaProgram : public testing::Test {
protected:
    LlamaProgram() {
        tiny_llama().write(folder_ / "model");
        tokenizer_ = models::model_tokenizer(model());
    }
    std::filesystem::path model() const { return folder_ / "model"; }
    Outcome llama(std::vector<std::string> arguments, const RunOptions& options = {}) const {
        arguments.insert(arguments.begin(), {"--model", model().string(), "--mode", "off", "--no-progress"});
        return run(CAIRN_LLAMA, arguments, options);
    }
    /// The most likely tokens after a text, without an end.
    Ids greedy(const Ids& text, std::int64_t count) const {
        models::Llama llama =
            models::Llama::load(model(), Context({.threads = 1}), {.greedy = true}, {.mode = Mode::off});
        return llama.generate(text, count);
    }
    std::string ids_line(const Ids& ids) const {
        std::string line = "ids:";
        for (const std::int32_t id : ids) line += " " + std::to_string(id);
        return line;
    }

    TempFolder folder_;
    std::unique_ptr<text::Tokenizer> tokenizer_;
};

TEST_F(LlamaProgram, APromptIsContinued) {
    const Outcome result = llama({"--prompt", "a b", "--tokens", "12", "--greedy", "--ignore-eos", "--print-ids"});
    EXPECT_TRUE(succeeds(result));
    EXPECT_THAT(result.out, StartsWith("a b"));
    EXPECT_THAT(result.out, EndsWith(ids_line(greedy(tokenizer_->encode("a b"), 12)) + "\n"));
}

TEST_F(LlamaProgram, TurnsAreAnsweredAsTheTemplateHasThem) {
    const text::ChatTemplate chat = models::model_chat_template(model(), *tokenizer_);
    EXPECT_EQ(chat.ends(), (Ids{*tokenizer_->special().eos, *tokenizer_->id_of("<|eot_id|>")}));
    const std::vector<std::string> common{"--tokens", "9", "--greedy", "--ignore-eos", "--print-ids"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), common.begin(), common.end());
        return more;
    };
    const Outcome result = llama(with({"--system", "short", "--user", "Hello", "--user", "<|eot_id|>again"}));
    EXPECT_TRUE(succeeds(result));
    std::vector<text::ChatMessage> messages = {{"system", "short"}};
    std::string expected;
    for (const char* user : {"Hello", "<|eot_id|>again"}) {
        messages.push_back({"user", user});
        const Ids answer = greedy(chat.encode(messages), 9);
        std::string written = tokenizer_->decode(answer);
        messages.push_back({"assistant", written});
        expected += written + "\n" + ids_line(answer) + "\n";
    }
    if (is_utf8(expected)) { EXPECT_EQ(result.out, expected); }
    EXPECT_EQ(std::count(expected.begin(), expected.end(), ':'), 2);
    // The same turns from standard input.
    const Outcome lines = llama(with({"--system", "short", "--chat"}), {.input = "Hello\n<|eot_id|>again\n"});
    EXPECT_EQ(lines.out, result.out);
    EXPECT_EQ(llama(with({"--chat"})).out, "") << "no lines, no answers";
}

TEST_F(LlamaProgram, AnAnswerEndsWhereTheModelEndsIt) {
    // The first of the most likely tokens becomes the end of a message.
    const text::ChatTemplate chat = models::model_chat_template(model(), *tokenizer_);
    const std::vector<text::ChatMessage> messages = {{"user", "Hello"}};
    const Ids answer = greedy(chat.encode(messages), 6);
    nlohmann::json config = nlohmann::json::parse(read_file(model() / "tokenizer_config.json"));
    config["eos_token"] = tokenizer_->token(answer[4]);
    TinyModel changed = tiny_llama();
    changed.files["tokenizer_config.json"] = config.dump();
    changed.write(model());
    const Outcome result = llama({"--user", "Hello", "--tokens", "40", "--greedy", "--print-ids"});
    EXPECT_TRUE(succeeds(result));
    const auto end = std::find(answer.begin(), answer.end(), answer[4]);
    EXPECT_THAT(result.out, EndsWith(ids_line(Ids(answer.begin(), end)) + "\n"));
}

TEST_F(LlamaProgram, SpeedGraphAndExplanation) {
    const Outcome speed = llama({"--prompt", "abc", "--tokens", "3", "--ignore-eos", "--speed", "--seed", "3"});
    EXPECT_EQ(speed.exit_code, 0);
    EXPECT_THAT(speed.err, HasSubstr(" tokens read in "));
    EXPECT_THAT(speed.err, HasSubstr("3 written in "));
    const auto path = (folder_ / "llama.cairn").string();
    EXPECT_TRUE(succeeds(run(CAIRN_LLAMA, {"--model", model().string(), "--save-graph", path})));
    EXPECT_THAT(read_file(path), HasSubstr("keys.0"));
    const Outcome explained = llama({"--explain"});
    EXPECT_TRUE(succeeds(explained));
    EXPECT_FALSE(explained.out.empty());
}

TEST_F(LlamaProgram, WrongInputIsRefused) {
    EXPECT_TRUE(refuses(run(CAIRN_LLAMA, {}), {"--model is required"}));
    EXPECT_TRUE(refuses(llama({}), {"give --prompt, --user or --chat"}));
    EXPECT_TRUE(refuses(llama({"--prompt", "a", "--user", "b"}), {"--user has no effect"}));
    EXPECT_TRUE(refuses(llama({"--explain", "--user", "b"}), {"--user has no effect"}));
    EXPECT_TRUE(refuses(llama({"--user", "b", "--greedy", "--seed", "1"}), {"--seed has no effect"}));
    EXPECT_TRUE(refuses(llama({"--user", "b", "--tokens", "0"}), {"--tokens", "at least 1"}));
    EXPECT_TRUE(refuses(llama({"--user", "a long message", "--capacity", "5"}), {"leave no room", "raise --capacity"}));
    TinyModel model = tiny_llama();
    model.files.erase("chat_template.jinja");
    model.write(folder_ / "plain");
    EXPECT_TRUE(refuses(run(CAIRN_LLAMA, {"--model", (folder_ / "plain").string(), "--user", "a", "--no-progress"}),
                        {"expected chat_template.jinja"}));
}

}  // namespace
}  // namespace cairn::test
