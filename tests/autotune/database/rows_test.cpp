#include "autotune/database/rows.hpp"

#include "tests/autotune/database/database_file.hpp"

#include <cmath>
#include <limits>

namespace cairn::autotune {
namespace {

class Rows : public test::DatabaseFile {};

constexpr double infinity = std::numeric_limits<double>::infinity();

Timing untimed(TimingStatus status, double bound) {
    Timing timing;
    timing.status = status;
    timing.bound = bound;
    return timing;
}

TEST(RowFaults, OfTimes) {
    const auto fault = [](auto change) {
        Timing timing = test::timing(1);
        change(timing);
        return why_invalid(timing);
    };
    EXPECT_EQ(fault([](Timing&) {}), "");
    EXPECT_EQ(fault([](Timing& t) { t.median = -5; }), "it took -5 s");
    EXPECT_EQ(fault([](Timing& t) { t.min = 0; }), "it took 0 s");
    EXPECT_EQ(fault([](Timing& t) { t.p90 = infinity; }), "it holds the number inf");
    EXPECT_EQ(fault([](Timing& t) { t.mad = std::nan(""); }), "it holds the number nan");
    EXPECT_EQ(fault([](Timing& t) { t.mad = -1; }), "its spread is -1");
    EXPECT_EQ(fault([](Timing& t) { t.p10 = 2; }), "its quantiles are 0.9, 2, 1, 1.2");
    EXPECT_EQ(fault([](Timing& t) { t.samples = 0; }), "it has 0 samples of 3 runs");
    EXPECT_EQ(fault([](Timing& t) { t.inner = 0; }), "it has 9 samples of 0 runs");
    EXPECT_EQ(fault([](Timing& t) { t.samples = 2'000'000'000; }), "it has 2000000000 samples");
    EXPECT_EQ(fault([](Timing& t) { t.quality = 4; }), "its quality is 4");
    EXPECT_EQ(fault([](Timing& t) { t.status = TimingStatus{77}; }), "its status is 77");
    EXPECT_EQ(fault([](Timing& t) { t = untimed(TimingStatus::failed, 0); }), "");
    EXPECT_EQ(fault([](Timing& t) { t = untimed(TimingStatus::censored, 1); }), "");
    EXPECT_EQ(fault([](Timing& t) { t = untimed(TimingStatus::censored, 0); }), "its bound is 0 s");
}

TEST(RowFaults, OfOtherRows) {
    EXPECT_EQ(why_invalid(ErrorMeasurement{infinity, 1, 1, "", ""}), "") << "as wrong as can be";
    EXPECT_EQ(why_invalid(ErrorMeasurement{-1, 1, 1, "", ""}), "its error is -1");
    EXPECT_EQ(why_invalid(ErrorMeasurement{1, std::nan(""), 1, "", ""}), "its error is nan");
    EXPECT_EQ(why_invalid(ErrorMeasurement{1, 1, infinity, "", ""}), "the stated error is inf");
    EXPECT_EQ(why_invalid(Choice{"a", 1, 1, 1, 1}), "");
    EXPECT_EQ(why_invalid(Choice{"a", 1, 1, 1, 0}), "") << "none was run";
    EXPECT_EQ(why_invalid(Choice{"a", 1, 1, 1, -1}), "it has -1 samples");
    EXPECT_EQ(why_invalid(Choice{"a", 1, 1.1, 1.2, 1}), "its ratio 1 is not in 1.1 .. 1.2");
    EXPECT_EQ(why_invalid(Choice{"a", 1, 1, infinity, 1}), "its ratio 1 is not in 1 .. inf");
    EXPECT_EQ(why_invalid(Row(RuleRow{{"*", "*", RuleAction{9}, ""}, false, 1})), "its action is invalid");
    EXPECT_EQ(why_invalid(Row(RuleRow{{"*", "*", RuleAction::pin, ""}, false, 1})), "");
    EXPECT_EQ(why_invalid(Row(RuleRow{{"*", "*", RuleAction::pin, ""}, false, 0})), "its time is 0");
    EXPECT_EQ(why_invalid(Row(SessionRow{"short", "", "", "", "", 1})), "its id is not a digest");
}

TEST(RowOrder, QualityThenSamplesThenTime) {
    EXPECT_TRUE(is_better(test::timing(1, 1, 2), 1, test::timing(1, 9, 1), 2));
    EXPECT_TRUE(is_better(test::timing(1, 9, 2), 1, test::timing(1, 1, 2), 2));
    EXPECT_TRUE(is_better(test::timing(1, 9, 2), 2, test::timing(1, 9, 2), 1));
    EXPECT_FALSE(is_better(test::timing(1, 9, 2), 1, test::timing(1, 9, 2), 1));
}

// Invalid rows in the file are ignored, and do not hide valid ones.
TEST_F(Rows, InvalidTimesInTheFileAreSkipped) {
    for (const char* invalid_rows :
         {"median=-5", "median='abc'", "median=x'00ff'", "median=1e999", "status=77", "status='ok'", "samples=-1",
          "samples=99999999999", "inner=0", "quality=9", "p10=2", "min=0", "p90=0.5", "mad=-1", "bound='x'"}) {
        std::filesystem::remove(path);
        {
            TimingDb db(path);
            add(db, "k@1", 1);
            add(db, "k@2", 1);
        }
        change(path,
               "UPDATE measurement SET quality=3, samples=99 WHERE candidate=(SELECT id FROM candidate WHERE "
               "kernel='k@1')");
        change(path, std::string("UPDATE measurement SET ") + invalid_rows +
                         " WHERE candidate=(SELECT id FROM candidate WHERE kernel='k@1')");
        TimingDb db(path, log());
        EXPECT_FALSE(has(db, "k@1")) << invalid_rows;
        EXPECT_TRUE(has(db, "k@2")) << invalid_rows;
        EXPECT_EQ(db.invalid_rows(), 1U) << invalid_rows;
        db.record(test::problem(), "k@1", test::machine, test::policy, test::timing(3, 1, 0));
        EXPECT_EQ(TimingDb(path).find(test::problem(), "k@1", test::machine, test::policy)->median, 3) << invalid_rows;
        EXPECT_TRUE(db.persistent());
    }
    EXPECT_TRUE(lines.empty());
}

TEST_F(Rows, InvalidRowsOfOtherTablesAreSkipped) {
    {
        TimingDb db(path);
        db.record_error(test::problem(), "k@1", test::machine, test::figures(2e-2));
        db.record_choice("q", test::machine, test::policy, {"a", 1, 0.9, 1.1, 3});
        db.add_rule({"*", "*", RuleAction::ban, ""});
    }
    change(path, "UPDATE accuracy SET largest='x'; UPDATE choice SET low=2; UPDATE rule SET verdict=7");
    const TimingDb db(path, log());
    EXPECT_FALSE(db.find_error(test::problem(), "k@1", test::machine));
    EXPECT_FALSE(db.find_error_violation(test::problem(), "k@1", test::machine));
    EXPECT_FALSE(db.find_choice("q", test::machine, test::policy));
    EXPECT_TRUE(db.rules().empty());
    EXPECT_EQ(db.invalid_rows(), 4U);
}

}  // namespace
}  // namespace cairn::autotune
