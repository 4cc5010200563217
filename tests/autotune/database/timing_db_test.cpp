#include "cairn/timing_db.hpp"

#include "tests/autotune/database/database_file.hpp"

#include <cmath>

namespace cairn {
namespace {

namespace fs = std::filesystem;

using test::figures, test::machine, test::policy, test::problem, test::timing;

class TimingDbFile : public test::DatabaseFile {};

TEST_F(TimingDbFile, KeepsRowsForTheNextStart) {
    {
        TimingDb db(path, log());
        EXPECT_TRUE(db.persistent());
        EXPECT_FALSE(db.find(problem(), "k@1", machine, policy));
        db.record(problem(), "k@1", machine, policy, timing(1e-5));
    }
    const TimingDb db(path, log());
    const auto found = db.find(problem(), "k@1", machine, policy);
    EXPECT_EQ(db.find(to_string(problem()), "k@1", machine, policy)->median, found->median) << "by its text";
    EXPECT_FALSE(db.find(to_string(problem()) + " ", "k@1", machine, policy));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->median, 1e-5);
    EXPECT_EQ(found->p90, 1e-5 * 1.2);
    EXPECT_EQ(found->inner, 3);
    EXPECT_EQ(found->note, "note");
    EXPECT_EQ(db.size(), 1U);
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, EveryPartOfTheKeyIsCompared) {
    TimingDb db(path, log());
    db.record(problem(), "k@1", machine, policy, timing(1));
    EXPECT_FALSE(db.find(problem("matmul | f32[4,8] f32[8,3] -> f32[4,3]"), "k@1", machine, policy));
    EXPECT_FALSE(db.find(problem("matmul | f32[4,8] f32[8,2]! -> f32[4,2]"), "k@1", machine, policy));
    EXPECT_FALSE(db.find(problem("matmul | f32[4,8]:(1,4) f32[8,2] -> f32[4,2]"), "k@1", machine, policy));
    EXPECT_FALSE(db.find(problem(), "k@2", machine, policy));
    EXPECT_FALSE(db.find(problem(), "k@1", {"machine B", "kernel 1"}, policy));
    EXPECT_FALSE(db.find(problem(), "k@1", machine, {1, true, "normal"}));
    EXPECT_FALSE(db.find(problem(), "k@1", machine, {2, false, "normal"}));
    EXPECT_FALSE(db.find(problem(), "k@1", machine, {2, true, "ones"}));
    EXPECT_TRUE(db.find(problem(), "k@1", {"machine A", "kernel 2"}, policy));
}

TEST_F(TimingDbFile, FindsTheBestRowAndKeepsAll) {
    {
        TimingDb db(path, log());
        db.record(problem(), "k@1", machine, policy, timing(3, 50, 1));
        db.record(problem(), "k@1", machine, policy, timing(1, 5));
        db.record(problem(), "k@1", machine, policy, timing(2, 9));
        EXPECT_EQ(db.find(problem(), "k@1", machine, policy)->median, 2);
    }
    const TimingDb db(path);
    EXPECT_EQ(db.find(problem(), "k@1", machine, policy)->median, 2);
    EXPECT_EQ(db.size(), 3U);
}

TEST_F(TimingDbFile, FindsTheWorstErrorAndKeepsAll) {
    {
        TimingDb db(path, log());
        EXPECT_FALSE(db.find_error(problem(), "k@1", machine));
        for (const double error : {2e-3, 3e-3, 1e-3}) db.record_error(problem(), "k@1", machine, figures(error));
        EXPECT_EQ(db.find_error(problem(), "k@1", machine)->relative, 3e-3);
        EXPECT_EQ(db.size(), 0U) << "of times";
    }
    const TimingDb db(path, log());
    const auto found = db.find_error(problem(), "k@1", machine);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->relative, 3e-3);
    EXPECT_EQ(found->largest, 3 * 3e-3);
    EXPECT_EQ(found->promised, 1e-2);
    EXPECT_EQ(found->inputs, "uniform");
    EXPECT_EQ(found->compared, "smaller");
    EXPECT_FALSE(db.find_error(problem("matmul | f32[4,8] f32[8,3] -> f32[4,3]"), "k@1", machine));
    EXPECT_FALSE(db.find_error(problem(), "k@2", machine));
    EXPECT_FALSE(db.find_error(problem(), "k@1", {"machine B", "kernel 1"}));
    EXPECT_TRUE(db.find_error(problem(), "k@1", {"machine A", "kernel 2"}));
    EXPECT_FALSE(db.find_error_violation(problem(), "k@1", machine)) << "all were as stated";
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, AnErrorViolationAppliesToAllSizes) {
    const auto is_broken = [](const TimingDb& db, const std::string& text, std::string_view kernel = "k@1") {
        return db.find_error_violation(problem(text), kernel, machine).has_value();
    };
    {
        TimingDb db(path, log());
        db.record_error(problem(), "k@1", machine, figures(2e-3));
        db.record_error(problem(), "k@1", machine, figures(2e-2));
    }
    const TimingDb db(path, log());
    EXPECT_EQ(db.find_error_violation(problem(), "k@1", machine)->relative, 2e-2);
    EXPECT_TRUE(is_broken(db, "matmul | f32[4,8]:(16,1) f32[8,3]! -> f32[4,3]"));
    EXPECT_TRUE(is_broken(db, "matmul | f32[N,8] f32[8,3]! -> f32[N,3] where N in 1..9"));
    EXPECT_FALSE(is_broken(db, "matmul | f32[4,8] f32[8,2]@panel32! -> f32[4,2]"));
    EXPECT_FALSE(is_broken(db, "matmul | bf16[4,8] bf16[8,2] -> bf16[4,2]"));
    EXPECT_FALSE(is_broken(db, "matmul | f32[4,8] f32[8,2] -> f32[4,2]", "k@2"));
    EXPECT_FALSE(db.find_error_violation(problem(), "k@1", {"machine B", "kernel 1"}));
}

