#include "cairn/context.hpp"
#include "cairn/devices.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

/// `cairn doctor`.
namespace cairn::test {
namespace {

TEST(DoctorCommand, ReportsEachFactOnce) {
    const Outcome outcome = cairn_command({"doctor", "--json"});
    EXPECT_TRUE(succeeds(outcome));
    std::map<std::string, nlohmann::json> facts;
    for (const auto& row : rows_of(outcome, "doctor")) {
        EXPECT_TRUE(facts.emplace(row["name"], row).second) << row;
        EXPECT_NE(row["value"], "");
        EXPECT_EQ(row["ok"].get<bool>(), !row.contains("reason")) << "what is not well has a reason";
    }
    for (const char* name :
         {"version", "CPUs", "governor", "turbo", "huge pages", "CPU quota", "noise", "read bandwidth", "features",
          "f32_baseline", "barrier", "cross-core transfer", "clock step", "database"})
        EXPECT_TRUE(facts.contains(name)) << name;
    EXPECT_THAT(facts["CPUs"]["value"].get<std::string>(), testing::HasSubstr("1 threads"));
    EXPECT_EQ(facts["features"]["value"], to_string(Context().features()));
    EXPECT_THAT(facts["f32_baseline"]["value"].get<std::string>(), testing::MatchesRegex("[0-9.e+]+ GFLOP/s"));
    const std::optional<double> quota = cpu_quota();
    EXPECT_EQ(facts["CPU quota"]["ok"], !quota.has_value());
    EXPECT_EQ(facts["CPU quota"]["value"] == "none", !quota.has_value());
    EXPECT_THAT(facts["database"]["value"].get<std::string>(), testing::HasSubstr("not made yet"));
}

// The machine of the tests may have one.
TEST(DoctorCommand, TellsWhichGpusThereAreOrWhyThereIsNone) {
    const FoundDevices found = find_devices();
    const Outcome outcome = cairn_command({"doctor", "--json"});
    EXPECT_TRUE(succeeds(outcome));
    std::vector<std::string> names;
    for (const auto& row : rows_of(outcome, "doctor")) {
        names.push_back(row["name"]);
        if (row["name"] != "GPU") continue;
        EXPECT_THAT(row.dump(), testing::HasSubstr(nlohmann::json(found.reason).dump().substr(1, 20)));
        EXPECT_EQ(row["ok"], !found.has_driver);
    }
    EXPECT_EQ(std::count(names.begin(), names.end(), "GPU"), found.devices.empty() ? 1 : 0);
    for (const Device device : found.devices) EXPECT_THAT(names, testing::Contains(to_string(device) + " rates"));
    if (!found.devices.empty()) return;
    EXPECT_TRUE(refuses(cairn_command({"doctor", "--device", "cuda"}), {"cuda"})) << "in one sentence, exit code 2";
    EXPECT_TRUE(succeeds(cairn_command({"doctor", "--device", "auto"})));
}

TEST(DoctorCommand, ReportsMoreThreadsThanCpus) {
    const std::string threads = std::to_string(usable_cpus() + 2);
    const Outcome outcome = cairn_command({"doctor", "--threads", threads});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, testing::ContainsRegex("look +CPUs .* " + threads + " threads\n +more threads than CPUs"));
}

TEST(DoctorCommand, ReportsTheUnitsOfTheRequestedFeatures) {
    const Outcome outcome = cairn_command({"doctor", "--features", "baseline", "--json"});
    EXPECT_TRUE(succeeds(outcome));
    std::vector<std::string> names;
    for (const auto& row : rows_of(outcome, "doctor")) {
        names.push_back(row["name"]);
        if (row["name"] == "features") { EXPECT_EQ(row["value"], "baseline"); }
    }
    EXPECT_THAT(names, testing::Contains("f32_baseline"));
    EXPECT_THAT(names, testing::Not(testing::Contains("f32_avx2")));
}

TEST(DoctorCommand, CreatesNoDatabase) {
    const TempFolder temp;
    const std::string path = (temp / "times.db").string();
    EXPECT_TRUE(succeeds(cairn_command({"doctor", "--db", path})));
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace cairn::test
