#include "tests/apps/cli/two_machines.hpp"

#include <gmock/gmock.h>

/// `cairn db export`, `import` and `merge`.
namespace cairn::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DbImportExport : public TwoMachines {
protected:
    /// Runs the same command on the other database.
    Outcome other_db(std::vector<std::string> words, const std::string& input = {}) const {
        words.insert(words.begin(), "db");
        words.insert(words.end(), {"--db", other});
        return run(CAIRN_COMMAND, words, {.input = input});
    }
    std::string own_rows() const { return text_of(path); }
};

TEST_F(DbImportExport, TextIsWrittenAndReadBack) {
    const std::string file = (folder / "rows.jsonl").string();
    EXPECT_EQ(rows({"export", file}, "export")[0]["rows"], "10");
    EXPECT_EQ(read_file(file), own_rows());
    EXPECT_EQ(db({"export"}).out, own_rows());
    EXPECT_EQ(db({"export", "-"}).out, own_rows());
    const Outcome added = other_db({"import", file});
    EXPECT_TRUE(succeeds(added));
    EXPECT_EQ(added.out, "10 rows added from " + file + "\n");
    EXPECT_EQ(text_of(other), own_rows());
    EXPECT_THAT(other_db({"import", file}).out, HasSubstr("0 rows added")) << "all are there";
    EXPECT_THAT(files(), ElementsAre("other.db", "rows.jsonl", "timings.db"));
}

TEST_F(DbImportExport, TextIsReadFromStandardInput) {
    EXPECT_EQ(other_db({"import", "-"}, own_rows()).out, "10 rows added from standard input\n");
    EXPECT_EQ(text_of(other), own_rows());
}

TEST_F(DbImportExport, AnExistingFileIsNotOverwritten) {
    const std::string file = write("rows.jsonl", "mine");
    EXPECT_TRUE(refuses(db({"export", file}), {"rows.jsonl", "is there already"}));
    EXPECT_EQ(read_file(file), "mine");
    EXPECT_TRUE(succeeds(db({"export", file, "--force"})));
    EXPECT_EQ(read_file(file), own_rows());
    EXPECT_TRUE(refuses(db({"export", (folder / "no/rows").string()}), {"No such file"}));
    EXPECT_TRUE(refuses(db({"export", folder.string(), "--force"}), {"directory"}));
    EXPECT_THAT(files(), ElementsAre("rows.jsonl", "timings.db"));
}

TEST_F(DbImportExport, AnInvalidRowAddsNoRows) {
    const std::string file = write("bad.jsonl", own_rows() + "{\"row\":\"tim\n");
    const std::string before = own_rows();
    EXPECT_TRUE(refuses(db({"import", file}), {"line 11"}));
    EXPECT_EQ(own_rows(), before);
    EXPECT_TRUE(refuses(other_db({"import", file}), {"line 11"}));
    EXPECT_TRUE(refuses(other_db({"import", "-"}, "nonsense"), {"line 1 "}));
    EXPECT_TRUE(refuses(other_db({"import", (folder / "none").string()}), {"none", "No such file"}));
    EXPECT_TRUE(refuses(other_db({"import", folder.string()}), {"directory"}));
    EXPECT_THAT(files(), ElementsAre("bad.jsonl", "timings.db")) << "no database of nothing";
}

TEST_F(DbImportExport, MergeIsAUnion) {
    add_time(other, "k@7", 7e-6, second_machine);
    const std::string third = (folder / "third.db").string();
    add_time(third, "k@8", 8e-6, machine);
    const std::string other_before = text_of(other);
    const auto merged = rows({"merge", other, third}, "merge");
    ASSERT_EQ(merged.size(), 2u);
    EXPECT_EQ(merged[0]["file"], other);
    EXPECT_EQ(merged[0]["rows"], "2") << "a time and its session";
    EXPECT_EQ(merged[1]["rows"], "2");
    EXPECT_EQ(rows({"merge", other}, "merge")[0]["rows"], "0");
    EXPECT_EQ(rows({"query", "--kernel", "k@7"}, "time").size(), 1u);
    EXPECT_EQ(text_of(other), other_before);
    const Outcome fresh = run(CAIRN_COMMAND, {"db", "merge", path.string(), "--db", (folder / "new.db").string()});
    EXPECT_TRUE(succeeds(fresh));
    EXPECT_EQ(text_of(folder / "new.db"), own_rows());
}

TEST_F(DbImportExport, MergeRefusesItselfAndInvalidFiles) {
    const std::string before = own_rows(), text = write("text", std::string(1000, 'x'));
    std::filesystem::create_symlink(path, folder / "link");
    EXPECT_TRUE(refuses(db({"merge", path.string()}), {"is the database itself"}));
    EXPECT_TRUE(refuses(db({"merge", (folder / "link").string()}), {"is the database itself"}));
    EXPECT_TRUE(refuses(db({"merge", (folder / "none.db").string()}), {"no database", "none.db"}));
    EXPECT_TRUE(refuses(db({"merge", text}), {"text", "is not a database"}));
    EXPECT_TRUE(refuses(db({"merge"}), {"other"}));
    EXPECT_TRUE(refuses(other_db({"merge", (folder / "none.db").string()}), {"none.db"}));
    EXPECT_EQ(own_rows(), before);
    EXPECT_THAT(files(), ElementsAre("link", "text", "timings.db"));
}

}  // namespace
}  // namespace cairn::test
