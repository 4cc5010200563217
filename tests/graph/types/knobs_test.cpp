#include "graph/types/knobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cairn {
namespace {

Refusal accepts(const Problem&) { return {}; }
Dim bytes(const Problem&, int threads, const Setting& setting) { return threads * setting["depth"]; }
Cost cost(const Problem&, const Setting& setting) {
    return {static_cast<double>(setting["depth"]), static_cast<double>(setting["ahead"])};
}

Kernel kernel() {
    Kernel made;
    made.id = "my.sum@1";
    made.accepts = accepts;
    made.workspace = bytes;
    made.cost = cost;
    made.knobs = {{"depth", {1024, 512}}, {"ahead", {96, 64, 0}}};
    return made;
}

TEST(Knobs, EachSettingIsAKernelOfItsOwn) {
    std::vector<std::string> ids, costs;
    for (const Kernel& setting : all_settings(kernel())) {
        ids.push_back(setting.id);
        const Cost stated = setting.cost(Problem());
        costs.push_back(std::to_string(static_cast<int>(stated.flops)) + " " +
                        std::to_string(static_cast<int>(stated.bytes)));
        EXPECT_EQ(setting.workspace(Problem(), 2), Dim(2 * static_cast<std::int64_t>(stated.flops)));
        EXPECT_EQ(setting.accepts(Problem()), "");
    }
    EXPECT_EQ(ids,
              (std::vector<std::string>{"my.sum@1", "my.sum@1{ahead=64}", "my.sum@1{ahead=0}", "my.sum@1{depth=512}",
                                        "my.sum@1{depth=512,ahead=64}", "my.sum@1{depth=512,ahead=0}"}));
    EXPECT_EQ(costs, (std::vector<std::string>{"1024 96", "1024 64", "1024 0", "512 96", "512 64", "512 0"}));
}

TEST(Knobs, AFurtherKnobChangesNoId) {
    Kernel more = kernel();
    more.knobs.insert(more.knobs.begin() + 1, {"rows", {192, 96}});
    const std::vector<Kernel> all = all_settings(more);
    for (const Kernel& before : all_settings(kernel()))
        EXPECT_EQ(std::count_if(all.begin(), all.end(), [&](const Kernel& each) { return each.id == before.id; }), 1)
            << before.id;
}

TEST(Knobs, AKernelWithoutKnobsHasOneSetting) {
    Kernel plain = kernel();
    plain.knobs.clear();
    EXPECT_EQ(all_settings(plain).size(), 1u);
    const Kernel last = all_settings(kernel()).back();
    const std::vector<Kernel> again = all_settings(last);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].id, last.id);
    EXPECT_EQ(again[0].cost(Problem()).flops, 512);
}

TEST(Knobs, SettingsAreCounted) {
    Kernel many = kernel();
    EXPECT_EQ(count_settings(many), 6u);
    many.knobs = {{"a", {1, 2, 3, 4, 5, 6, 7, 8}}, {"b", {1, 2, 3, 4}}};
    EXPECT_EQ(count_settings(many), max_settings);
    many.knobs.push_back({"c", {1, 2}});
    EXPECT_EQ(count_settings(many), max_settings + 1);
    many.knobs.assign(64, {"a", std::vector<std::int64_t>(1 << 10)});
    EXPECT_EQ(count_settings(many), max_settings + 1);
}

TEST(Knobs, IdsAreSplitIntoKernelAndSetting) {
    EXPECT_EQ(without_setting("my.sum@1{depth=512,ahead=0}"), "my.sum@1");
    EXPECT_EQ(without_setting("my.sum@1"), "my.sum@1");
    EXPECT_TRUE(has_setting_suffix("my.sum@1{depth=512}"));
    EXPECT_FALSE(has_setting_suffix("my.sum@1"));
}

TEST(Knobs, AnUnknownIdIsExplained) {
    KernelSet set;
    set.kernels = all_settings(kernel());
    set.kernels.emplace_back().id = "my.plain@1";
    EXPECT_EQ(explain_unknown_id("my.other@1", set), "there is no kernel my.other@1");
    EXPECT_EQ(explain_unknown_id("my.other@1{depth=512}", set), "there is no kernel my.other@1");
    EXPECT_EQ(explain_unknown_id("my.plain@1{depth=512}", set), "my.plain@1 has no knobs");
    const std::string suffix = " are not the first, depth of 1024|512, ahead of 96|64|0";
    for (const char* wrong : {"{depth=7}", "{depth=1024}", "{ahead=0,depth=512}", "{width=1}", "{depth=512", "{}"})
        EXPECT_EQ(
            explain_unknown_id(std::string("my.sum@1") + wrong, set),
            std::string("my.sum@1 has no setting ") + wrong + ": ids name, in this order, the values that" + suffix);
}

TEST(Setting, HasValuesOnlyForItsKnobs) {
    const Setting setting({{"depth", 512}});
    EXPECT_EQ(setting["depth"], 512);
    EXPECT_THROW(setting["width"], Error);
    EXPECT_EQ(setting, Setting({{"depth", 512}}));
    EXPECT_FALSE(setting == Setting({{"depth", 256}}));
}

// Kernels share query results if their functions are equal.
TEST(KernelFunction, IsEqualIfItIgnoresTheSetting) {
    const std::vector<Kernel> some = all_settings(kernel()), same = all_settings(kernel());
    EXPECT_TRUE(some[1].cost == same[1].cost);
    EXPECT_FALSE(some[0].cost == some[1].cost);
    EXPECT_TRUE(some[0].accepts == some[1].accepts) << "it does not see the setting";
    EXPECT_TRUE(some[0].error == nullptr);
    EXPECT_FALSE(static_cast<bool>(some[0].error));
    EXPECT_TRUE(some[0].cost != nullptr);
}

}  // namespace
}  // namespace cairn
