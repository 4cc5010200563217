#include "apps/models/lexicon_entries.hpp"

#include "cairn/error.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace cairn::models {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LexiconEntries parsed(std::string_view text) { return LexiconEntries::parse(text, "words.tsv"); }

TEST(LexiconEntries, TheLongestEntryIsTakenFromLeftToRight) {
    const LexiconEntries entries = parsed("good\t2\nnot good\t-2\nnot good at all\t-4\nall\t1\n");
    ASSERT_EQ(entries.scores.size(), 4U);
    EXPECT_THAT(entries.find("Good"), ElementsAre(0));
    EXPECT_THAT(entries.find("not good"), ElementsAre(1));
    EXPECT_THAT(entries.find("not, GOOD at"), ElementsAre(1));
    EXPECT_THAT(entries.find("not good at all, not good at noon"), ElementsAre(2, 1));
    EXPECT_THAT(entries.find("not all good"), ElementsAre(3, 0));
    EXPECT_THAT(entries.find("not not good"), ElementsAre(1));
    EXPECT_THAT(entries.find(""), IsEmpty());
    EXPECT_THAT(entries.find("goodness at notgood"), IsEmpty());
}

TEST(LexiconEntries, ScoresAreNumbersOfAnySign) {
    EXPECT_THAT(parsed("a\t-2\nb\t+1.5\r\nc\t0\nd\t2e1").scores, ElementsAre(-2, 1.5f, 0, 20));
}

TEST(LexiconEntries, EachFaultNamesItsLine) {
    for (const auto& [text, fault] : std::vector<std::pair<std::string, std::string>>{
             {"good\t1\nbad -2\n", "words.tsv:2: there is no tab"},
             {"good\t1\n\nbad\t2\n", "words.tsv:2: there is no tab"},
             {"good\tbetter\n", "words.tsv:1: the score \"better\" is no finite number"},
             {"good\t\n", "words.tsv:1: the score \"\" is no finite number"},
             {"good\t1 \n", "words.tsv:1: the score \"1 \" is no finite number"},
             {"good\t1\t2\n", "words.tsv:1: the score \"1\t2\" is no finite number"},
             {"good\tinf\n", "words.tsv:1: the score \"inf\" is no finite number"},
             {"good\tnan\n", "words.tsv:1: the score \"nan\" is no finite number"},
             {"good\t1e99\n", "words.tsv:1: the score \"1e99\" is no finite number"},
             {"good\t1\nbad\t2\nGOOD\t1\n", "words.tsv:3: the entry \"GOOD\" is there already"},
             {"cover-up\t1\ncover up\t1\n", "words.tsv:2: the entry \"cover up\" is there already"},
             {":-)\t1\n", "words.tsv:1: the entry \":-)\" has no word"},
             {"\t1\n", "words.tsv:1: the entry \"\" has no word"},
             {"good\t1\nna\xEFve\t-2\n", "words.tsv:2: the line is not UTF-8"},
             {"", "words.tsv has no lines"}}) {
        EXPECT_THAT(test::message([&] { parsed(text); }), HasSubstr("[lexicon] " + fault)) << text;
    }
    EXPECT_THAT(test::message([&] { LexiconEntries::read("no/such/words.tsv"); }), HasSubstr("[lexicon] cannot read "));
    EXPECT_THAT(test::message([&] { LexiconEntries::read("/"); }), HasSubstr("[lexicon] cannot read "));
}

/// AFINN-111 (Nielsen, arXiv 1103.2903), which scripts/assets installs. Where it cannot, there is no such test.
std::vector<fs::path> afinn_files() {
    const fs::path assets = fs::path(CAIRN_SOURCE_DIR) / "build/assets";
    if (!fs::exists(assets / "complete")) return {};
    return {assets / "bfinn/bfinn/data/BFINN-111.txt"};
}

class Afinn : public testing::TestWithParam<fs::path> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Afinn);

TEST_P(Afinn, EachOfItsEntriesIsFoundAsItself) {
    const LexiconEntries entries = LexiconEntries::read(GetParam());
    ASSERT_EQ(entries.scores.size(), 2477U);
    std::ifstream file(GetParam());
    std::int32_t index = 0;
    int several = 0;
    for (std::string line; std::getline(file, line); ++index) {
        const std::string entry = line.substr(0, line.find('\t'));
        if (entry.find(' ') != entry.npos) ++several;
        EXPECT_THAT(entries.find(entry), ElementsAre(index)) << entry;
        EXPECT_EQ(entries.scores[static_cast<std::size_t>(index)], std::stof(line.substr(line.find('\t')))) << entry;
    }
    EXPECT_EQ(index, 2477);
    EXPECT_EQ(several, 15);
}

INSTANTIATE_TEST_SUITE_P(File, Afinn, testing::ValuesIn(afinn_files()),
                         [](const auto& info) { return "N" + std::to_string(info.index); });

}  // namespace
}  // namespace cairn::models
