#include "apps/compare/settings.hpp"

#include "cairn/context.hpp"
#include "cairn/error.hpp"
#include "tests/errors/message.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

namespace cairn::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string head = "task = \"classify\"\n[data]\nfile = \"d.jsonl\"\n";
const std::string lexicon = "[[implementation]]\nname = \"L\"\nkind = \"lexicon\"\nmodel = \"w.tsv\"\n";

TEST(Settings, EachEntryIsRead) {
    const test::TempFolder temp;
    const Settings settings = read_settings(temp.write(
        "c.toml",
        "title = \"T\"\ntask = \"generate\"\n[data]\nfile = \"d.jsonl\"\ntext = \"t\"\nlabel = \"l\"\nlimit = 9\n"
        "[measure]\nwarm_up = 0\niterations = 7\nturns = 2\nbatch_sizes = [4, 1]\nthreads = 3\ntimeout = 0.5\n"
        "max_length = 64\ntokens = 5\ntolerance = 0.01\n"
        "[[implementation]]\nname = \"A\"\nkind = \"decoder\"\nmodel = \"m\"\nmode = \"quick\"\ntolerance = 0.05\n"
        "[[implementation]]\nname = \"B\"\nkind = \"command\"\ncommand = [\"python3\", \"b.py\"]\nmodel = \"/m\"\n"));
    EXPECT_EQ(settings.title, "T");
    EXPECT_EQ(settings.task, Task::generate);
    EXPECT_EQ(settings.data.file, temp / "d.jsonl");
    EXPECT_EQ(settings.data.text, "t");
    EXPECT_EQ(settings.data.label, "l");
    EXPECT_EQ(settings.data.limit, 9);
    const MeasureSettings& measure = settings.measure;
    EXPECT_EQ(measure.warm_up, 0);
    EXPECT_EQ(measure.iterations, 7);
    EXPECT_EQ(measure.turns, 2);
    EXPECT_THAT(measure.batch_sizes, ElementsAre(4, 1));
    EXPECT_EQ(measure.threads, 3);
    EXPECT_EQ(measure.timeout, 0.5);
    EXPECT_EQ(measure.max_length, 64);
    EXPECT_EQ(measure.tokens, 5);
    EXPECT_EQ(measure.tolerance, 0.01);
    ASSERT_EQ(settings.implementations.size(), 2U);
    EXPECT_EQ(settings.implementations[0].kind, Kind::decoder);
    EXPECT_EQ(settings.implementations[0].mode, "quick");
    EXPECT_EQ(settings.implementations[0].tolerance, 0.05);
    EXPECT_THAT(settings.implementations[1].command, ElementsAre("python3", "b.py"));
    EXPECT_EQ(settings.implementations[1].model, "/m");
    EXPECT_EQ(settings.folder, temp.path());
}

TEST(Settings, DefaultsAreThoseOfTheStructures) {
    const test::TempFolder temp;
    const Settings settings = read_settings(temp.write("c.toml", head + lexicon));
    EXPECT_EQ(settings.title, "c");
    EXPECT_EQ(settings.measure.threads, usable_cpus());
    EXPECT_EQ(settings.measure.iterations, MeasureSettings().iterations);
    EXPECT_TRUE(settings.implementations[0].rename_labels.empty());
    const Settings given = read_settings(temp.write("d.toml", head + "[measure]\nturns = 1\n" + lexicon));
    EXPECT_EQ(given.measure.threads, usable_cpus());
}

TEST(Settings, FaultsNameFileLineAndReason) {
    const test::TempFolder temp;
    const auto refusal = [&](const std::string& text) {
        const auto path = temp.write("c.toml", text);
        return test::message([&] { read_settings(path); });
    };
    EXPECT_THAT(test::message([&] { read_settings(temp / "none.toml"); }), HasSubstr("none.toml"));
    EXPECT_THAT(refusal("[data]\nfile = \"d\"\n" + lexicon), HasSubstr("task is missing"));
    EXPECT_THAT(refusal("task = \"sort\"\n"), HasSubstr(":1: task must be one of classify, embed, generate, run"));
    EXPECT_THAT(refusal("task = \"embed\"\n" + lexicon), HasSubstr("data is missing"));
    EXPECT_THAT(refusal("task = \"embed\"\n[data]\nlimit = 1\n" + lexicon), HasSubstr("file is missing in [data]"));
    EXPECT_THAT(refusal(head), HasSubstr("implementation is missing"));
    EXPECT_THAT(refusal(head + "[[implementation]]\nkind = \"lexicon\"\n"), HasSubstr(":4: name is missing"));
    EXPECT_THAT(refusal(head + "[[implementation]]\nname = \"L\"\n"), HasSubstr(":4: kind is missing"));
    EXPECT_THAT(refusal(head + "[[implementation]]\nname = \"L\"\nkind = \"lexicon\"\n"),
                HasSubstr("model is missing"));
    EXPECT_THAT(refusal(head + "[[implementation]]\nname = \"L\"\nkind = \"command\"\n"),
                HasSubstr("command is missing"));
    EXPECT_THAT(refusal(head + lexicon + lexicon), HasSubstr(":9: there is another implementation \"L\""));
    EXPECT_THAT(refusal(head + lexicon + "modle = \"x\"\n"),
                HasSubstr(":8: there is no key modle in [[implementation]], the nearest is mode"));
    EXPECT_THAT(refusal("tusk = 1\n" + head + lexicon),
                HasSubstr(":1: there is no key tusk outside of tables, the nearest is task"));
    EXPECT_THAT(refusal(head + "[measure]\ntokens = 5\n" + lexicon), HasSubstr("there is no key tokens in [measure]"));
}

TEST(Settings, TheExampleOfThePageIsRead) {
    const std::string page = test::read_file(std::string(CAIRN_SOURCE_DIR) + "/docs/compare.md"), begin = "```toml\n";
    const std::size_t first = page.find(begin) + begin.size();
    ASSERT_LT(first, page.size());
    const test::TempFolder temp;
    const Settings settings = read_settings(temp.write("c.toml", page.substr(first, page.find("```", first) - first)));
    EXPECT_EQ(settings.implementations.size(), 3U);
    EXPECT_THAT(settings.measure.batch_sizes, ElementsAre(1, 8));
}

TEST(Settings, KindsHaveTheirTasks) {
    const test::TempFolder temp;
    const auto refusal = [&](const std::string& task, const std::string& kind) {
        const auto path = temp.write(
            "c.toml", "task = \"" + task + "\"\n[data]\nfile = \"d\"\n[[implementation]]\nname = \"x\"\nkind = \"" +
                          kind + "\"\nmodel = \"m\"\n" + (kind == "command" ? "command = [\"c\"]\n" : ""));
        return test::message([&] { read_settings(path); });
    };
    const std::map<std::string, std::vector<std::string>> fitting{{"classify", {"encoder", "lexicon", "command"}},
                                                                  {"embed", {"encoder", "command"}},
                                                                  {"generate", {"decoder", "command"}},
                                                                  {"run", {"graph", "command"}}};
    for (const auto& [task, kinds] : fitting)
        for (const std::string kind : {"encoder", "decoder", "lexicon", "graph", "command"}) {
            const bool fits = std::ranges::find(kinds, kind) != kinds.end();
            EXPECT_THAT(refusal(task, kind),
                        HasSubstr(fits ? "nothing was thrown" : "a " + kind + " has no task " + task));
        }
}

}  // namespace
}  // namespace cairn::compare
