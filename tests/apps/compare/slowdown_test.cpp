#include "apps/compare/slowdown.hpp"

#include "cairn/error.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cairn::compare {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A report of an implementation with two batch sizes, and times of a calibration.
json report(double first = 0.01, double second = 0.04, double calibration = 0.002) {
    json made = json::parse(R"({"format": "cairn-compare 1", "complete": true,
        "settings": {"task": "classify", "data": {"sha256": "ab", "rows": 3}, "measure": {"turns": 2, "batch_sizes": [1, 8]}},
        "machine": {"id": "m"},
        "implementations": [{"name": "A", "error": null, "model_sha256": "cd",
            "times": [{"batch_size": 1, "seconds": {}}, {"batch_size": 8, "seconds": {}}]}]})");
    json& a = made["implementations"][0];
    a["times"][0]["seconds"]["p50"] = first;
    a["times"][1]["seconds"]["p50"] = second;
    a["calibration"]["p50"] = calibration;
    return made;
}

TEST(Slowdown, RowsBeyondTheShareAreNamed) {
    const ReportChange change = change_of(report(), report(0.0104, 0.044));
    ASSERT_THAT(change.rows, SizeIs(2));
    EXPECT_NEAR(change.rows[0].factor(), 1.04, 1e-12);
    EXPECT_NEAR(change.rows[1].factor(), 1.1, 1e-12);
    EXPECT_FALSE(is_acceptable(change, 0.05));
    EXPECT_TRUE(is_acceptable(change, 0.11));
    EXPECT_EQ(text_of(change, 0.05),
              "A, batch 1: 10 ms before, 10.4 ms now, machine 1.000, time 1.040\n"
              "A, batch 8: 40 ms before, 44 ms now, machine 1.000, time 1.100  SLOWER\n");
    EXPECT_TRUE(is_acceptable(change_of(report(), report(0.001, 0.001)), 0));
}

TEST(Slowdown, TheCalibrationScales) {
    EXPECT_TRUE(is_acceptable(change_of(report(), report(0.02, 0.08, 0.004)), 0.05)) << "the machine is half as fast";
    EXPECT_FALSE(is_acceptable(change_of(report(), report(0.01, 0.04, 0.001)), 0.05)) << "it is twice as fast";
}

TEST(Slowdown, AFailureIsNamed) {
    json now = report();
    now["implementations"][0]["error"] = "broken";
    const ReportChange change = change_of(report(), now);
    EXPECT_THAT(change.failures, ElementsAre("A failed: broken"));
    EXPECT_FALSE(is_acceptable(change, 100));
    const ReportChange reverse = change_of(now, report());
    EXPECT_TRUE(is_acceptable(reverse, 0));
    EXPECT_THAT(reverse.notes, ElementsAre("A failed in the old report"));
}

TEST(Slowdown, OtherModelsMachinesAndImplementationsAreNotes) {
    json now = report();
    now["machine"]["id"] = "n";
    now["implementations"][0]["model_sha256"] = "ef";
    now["implementations"].push_back(now["implementations"][0]);
    now["implementations"][1]["name"] = "B";
    EXPECT_THAT(change_of(report(), now).notes,
                ElementsAre(HasSubstr("the machines differ"), "A has another model", "B is not in the old report"));
    EXPECT_THAT(change_of(now, report()).notes, testing::Contains("B is not in the new report"));
    EXPECT_THAT(text_of(change_of(now, report()), 0), HasSubstr("note: B is not in the new report\n"));
}

TEST(Slowdown, OtherDataOrSettingsAreRefused) {
    const auto refusal = [](const char* pointer, const json& value) {
        json old = report();
        old[json::json_pointer(pointer)] = value;
        return test::message([&] { change_of(old, report()); });
    };
    EXPECT_EQ(refusal("/settings/data/sha256", "xy"),
              "[compare] data.sha256 was \"xy\" and is \"ab\": the reports cannot be compared");
    EXPECT_EQ(refusal("/settings/measure/batch_sizes", {1, 4}),
              "[compare] measure.batch_sizes was [1,4] and is [1,8]: the reports cannot be compared");
    EXPECT_EQ(refusal("/settings/task", "embed"),
              "[compare] task was \"embed\" and is \"classify\": the reports cannot be compared");
    EXPECT_EQ(refusal("/settings/measure", nullptr),
              "[compare] measure.batch_sizes was null and is [1,8]: the reports cannot be compared");
    EXPECT_EQ(refusal("/complete", false), "[compare] the old report was stopped: it cannot be compared");
    EXPECT_THAT(refusal("/implementations/0/times/0/seconds", json::object()), HasSubstr("a report is incomplete"));
}

TEST(Slowdown, FilesThatAreNoReportsAreRefused) {
    const test::TempFolder temp;
    EXPECT_EQ(read_report(temp.write("r.json", report().dump())), report());
    for (const char* wrong : {"[]", "{}", "{\"format\": \"cairn-compare 2\"}", "{\"format\": 1}"})
        EXPECT_THAT(test::message([&] { read_report(temp.write("r.json", wrong)); }),
                    HasSubstr("r.json is no report of the format cairn-compare 1"));
    EXPECT_THAT(test::message([&] { read_report(temp.write("r.json", "{")); }), HasSubstr("r.json is not valid JSON"));
    EXPECT_THAT(test::message([&] { read_report(temp / "none"); }), HasSubstr("none"));
}

}  // namespace
}  // namespace cairn::compare