// A tenth of the largest elementwise error counts besides the relative error, and NaN counts as infinity.
TEST_F(TimingDbFile, EitherNormCanViolateTheStatedError) {
    TimingDb db({}, log());
    ErrorMeasurement spike = figures(1e-3);
    spike.largest = 0.2;
    db.record_error(problem(), "spike", machine, spike);
    EXPECT_EQ(db.find_error_violation(problem(), "spike", machine)->counted(), 0.02);
    ErrorMeasurement nan = figures(1e-3);
    nan.relative = std::nan("");
    db.record_error(problem(), "nan", machine, nan);
    EXPECT_TRUE(std::isinf(db.find_error_violation(problem(), "nan", machine)->counted()));
    TimingDb file(path, log());
    file.record_error(problem(), "nan", machine, nan);
    ASSERT_TRUE(file.flush());
    EXPECT_TRUE(std::isinf(TimingDb(path).find_error_violation(problem(), "nan", machine)->counted()));
}

TEST_F(TimingDbFile, TheLatestChoiceIsFound) {
    {
        TimingDb db(path, log());
        EXPECT_FALSE(db.find_choice("a or b", machine, policy));
        db.record_choice("a or b", machine, policy, {"a", 0.9, 0.85, 0.95, 30});
        db.record_choice("a or b", machine, policy, {"b", 0.97, 0.9, 0.99, 10});
        EXPECT_EQ(db.find_choice("a or b", machine, policy)->answer, "b");
    }
    const TimingDb db(path, log());
    EXPECT_EQ(db.find_choice("a or b", machine, policy), (Choice{"b", 0.97, 0.9, 0.99, 10}));
    EXPECT_EQ(db.find_choice("a or b", {"machine A", "kernel 2"}, policy)->answer, "b");
    EXPECT_FALSE(db.find_choice("a or c", machine, policy));
    EXPECT_FALSE(db.find_choice("a or b", {"machine B", "kernel 1"}, policy));
    EXPECT_FALSE(db.find_choice("a or b", machine, {1, true, "normal"}));
    EXPECT_EQ(db.size(), 0U) << "of times";
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, RulesAreAddedReplacedAndRemoved) {
    const KernelRule ban{"*.eigen.*", "matmul | *", RuleAction::ban, "slow"},
        pin{"*.eigen.*", "matmul | *", RuleAction::pin, ""};
    const KernelRule other{"*", "exp | *", RuleAction::ban, "wrong"};
    {
        TimingDb db(path, log());
        EXPECT_TRUE(db.rules().empty());
        db.add_rule(ban);
        db.add_rule(other);
        EXPECT_EQ(db.rules(), (std::vector{other, ban}));
    }
    TimingDb db(path, log());
    EXPECT_EQ(db.rules(), (std::vector{other, ban}));
    db.add_rule(pin);
    EXPECT_EQ(TimingDb(path).rules(), (std::vector{other, pin}));
    EXPECT_TRUE(db.remove_rule("*", "exp | *"));
    EXPECT_FALSE(db.remove_rule("*", "exp | *"));
    EXPECT_EQ(TimingDb(path).rules(), std::vector{pin});
    TimingDb memory({});
    memory.add_rule(ban);
    EXPECT_EQ(memory.rules(), std::vector{ban});
    EXPECT_TRUE(memory.remove_rule(ban.kernel, ban.problem));
    EXPECT_TRUE(memory.rules().empty());
}

