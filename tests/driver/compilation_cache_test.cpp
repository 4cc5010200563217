#include "cairn/cairn.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

/// CompileOptions::cache_file: the first compile writes it, later ones with the same key load it.
namespace cairn {
namespace {

using test::TempFolder;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

struct Wanted {
    std::int64_t width = 24;
    ContextOptions context = {};
    CompileOptions options = {};
};

class CompilationCacheTest : public testing::Test {
protected:
    std::filesystem::path file() const { return folder_ / "m.program"; }

    CompiledGraph made(const Wanted& wanted) {
        log_.clear();
        Graph g("saved");
        const Dim n = g.symbol("N", 1, 40);
        const Tensor x = g.input("x", DType::f32, {n, wanted.width});
        g.output("y", softmax(linear(x, g.weight("w", DType::f32, {wanted.width, 8}), g.weight("b", DType::f32, {8}))));
        ContextOptions context = wanted.context;
        context.log = [this](LogLevel, std::string_view line) { log_.emplace_back(line); };
        CompileOptions options = wanted.options;
        if (options.cache_file.empty()) options.cache_file = file();
        return compile(g, Context(context), options);
    }

    /// A loaded graph has its programs, but not the alternatives they were selected from.
    bool is_loaded(const CompiledGraph& compiled) const {
        const std::string text = test::message([&] { compiled.write_lock(folder_ / "lock"); });
        return text.find("a loaded graph does not record") != std::string::npos;
    }

    const TempFolder folder_;
    std::vector<std::string> log_;
};

TEST_F(CompilationCacheTest, IsLoadedByTheNextCompile) {
    const CompiledGraph first = made({});
    EXPECT_FALSE(is_loaded(first));
    const CompiledGraph second = made({});
    EXPECT_TRUE(is_loaded(second));
    EXPECT_EQ(second.program(), first.program());
    EXPECT_THAT(log_, IsEmpty());
    EXPECT_EQ(CompiledGraph::load(file(), Context()).program(), first.program()) << "by load() too";
}

TEST_F(CompilationCacheTest, IsLoadedOnlyForAnEqualKey) {
    Wanted other[13];
    other[1].width = 25;
    other[2].context.threads = 2;
    other[3].context.reference_only = true;
    other[4].context.features = levels::baseline;
    other[5].options.tolerance = Tolerance::relative(1e-2);
    other[6].options.output_tolerances = {{"y", Tolerance::relative(1e-2)}};
    other[7].options.splits = {{"N", {3}}};
    other[8].options.disable = {"fuse"};
    other[9].options.memory_limit = 1 << 20;
    other[10].options.seconds_per_kept_byte = 0;
    other[11].options.splits = {{"N", {3}, {1, 2}}};
    other[12].options.memory_plan_steps = 0;
    for (std::size_t i = 1; i < std::size(other); ++i) {
        made(other[0]);
        EXPECT_FALSE(is_loaded(made(other[i]))) << i;
        EXPECT_THAT(log_, ElementsAre(HasSubstr("made for something else"))) << i;
        EXPECT_TRUE(is_loaded(made(other[i]))) << i;
        EXPECT_THAT(log_, IsEmpty()) << i;
    }
}

TEST_F(CompilationCacheTest, IsRebuiltIfDamaged) {
    const std::string text = made({}).program();
    std::string whole;
    {
        std::ifstream in(file(), std::ios::binary);
        whole.assign(std::istreambuf_iterator<char>(in), {});
    }
    std::vector<std::string> wrong{"", "nonsense", whole.substr(0, whole.size() / 2),
                                   whole.substr(0, whole.size() - 1)};
    for (const std::size_t at : {std::size_t{3}, whole.size() / 3, whole.size() / 2}) {
        wrong.push_back(whole);
        wrong.back()[at] = static_cast<char>(wrong.back()[at] ^ 1);
    }
    for (const std::string& bytes : wrong) {
        std::ofstream(file(), std::ios::binary) << bytes;
        const CompiledGraph again = made({});
        EXPECT_EQ(again.program(), text);
        EXPECT_FALSE(is_loaded(again));
        EXPECT_THAT(log_, ElementsAre(HasSubstr("compiled again")));
        EXPECT_TRUE(is_loaded(made({})));
    }
}

// The digest covers the whole file.
TEST_F(CompilationCacheTest, IsRefusedIfAnyByteHasChanged) {
    made({});
    EXPECT_THAT(verify_checksums(file()), IsEmpty());
    std::string whole;
    {
        std::ifstream in(file(), std::ios::binary);
        whole.assign(std::istreambuf_iterator<char>(in), {});
    }
    const Context context;
    std::mt19937 random(1);
    for (int round = 0; round < 400; ++round) {
        std::string damaged = whole;
        for (std::size_t at = random() % whole.size(), left = 1 + random() % 3; at < whole.size() && left > 0;
             ++at, --left)
            damaged[at] = static_cast<char>(damaged[at] ^ (1 + random() % 255));
        if (round % 4 == 0) damaged.resize(random() % whole.size());
        std::ofstream(file(), std::ios::binary) << damaged;
        EXPECT_THAT(verify_checksums(file()), testing::Not(IsEmpty())) << round;
        EXPECT_THROW(CompiledGraph::load(file(), context), Error) << round;
    }
}

TEST_F(CompilationCacheTest, IsNeverRequired) {
    Wanted wanted;
    wanted.options.cache_file = folder_ / "missing" / "m.program";
    EXPECT_FALSE(is_loaded(made(wanted)));
    EXPECT_THAT(log_, ElementsAre(HasSubstr("the compiled graph is not kept")));
    wanted.options.cache_file = folder_.path();
    EXPECT_FALSE(is_loaded(made(wanted)));
    EXPECT_THAT(log_.back(), HasSubstr("the compiled graph is not kept"));
}

TEST_F(CompilationCacheTest, IsNotUsedIfStagesAreDumped) {
    made({});
    Wanted wanted;
    wanted.options.dump_stages = folder_ / "stages";
    EXPECT_FALSE(is_loaded(made(wanted)));
    EXPECT_FALSE(std::filesystem::is_empty(folder_ / "stages"));
}

}  // namespace
}  // namespace cairn
