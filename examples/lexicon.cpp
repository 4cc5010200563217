// Classifies texts as negative, neutral or positive by the mean score of the words that a lexicon lists: a baseline for
// trained classifiers. A lexicon has lines `word<TAB>score`; an entry may have several words.
//
//     lexicon "A wonderful film." "It is a waste of time."
//     lexicon --lexicon AFINN-111.txt --neutral 0.5 "A wonderful film."

#include "cairn/models/lexicon.hpp"
#include "examples/support.hpp"

#include <iostream>
#include <string>
#include <vector>

namespace {

using cairn::models::Lexicon;
using cairn::models::SentimentScore;

struct Options {
    std::string lexicon = CAIRN_EXAMPLES_DIR "/models/lexicon.tsv";
    std::vector<std::string> texts;
    float neutral = 0;
};

void run(const Options& options) {
    Lexicon lexicon = Lexicon::load(options.lexicon, cairn::Context(),
                                    {.negative_below = -options.neutral, .positive_above = options.neutral});
    const std::vector<SentimentScore> results = lexicon.classify(options.texts);
    for (std::size_t i = 0; i < results.size(); ++i)
        std::cout << to_string(results[i].sentiment) << ' ' << results[i].score << ' ' << options.texts[i] << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Classifies texts by a lexicon");
    support::add_version_and_defaults(app);
    app.add_option("text", options.texts, "texts")->required();
    app.add_option("--lexicon", options.lexicon, "file of lines word<TAB>score");
    app.add_option("--neutral", options.neutral, "mean scores up to this size are neutral")
        ->check(CLI::NonNegativeNumber);
    return support::guarded(app, argc, argv, [&] { run(options); });
}
