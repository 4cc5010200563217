#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include "cairn/weights.hpp"

#include <gtest/gtest.h>

#include <filesystem>

/// Runs all `cairn` command lines of docs/guide.md in a folder that contains their files; all must succeed.
namespace cairn::test {
namespace {

TEST(GuideLines, Run) {
    const TempFolder temp;
    temp.write("layer.cairn", layer_text());
    const std::vector<float> w(256, 0.25f), b(16, 1.0f);
    write_safetensors(temp / "layer.safetensors",
                      {{"w", {w.data(), DType::f32, {16, 16}}}, {"b", {b.data(), DType::f32, {16}}}});
    const std::string setup = "cd '" + temp.path().string() + "' && export XDG_CACHE_HOME=\"$PWD/cache\" PATH=\"" +
                              std::filesystem::path(CAIRN_COMMAND).parent_path().string() + ":$PATH\" && ";
    int run_lines = 0;
    for (const std::string& line : lines_of(read_file(CAIRN_SOURCE_DIR "/docs/guide.md"))) {
        if (!line.starts_with("cairn ")) continue;
        ++run_lines;
        const Outcome outcome = run("/bin/sh", {"-c", setup + line});
        const bool may_differ = line.starts_with("cairn diff");
        EXPECT_TRUE(outcome.exit_code == 0 || (may_differ && outcome.exit_code == 1)) << line << '\n' << outcome.err;
        const bool writes_files = line.find("--html") != std::string::npos;
        EXPECT_EQ(outcome.out.empty(), writes_files) << line;
    }
    EXPECT_EQ(run_lines, 28);
    for (const char* name : {"layer.saved", "layer.html", "layer.json", "layer.dot", "cache/cairn/timings.db",
                             "times.jsonl", "team.db", "layer.shipped", "layer.lock"})
        EXPECT_TRUE(std::filesystem::exists(temp / name)) << name;
}

}  // namespace
}  // namespace cairn::test
