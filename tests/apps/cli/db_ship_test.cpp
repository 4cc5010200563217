#include "tests/apps/cli/two_machines.hpp"

#include <gmock/gmock.h>

#include <fstream>

/// `cairn db ship`.
namespace cairn::test {
namespace {

using testing::ElementsAre;

class DbShip : public TwoMachines {
protected:
    std::string seed() const { return (folder / "shipped_timings.db").string(); }
};

TEST_F(DbShip, ContainsTheBestRows) {
    const auto reported = rows({"ship", seed()}, "ship");
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_EQ(reported[0]["file"], seed());
    EXPECT_EQ(reported[0]["environments"], "2");
    const TimingFile file(seed(), TimingFile::Use::read);
    const std::vector<TimingRecord> times = file.query({.kernel = "k@1"});
    ASSERT_EQ(times.size(), 1u);
    EXPECT_EQ(times[0].timing.median, 2e-6) << "not the one with fewer samples";
    EXPECT_EQ(reported[0]["times"], std::to_string(file.info().times));
    EXPECT_EQ(read_file(seed())[18], 1) << "read without a log, so without a folder that can be written";
    EXPECT_THAT(files(), ElementsAre("shipped_timings.db", "timings.db"));
}

TEST_F(DbShip, OfSomeMachines) {
    EXPECT_EQ(rows({"ship", seed(), "--environment", "* B"}, "ship")[0]["times"], "1");
    EXPECT_EQ(TimingFile(seed(), TimingFile::Use::read).query()[0].kernel, "k@2");
    add_time(path, "mine@1", 1e-6, this_machine(1));
    EXPECT_TRUE(succeeds(db({"ship", seed(), "--environment", "here", "--threads", "1", "--force"})));
    EXPECT_EQ(TimingFile(seed(), TimingFile::Use::read).query()[0].kernel, "mine@1");
}

TEST_F(DbShip, ContainsRulesOnRequest) {
    EXPECT_TRUE(succeeds(db({"ship", seed()})));
    EXPECT_EQ(TimingFile(seed(), TimingFile::Use::read).rules().size(), 0u);
    EXPECT_TRUE(succeeds(db({"ship", seed(), "--rules", "--force"})));
    EXPECT_EQ(TimingFile(seed(), TimingFile::Use::read).rules().size(), 1u);
}

TEST_F(DbShip, IsReadWithADatabase) {
    EXPECT_TRUE(succeeds(db({"ship", seed()})));
    const TimingDb beside(other, {}, {.shipped_timings = {seed()}});
    EXPECT_EQ(beside.find(exp_64, "k@1", machine, policy)->median, 2e-6);
}

TEST_F(DbShip, RefusesInvalidArguments) {
    const std::string before = text_of(path);
    EXPECT_TRUE(refuses(db({"ship"}), {"file", "required"}));
    EXPECT_TRUE(refuses(db({"ship", seed(), "--environment", "no*"}), {"no time here matches an environment no*"}));
    EXPECT_TRUE(refuses(db({"ship", path.string()}), {"is there already"}));
    EXPECT_TRUE(refuses(db({"ship", (folder / "no/shipped_timings.db").string()}), {"No such file"}));
    EXPECT_EQ(text_of(path), before);
    EXPECT_THAT(files(), ElementsAre("timings.db"));
}

}  // namespace
}  // namespace cairn::test