/// The best of all files counts, whichever file it is in.
TEST_F(TimingDbFile, ReadsShippedTimingsAndSelectsTheBest) {
    const fs::path weak = folder / "weak.db", strong = folder / "strong.db";
    {
        TimingDb shipped(weak);
        shipped.record(problem(), "both", machine, policy, timing(1, 5));
        shipped.record(problem(), "weak", machine, policy, timing(2));
        shipped.record_error(problem(), "both", machine, figures(2e-2));
        shipped.record_choice("a or b", machine, policy, {"a", 0.9, 0.85, 0.95, 30});
        shipped.add_rule({"*.eigen.*", "*", RuleAction::ban, "shipped"});
    }
    {
        TimingDb shipped(strong);
        shipped.record(problem(), "both", machine, policy, timing(3, 50));
    }
    TimingDb db(path, log(), {.shipped_timings = {strong, weak, folder / "missing.db"}});
    EXPECT_EQ(lines.size(), 1U) << "one is missing";
    EXPECT_EQ(db.find(problem(), "weak", machine, policy)->median, 2);
    EXPECT_EQ(db.find(problem(), "both", machine, policy)->median, 3);
    EXPECT_TRUE(db.find_error_violation(problem(), "both", machine));
    EXPECT_EQ(db.find_choice("a or b", machine, policy)->answer, "a");
    EXPECT_EQ(db.size(), 0U) << "without shipped timings";
    db.record(problem(), "both", machine, policy, timing(4, 60));
    EXPECT_EQ(db.find(problem(), "both", machine, policy)->median, 4);
    db.record(problem(), "both", machine, policy, timing(5, 90, 1));
    EXPECT_EQ(db.find(problem(), "both", machine, policy)->median, 4) << "the machine was busy";
    db.record_choice("a or b", machine, policy, {"b", 0.9, 0.85, 0.95, 3});
    EXPECT_EQ(db.find_choice("a or b", machine, policy)->answer, "b");
    EXPECT_EQ(db.rules().size(), 1U);
    EXPECT_TRUE(db.remove_rule("*.eigen.*", "*"));
    EXPECT_TRUE(db.rules().empty());
    EXPECT_EQ(TimingDb(weak).rules().size(), 1U) << "it is for others too";
    EXPECT_EQ(TimingDb(strong).size(), 1U);
    EXPECT_EQ(times(), 2);
}

TEST_F(TimingDbFile, ShippedTimingsNeedNoDatabaseFile) {
    {
        TimingDb shipped(path);
        add(shipped, "k@1");
    }
    TimingDb db({}, log(), {.shipped_timings = {path}});
    EXPECT_TRUE(has(db, "k@1"));
    EXPECT_FALSE(db.persistent());
    add(db, "k@2");
    EXPECT_TRUE(has(db, "k@2"));
    EXPECT_EQ(times(), 1);
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, SessionsNameTheProgramThatMeasured) {
    {
        TimingDb db(path, log(), {.program = "test"});
        add(db, "k@1");
        add(db, "k@2");
        db.record(problem(), "k@1", {"machine B", ""}, policy, timing(1));
    }
    { const TimingDb db(path); }
    EXPECT_EQ(ask(path, "SELECT count(*) FROM session"), 2) << "one an environment, none for whoever added nothing";
    EXPECT_EQ(ask(path, "SELECT count(*) FROM session WHERE program='test' AND version<>''"), 2);
    EXPECT_EQ(ask(path,
                  "SELECT count(*) FROM measurement m JOIN session s ON s.id=m.session JOIN environment e ON "
                  "e.id=s.environment WHERE e.hard='machine A'"),
              2);
}

// Cached lookups are those of the snapshot; a snapshot ends with the last reading, or when the process itself adds a
// row.
TEST_F(TimingDbFile, AReadSnapshotIsConsistent) {
    TimingDb db(path, log()), other(path, log());
    {
        const TimingDb::ReadSnapshot reading(db);
        EXPECT_FALSE(has(db, "late"));
        add(other, "late");
        add(other, "later");
        EXPECT_FALSE(has(db, "late"));
        EXPECT_FALSE(has(db, "later"));
        add(db, "mine");
        EXPECT_TRUE(has(db, "mine"));
        EXPECT_TRUE(has(db, "late")) << "a new state";
    }
    EXPECT_TRUE(has(db, "later"));
    add(other, "last");
    EXPECT_TRUE(has(db, "last"));
    EXPECT_TRUE(lines.empty());
}

TEST_F(TimingDbFile, InvalidRowsAreNotStored) {
    TimingDb db(path, log());
    add(db, "k@1", -5);
    add(db, "k@1", std::nan(""));
    db.record_choice("a or b", machine, policy, {"a", 0.9, 0.95, 1, 30});
    EXPECT_FALSE(has(db, "k@1"));
    EXPECT_FALSE(db.find_choice("a or b", machine, policy));
    EXPECT_EQ(db.invalid_rows(), 3U);
    EXPECT_EQ(lines.size(), 1U);
    EXPECT_EQ(db.size(), 0U);
}

}  // namespace
}  // namespace cairn
