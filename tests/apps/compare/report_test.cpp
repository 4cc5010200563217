#include "apps/compare/report.hpp"

#include "tests/apps/compare/json_schema.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <numeric>

namespace cairn::compare {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json schema() {
    return json::parse(test::read_file(std::string(CAIRN_SOURCE_DIR) + "/docs/compare-report.schema.json"));
}

/// Three implementations: one in this process, a command with own times, and one that fails after a request.
class Reports : public testing::Test {
protected:
    Reports() {
        settings.title = "A | title";
        settings.measure = {.iterations = 50, .turns = 2, .batch_sizes = {1, 4}, .threads = 2};
        settings.implementations = {{.name = "Cairn", .kind = Kind::lexicon, .model = "words.tsv"},
                                    {.name = "peer, \"quoted\"", .kind = Kind::command, .command = {"peer", "-x"}},
                                    {.name = "bad", .kind = Kind::command, .command = {"bad"}}};
        data = {{{.text = "a", .label = "x"}, {.text = "b", .label = "y"}}, std::string(64, 'd')};
        Measured cairn{{}, Loaded{0.5, 0.4, {{"cairn", "1"}}}, 1e6, {{.label = "x"}, {.label = "y"}}, {}, {0.01, 0.02}};
        for (const std::int64_t size : {1, 4}) cairn.batches.push_back({size, std::vector<double>(100, 0.002), {}});
        std::iota(cairn.batches[0].round_trips.begin(), cairn.batches[0].round_trips.end(), 1.0);
        Measured peer{{}, Loaded{1.5, {}, {}}, {}, {{.label = "x"}, {.label = "x"}}, {}, {0.01, 0.01}};
        for (const std::int64_t size : {1, 4})
            peer.batches.push_back({size, std::vector<double>(10, 0.25), std::vector<double>(10, 0.125)});
        Measured bad{"[command] it ended,\n\"badly\""};
        bad.batches = {{1, {}, {}}, {4, {}, {}}};
        measurements.implementations = {cairn, peer, bad};
    }

    Report report() const {
        return make_report(settings, data, {std::string(64, 'a'), "", ""}, measurements,
                           {"id", "details", "Linux", "gcc", "0.1", 2});
    }

