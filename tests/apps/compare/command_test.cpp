#include "apps/compare/command.hpp"

#include "cairn/error.hpp"
#include "tests/apps/compare/fake_command.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cairn::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Commands : public test::IgnoresSigpipe {
protected:
    Command command(std::vector<std::string> words, Task task = Task::classify) {
        settings.task = task;
        settings.measure.timeout = 20;
        return Command({.name = "c", .command = std::move(words)}, settings);
    }

    /// The failure of a command that answers `load` well, and two rows by a Python expression of `request`.
    std::string refusal(const std::string& reply, Task task = Task::classify) {
        const test::TempFolder temp;
        Command made =
            command(test::python_script(
                        temp, test::python_replies("{'id': request['id']} if request['op'] == 'load' else " + reply)),
                    task);
        made.load({});
        return test::message([&] { made.answer(rows, {}); });
    }

    Settings settings;
    const std::vector<DataRow> rows{{.text = "a", .inputs = {{"x", 1}}}, {.text = "b", .inputs = {{"x", 2}}}};
};

TEST_F(Commands, RequestsAndAnswers) {
    const test::TempFolder temp;
    settings.measure = {.batch_sizes = {1, 2}, .threads = 3, .max_length = 7, .tokens = 5};
    Command made = command(test::python_script(
        temp, test::python_replies("{'id': request['id'], 'load_seconds': 1.5, 'compile_seconds': None, 'versions': "
                                   "{'seen': json.dumps(request)}} if request['op'] == 'load' "
                                   "else {'id': request['id'], 'seconds': 0, 'answers': [{'label': row.upper(), "
                                   "'values': [1, 2.5]} for row in request['rows']]}")));
    const Loaded loaded = made.load({});
    EXPECT_EQ(loaded.load_seconds, 1.5);
    EXPECT_FALSE(loaded.compile_seconds);
    EXPECT_EQ(nlohmann::json::parse(loaded.versions.at("seen")),
              nlohmann::json::parse(R"({"id": 0, "op": "load", "task": "classify", "threads": 3, "batch_sizes": [1, 2],
                                        "max_length": 7, "tokens": 5})"));
    const Reply reply = made.answer(rows, {});
    ASSERT_EQ(reply.answers.size(), 2U);
    EXPECT_EQ(reply.answers[1], (Answer{"B", {1, 2.5}, {}}));
    EXPECT_EQ(reply.own_seconds, 0);
    EXPECT_GT(made.peak_bytes().value_or(1), 0);
}

TEST_F(Commands, TheOtherTasks) {
    const test::TempFolder temp;
    const auto reply_to = [&](Task task, const std::string& answer) {
        Command made =
            command(test::python_script(temp, test::python_replies("{'id': request['id'], 'answers': [" + answer +
                                                                   " for row in request.get('rows', [])]}")),
                    task);
        const Loaded loaded = made.load({});
        EXPECT_GT(loaded.load_seconds, 0) << "measured here";
        Reply reply = made.answer(rows, {});
        EXPECT_FALSE(reply.own_seconds);
        return reply.answers;
    };
    EXPECT_EQ(reply_to(Task::embed, "{'values': [len(row)]}").at(1).values, std::vector<double>{1});
    EXPECT_EQ(reply_to(Task::generate, "{'tokens': [5, -1]}").at(0).tokens, (std::vector<std::int64_t>{5, -1}));
    EXPECT_EQ(reply_to(Task::generate, "{'tokens': []}").at(0).tokens.size(), 0U);
    const std::vector<Answer> outputs = reply_to(Task::run, "{'values': [2 * row['x']]}");
    EXPECT_EQ(outputs.at(1).values, std::vector<double>{4});
}

TEST_F(Commands, WrongRepliesHaveErrorsOfTheirOwn) {
    const std::string id = "{'id': request['id'], ";
    EXPECT_EQ(refusal("{'id': 7}"), "[command] it answered request 7 instead of 1");
    EXPECT_EQ(refusal("{'answers': []}"), "[command] it answered request null instead of 1");
    EXPECT_EQ(refusal(id + "'error': 'out of memory'}"), "[command] out of memory");
    EXPECT_EQ(refusal(id + "'answers': [{'label': 'x'}]}"), "[command] it gave 1 answers to 2 rows");
    EXPECT_EQ(refusal(id + "'answers': 5}"), "[command] there is no list \"answers\"");
    EXPECT_EQ(refusal(id + "'answers': [1, 2]}"), "[command] an answer is no JSON object");
    EXPECT_EQ(refusal(id + "'answers': [{}, {}]}"), "[command] an answer has no text \"label\"");
    EXPECT_EQ(refusal(id + "'answers': [{'label': 'x', 'values': ['1']}] * 2}"),
              "[command] an answer has no list of numbers \"values\"");
    EXPECT_EQ(refusal(id + "'answers': [{'label': 'x'}] * 2}", Task::embed),
              "[command] an answer has no list of numbers \"values\"");
    EXPECT_EQ(refusal(id + "'answers': [{'values': []}] * 2}", Task::run),
              "[command] an answer has no list of numbers \"values\"");
    EXPECT_EQ(refusal(id + "'answers': [{'tokens': [1.5]}] * 2}", Task::generate),
              "[command] an answer has no list of integers \"tokens\"");
    EXPECT_EQ(refusal(id + "'seconds': -1}"), "[command] seconds is no number of seconds");
    EXPECT_THAT(refusal(id + "'seconds': 100, 'answers': []}"), HasSubstr("it states 100 s for a request that took"));
    EXPECT_EQ(refusal("[1]"), "[command] it printed '[1]', which is no JSON object");
    EXPECT_THAT(refusal(id + "'answers': [{'values': [float('nan')]}] * 2}", Task::embed),
                HasSubstr("which is not valid JSON"));
}

TEST_F(Commands, TextThatIsNoJson) {
    Command made = command(test::shell_script("echo loading; cat"));
    EXPECT_THAT(test::message([&] { made.load({}); }),
                HasSubstr("[command] it printed 'loading', which is not valid JSON"));
}

TEST_F(Commands, FailuresOfTheProcessPass) {
    Command absent = command({"no-such-program"});
    EXPECT_THAT(test::message([&] { absent.load({}); }), HasSubstr("does not start"));
    Command ends = command(test::shell_script("read x; echo '{\"id\": 0}'; read x; exit 4"));
    ends.load({});
    EXPECT_THAT(test::message([&] { ends.answer(rows, {}); }), HasSubstr("it ended with exit code 4"));
    Command late = command(test::shell_script("read x; echo '{\"id\": 0}'; sleep 60"));
    settings.measure.timeout = 20;
    late.load({});
    settings.measure.timeout = 0.1;
    EXPECT_THAT(test::message([&] { late.answer(rows, {}); }), HasSubstr("it did not answer within 0.1 s"));
}

}  // namespace
}  // namespace cairn::compare
