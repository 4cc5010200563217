#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/apps/models/golden.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

/// Saved models: two files, from which the next start computes the same bits.
namespace cairn::models {
namespace {

using test::model_folder, test::TempFolder;
using testing::Contains, testing::HasSubstr, testing::IsEmpty;

class SavedModelTest : public testing::Test {
protected:
    Context context() {
        ContextOptions options;
        options.log = [this](LogLevel, std::string_view line) { log_.emplace_back(line); };
        return Context(options);
    }

    std::vector<float> gpt2() {
        log_.clear();
        Gpt2 model = Gpt2::load(model_folder("shakespeare-gpt2"), context(), {}, {}, kept());
        const std::vector<std::int32_t> ids{5, 17, 300, 2};
        std::span<const float> logits = model.forward(ids);
        std::vector<float> all(logits.begin(), logits.end());
        logits = model.forward({ids.data(), 1});
        all.insert(all.end(), logits.begin(), logits.end());
        return all;
    }

    std::vector<float> distilbert() {
        log_.clear();
        Encoder model = Encoder::load(model_folder("sst2-distilbert"), context(), {.max_batch = 2}, {}, kept());
        const std::vector<std::int32_t> ids{101, 2023, 102};
        const std::span<const float> logits = model.forward(ids);
        return {logits.begin(), logits.end()};
    }

    std::filesystem::path kept() const { return folder_ / "a" / "b"; }

    const TempFolder folder_;
    std::vector<std::string> log_;
};

TEST_F(SavedModelTest, GivesEqualResultsWithItsFiles) {
    const std::vector<float> gpt2_first = gpt2();
    EXPECT_TRUE(std::filesystem::exists(kept() / "model.program"));
    EXPECT_TRUE(std::filesystem::exists(kept() / "model.packed"));
    EXPECT_EQ(gpt2(), gpt2_first);
    EXPECT_THAT(log_, IsEmpty());
    // Another model overwrites the files in the folder.
    const std::vector<float> distilbert_first = distilbert();
    EXPECT_THAT(log_, Contains(HasSubstr("made for something else")));
    EXPECT_THAT(log_, Contains(HasSubstr("made from other weights")));
    EXPECT_EQ(distilbert(), distilbert_first);
    EXPECT_THAT(log_, IsEmpty());
}

TEST_F(SavedModelTest, NeedsNoModelFiles) {
    const std::vector<float> first = gpt2();
    for (const char* name : {"model.program", "model.packed"}) {
        std::ofstream(kept() / name) << "damaged";
        EXPECT_EQ(gpt2(), first) << name;
        EXPECT_EQ(log_.size(), 1U) << name;
        EXPECT_EQ(gpt2(), first) << name;
        EXPECT_THAT(log_, IsEmpty()) << name;
    }
    std::filesystem::remove_all(folder_ / "a");
    std::ofstream(folder_ / "a") << "no folder";
    EXPECT_EQ(gpt2(), first);
    EXPECT_EQ(log_.size(), 2U) << "one line a file";
}

}  // namespace
}  // namespace cairn::models