    Settings settings;
    Dataset data;
    Measurements measurements;
};

TEST_F(Reports, ValuesFollowFromWhatWasMeasured) {
    const Report made = report();
    ASSERT_EQ(made.implementations.size(), 3U);
    const ReportedImplementation& cairn = made.implementations[0];
    EXPECT_EQ(cairn.accuracy, 1);
    ASSERT_EQ(cairn.times.size(), 2U);
    EXPECT_EQ(cairn.times[0].seconds.p99, 99);
    EXPECT_DOUBLE_EQ(cairn.times[0].requests_per_second, 100 / 5050.0);
    EXPECT_FALSE(cairn.times[0].overhead);
    EXPECT_EQ(cairn.calibration->p50, 0.01);
    const ReportedImplementation& peer = made.implementations[1];
    EXPECT_EQ(peer.accuracy, 0.5);
    EXPECT_EQ(peer.times[1].seconds.p50, 0.125) << "its own time";
    EXPECT_EQ(peer.times[1].overhead, 0.125);
    EXPECT_FALSE(peer.times[1].seconds.p95);
    EXPECT_THAT(made.implementations[2].times, IsEmpty());
    ASSERT_EQ(made.agreements.size(), 1U) << "the third has not answered";
    EXPECT_EQ(made.agreements[0].one, "Cairn");
    EXPECT_EQ(made.agreements[0].share, 0.5);
    EXPECT_EQ(made.calibration->count, 4U);
}

TEST_F(Reports, JsonFollowsTheSchema) {
    const json written = json::parse(json_of(report()).dump());
    EXPECT_THAT(test::schema_faults(written, schema()), IsEmpty());
    EXPECT_EQ(written["implementations"][2]["error"], "[command] it ended,\n\"badly\"");
    EXPECT_EQ(written["settings"]["measure"]["batch_sizes"], json({1, 4}));
    EXPECT_EQ(written["implementations"][0]["times"][1]["rows_per_second"],
              4 * written["implementations"][0]["times"][1]["requests_per_second"].get<double>());
    measurements.implementations = {Measured{"a"}, Measured{"b"}, Measured{"c"}};
    measurements.is_complete = false;
    const json stopped = json::parse(json_of(report()).dump());
    EXPECT_THAT(test::schema_faults(stopped, schema()), IsEmpty());
    EXPECT_EQ(stopped["complete"], false);
    EXPECT_TRUE(stopped["calibration"].is_null());
}

TEST_F(Reports, TheSchemaRefusesWhatIsNoReport) {
    const json right = json::parse(json_of(report()).dump());
    const auto faults_with = [&](const char* pointer, const json& value) {
        json wrong = right;
        wrong[json::json_pointer(pointer)] = value;
        return test::schema_faults(wrong, schema());
    };
    for (const auto& [pointer, value] :
         std::vector<std::pair<const char*, json>>{{"/format", "cairn-compare 2"},
                                                   {"/more", 1},
                                                   {"/made", "today"},
                                                   {"/settings/data/sha256", "abc"},
                                                   {"/settings/measure/turns", 0},
                                                   {"/implementations/0/kind", "other"},
                                                   {"/implementations/0/accuracy", 2},
                                                   {"/implementations/0/times/0/seconds/p50", "1"},
                                                   {"/implementations/0/calibration", 5},
                                                   {"/implementations/0/versions/x", 5}})
        EXPECT_EQ(faults_with(pointer, value).size(), 1U) << pointer;
    json without = right;
    without["machine"].erase("os");
    EXPECT_THAT(test::schema_faults(without, schema()), testing::ElementsAre("/machine: lacks os"));
}

TEST_F(Reports, CsvHasALineForEachBatchSizeAndFailure) {
    const std::string csv = csv_of(report());
    const std::vector<std::string> lines = test::lines_of(csv);
    EXPECT_THAT(
        csv, HasSubstr("\r\n\"peer, \"\"quoted\"\"\",command,1,10,0.125,0,0.125,0.125,,,8,0.125,0.5,1.5,,,0.01,\r\n"));
    EXPECT_THAT(csv, HasSubstr("\r\nbad,command,,,,,,,,,,,,,,,,\"[command] it ended,\n\"\"badly\"\"\"\r\n"));
    EXPECT_THAT(csv, HasSubstr("\r\nCairn,lexicon,4,100,"));
    ASSERT_EQ(lines.size(), 7U) << "a field of two lines";
    EXPECT_EQ(std::ranges::count(lines[0], ','), 17);
    EXPECT_EQ(std::ranges::count(lines[1], ','), 17);
}

TEST_F(Reports, PagesHaveTablesAndDigests) {
    const std::string page = markdown_of(report());
    EXPECT_THAT(page, HasSubstr("# A \\| title\n"));
    EXPECT_THAT(page, HasSubstr("| implementation | batch | p50 |"));
    EXPECT_THAT(page, HasSubstr("| peer, \"quoted\" | 4 | 125 ms | 125 ms | 0 ns | - | - | 8 | 32 | 125 ms |"));
    EXPECT_THAT(page, HasSubstr("| Cairn | 100 % | 500 ms | 400 ms | 977 KiB | 10 ms |"));
    EXPECT_THAT(page, HasSubstr("| Cairn | peer, \"quoted\" | 50 % | - |"));
    EXPECT_THAT(page, HasSubstr("- bad failed: [command] it ended, \"badly\"\n"));
    EXPECT_THAT(page, HasSubstr("- model of Cairn: `" + std::string(64, 'a') + "`\n"));
    EXPECT_THAT(page, HasSubstr("the machine was busy")) << "the calibration varies from 10 to 20 ms";
    EXPECT_THAT(page, Not(HasSubstr("was stopped")));
}

TEST_F(Reports, TextHasAlignedColumns) {
    measurements.is_complete = false;
    settings.implementations[0].name = "Käirn";
    const std::vector<std::string> lines = test::lines_of(text_of(report()));
    const auto header =
        std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("implementation  "); });
    ASSERT_NE(header, lines.end());
    EXPECT_EQ((header + 1)->find(" 1 "), header->find("batch") + 4) << "ä is one column and two bytes";
    EXPECT_THAT(lines, testing::Contains("The comparison was stopped: what follows is a part of it."));
    EXPECT_THAT(lines, testing::Contains(HasSubstr("Versions: Käirn: cairn 1.")));
}

TEST(ModelDigests, MissingModelsHaveNone) {
    const test::TempFolder temp;
    Settings settings;
    settings.implementations = {
        {.name = "a", .model = temp.write("m", "abc")}, {.name = "b", .model = temp / "none"}, {.name = "c"}};
    EXPECT_THAT(model_digests(settings),
                testing::ElementsAre("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "", ""));
}

}  // namespace
}  // namespace cairn::compare
