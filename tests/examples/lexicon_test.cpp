#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

/// Runs the classifier by a lexicon.
namespace cairn::test {
namespace {

TEST(LexiconProgram, TextsHaveAClassAndAScore) {
    const Outcome outcome = run(CAIRN_LEXICON, {"A wonderful film.", "", "It is a WASTE of time, and not good."});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_EQ(outcome.out,
              "positive 3 A wonderful film.\nneutral 0 \nnegative -3 It is a WASTE of time, and not good.\n");
    const Outcome wide = run(CAIRN_LEXICON, {"--neutral", "3", "A wonderful film.", "waste of time"});
    EXPECT_EQ(wide.out, "neutral 3 A wonderful film.\nnegative -4 waste of time\n");
}

TEST(LexiconProgram, OtherFilesAndWrongOnes) {
    const TempFolder temp;
    const Outcome other = run(CAIRN_LEXICON, {"--lexicon", temp.write("w.tsv", "film\t0.5\n").string(), "A film"});
    EXPECT_EQ(other.out, "positive 0.5 A film\n");
    EXPECT_TRUE(refuses(run(CAIRN_LEXICON, {"--lexicon", temp.write("w.tsv", "film 1\n").string(), "A film"}),
                        {"[lexicon] ", "w.tsv:1: there is no tab between word and score"}));
    EXPECT_EQ(run(CAIRN_LEXICON, {}).exit_code, 2);
}

}  // namespace
}  // namespace cairn::test
