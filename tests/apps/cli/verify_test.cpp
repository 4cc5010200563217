#include "cairn/cairn.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

/// `cairn verify`.
namespace cairn::test {
namespace {

using testing::HasSubstr;

TEST(VerifyCommand, ReadsFilesOfEachKindWhole) {
    const TempFolder temp;
    const std::string packed = (temp / "m.packed").string(), saved = (temp / "m.program").string(),
                      lock = (temp / "m.lock").string();
    Graph g("checked");
    g.output("y", matmul(g.input("x", DType::f32, {4, 70}), g.weight("w", DType::f32, {70, 33})));
    CompiledGraph model = compile(g, Context());
    const std::vector<float> w(70 * 33, 1.0F);
    InputView view;
    view.data = w.data();
    view.shape = {70, 33};
    model.bind([&](std::string_view) { return view; }, {packed, "v1"});
    model.save(saved);
    model.write_lock(lock);
    const Outcome well = run(CAIRN_COMMAND, {"verify", packed, saved, lock, "--json"});
    EXPECT_EQ(well.exit_code, 0) << well.err << well.out;
    EXPECT_EQ(rows_of(well, "verify").size(), 3U);
    EXPECT_TRUE(rows_of(well, "fault").empty());
    for (const std::string& file : {packed, saved, lock}) {
        std::string bytes = read_file(file);
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        temp.write(std::filesystem::path(file).filename().string(), bytes);
        const Outcome damaged = run(CAIRN_COMMAND, {"verify", file, "--json"});
        EXPECT_EQ(damaged.exit_code, 1) << file << damaged.err << damaged.out;
        EXPECT_EQ(rows_of(damaged, "fault").size(), 1U) << file;
    }
    const Outcome missing = run(CAIRN_COMMAND, {"verify", (temp / "none").string()});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.err, HasSubstr("cannot read"));
}

}  // namespace
}  // namespace cairn::test
