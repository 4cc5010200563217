#include "apps/compare/schedule.hpp"

#include "cairn/error.hpp"

#include <gmock/gmock.h>

namespace cairn::compare {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// What implementations were asked, in order: `A+` for loading, `A:ab` for the rows a and b.
using Log = std::vector<std::string>;

class Recorded : public Implementation {
public:
    Recorded(std::string name, Log& log, std::size_t fails_at, std::stop_source* stops)
        : name_(std::move(name)), log_(log), fails_at_(fails_at), stops_(stops) {}
    ~Recorded() override { log_.push_back(name_ + "-"); }

    Loaded load(const std::stop_token&) override {
        log_.push_back(name_ + "+");
        if (fails_at_ == 0) throw Error(ErrorKind::file, "test", "no load");
        return {2, 1, {{"lib", "3"}}};
    }
    Reply answer(std::span<const DataRow> rows, const std::stop_token& stop) override {
        std::string entry = name_ + ":";
        Reply reply;
        for (const DataRow& row : rows) {
            entry += row.text;
            reply.answers.push_back({.label = row.text});
        }
        log_.push_back(entry);
        if (++count_ == fails_at_) throw std::runtime_error("broken");
        if (stops_ != nullptr && count_ == 5) stops_->request_stop();
        if (stop.stop_requested()) throw Cancelled("test");
        if (name_ == "B") reply.own_seconds = 0.25;
        return reply;
    }
    std::optional<double> peak_bytes() override { return 100.0 + static_cast<double>(count_); }

private:
    std::string name_;
    Log& log_;
    std::size_t fails_at_, count_ = 0;
    std::stop_source* stops_;
};

class Schedule : public testing::Test {
protected:
    Schedule() {
        settings.measure = {.warm_up = 1, .iterations = 2, .turns = 2, .batch_sizes = {1, 2}, .threads = 1};
        for (const char* name : {"A", "B"}) settings.implementations.push_back({.name = name});
        for (const char* text : {"a", "b", "c"}) data.rows.push_back({.text = text});
    }

    Measurements run() {
        return measure(
            settings, data,
            [&](const ImplementationSettings& each, const Settings&) -> std::unique_ptr<Implementation> {
                if (each.name == missing) throw Error(ErrorKind::file, "test", "not made");
                return std::make_unique<Recorded>(each.name, log, each.name == failing ? fails_at : ~std::size_t(0),
                                                  each.name == stopping ? &source : nullptr);
            },
            [&](std::string_view what) { progress.emplace_back(what); }, source.get_token());
    }

    Settings settings;
    Dataset data;
    Log log, progress;
    std::string missing, failing, stopping;
    std::size_t fails_at = 0;
    std::stop_source source;
};

TEST_F(Schedule, TurnsAlternateAndRotateAndAllAreAskedTheSame) {
    const Measurements all = run();
    EXPECT_TRUE(all.is_complete);
    // Loading, warm-up at both sizes, and all rows; then the turns.
    EXPECT_THAT(log, ElementsAre("A+", "A:a", "A:ab", "A:a", "A:b", "A:c",  //
                                 "B+", "B:a", "B:ab", "B:a", "B:b", "B:c",  //
                                 "A:a", "A:b", "A:ab", "A:ca",              // turn 1
                                 "B:a", "B:b", "B:ab", "B:ca",              //
                                 "B:c", "B:a", "B:bc", "B:ab",              // turn 2, B first
                                 "A:c", "A:a", "A:bc", "A:ab",              //
                                 "A-", "B-"));
    EXPECT_THAT(progress, ElementsAre("loading A", "loading B", "turn 1 of 2: A", "turn 1 of 2: B", "turn 2 of 2: B",
                                      "turn 2 of 2: A"));
    ASSERT_THAT(all.implementations, SizeIs(2));
    for (const Measured& each : all.implementations) {
        EXPECT_FALSE(each.error);
        EXPECT_EQ(each.loaded->load_seconds, 2);
        EXPECT_EQ(each.peak_bytes, 113);
        ASSERT_THAT(each.answers, SizeIs(3));
        EXPECT_EQ(each.answers[2].label, "c");
        ASSERT_THAT(each.batches, SizeIs(2));
        for (const BatchTimes& batch : each.batches) EXPECT_THAT(batch.round_trips, SizeIs(4));
        EXPECT_THAT(each.calibration, SizeIs(2));
        for (const double seconds : each.calibration) EXPECT_GT(seconds, 0);
    }
    EXPECT_FALSE(all.implementations[0].batches[0].has_own());
    EXPECT_THAT(all.implementations[1].batches[0].seconds(), ElementsAre(0.25, 0.25, 0.25, 0.25));
    EXPECT_GT(all.implementations[0].batches[0].seconds()[0], 0);
}

TEST_F(Schedule, BatchesMayExceedTheData) {
    settings.measure = {.warm_up = 0, .iterations = 1, .turns = 1, .batch_sizes = {7}, .threads = 1};
    settings.implementations.resize(1);
    run();
    EXPECT_THAT(log, ElementsAre("A+", "A:abc", "A:abcabca", "A-"));
}

TEST_F(Schedule, LabelsAreRenamed) {
    settings.implementations[0].rename_labels = {{"a", "x"}, {"q", "y"}};
    const Measurements all = run();
    EXPECT_EQ(all.implementations[0].answers.at(0).label, "x");
    EXPECT_EQ(all.implementations[0].answers.at(1).label, "b");
    EXPECT_EQ(all.implementations[1].answers.at(0).label, "a");
}

TEST_F(Schedule, AFailureEndsOneImplementationOnly) {
    failing = "A";
    for (const auto& [at, error, samples] :
         {std::tuple(0U, "[test] no load", 0U), std::tuple(2U, "broken", 0U), std::tuple(7U, "broken", 1U)}) {
        fails_at = at;
        const Measurements all = run();
        EXPECT_TRUE(all.is_complete);
        EXPECT_EQ(all.implementations[0].error, error);
        EXPECT_EQ(all.implementations[0].loaded.has_value(), at > 0);
        EXPECT_EQ(all.implementations[0].batches[0].round_trips.size(), samples) << at;
        EXPECT_FALSE(all.implementations[1].error);
        EXPECT_THAT(all.implementations[1].batches[1].round_trips, SizeIs(4));
    }
    missing = "B";
    EXPECT_EQ(run().implementations[1].error, "[test] not made");
}

TEST_F(Schedule, AStopReturnsWhatWasMeasured) {
    stopping = "B";
    const Measurements all = run();
    EXPECT_FALSE(all.is_complete);
    EXPECT_FALSE(all.implementations[0].error);
    EXPECT_THAT(all.implementations[0].answers, SizeIs(3));
    EXPECT_THAT(all.implementations[0].batches[0].round_trips, IsEmpty());
    EXPECT_FALSE(all.implementations[1].error) << "a stop is no failure";
    EXPECT_EQ(log.back(), "B-");
    log.clear();
    EXPECT_FALSE(run().is_complete) << "stopped before it began";
    EXPECT_THAT(log, IsEmpty());
}

}  // namespace
}  // namespace cairn::compare
