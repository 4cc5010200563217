#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <png.h>

#include <cstdint>

/// The program that draws images: its files are read back.
namespace cairn::test {
namespace {

using testing::HasSubstr;

struct Picture {
    std::uint32_t width = 0, height = 0;
    bool is_grey = false;
    std::vector<std::uint8_t> pixels;
    std::uint8_t at(std::uint32_t x, std::uint32_t y) const { return pixels[std::size_t{y} * width + x]; }
};

Picture read_picture(const std::filesystem::path& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, path.c_str()) == 0) return {};
    Picture picture{image.width, image.height, (image.format & PNG_FORMAT_FLAG_COLOR) == 0, {}};
    image.format = PNG_FORMAT_GRAY;
    picture.pixels.resize(PNG_IMAGE_SIZE(image));
    if (png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) == 0) return {};
    return picture;
}

Outcome diffusion(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--mode", "off", "--no-progress", "--threads", "1"});
    return run(CAIRN_DIFFUSION, arguments);
}

class DiffusionProgram : public testing::Test {
protected:
    Picture drawn(std::vector<std::string> arguments) const {
        const std::filesystem::path path = folder_ / "digits.png";
        arguments.insert(arguments.end(), {"--output", path.string()});
        const Outcome outcome = diffusion(arguments);
        EXPECT_TRUE(succeeds(outcome));
        EXPECT_THAT(outcome.out, HasSubstr("digits.png: "));
        return read_picture(path);
    }
    TempFolder folder_;
};

TEST_F(DiffusionProgram, DrawsAColumnForEachClass) {
    const Picture picture = drawn({"--classes", "0,1", "--rows", "3", "--scale", "2", "--seed", "5"});
    ASSERT_EQ(picture.width, 34U) << "two images of 8 and a line between, twice as large";
    ASSERT_EQ(picture.height, 52U);
    EXPECT_TRUE(picture.is_grey);
    for (std::uint32_t y = 0; y < picture.height; ++y) EXPECT_EQ(picture.at(16, y), 96);
    for (std::uint32_t image = 0; image < 3; ++image) {
        const std::uint32_t top = 18 * image;
        EXPECT_LT(picture.at(2 * 3, top + 2 * 3), 128) << "the hole of a zero";
        EXPECT_LT(picture.at(0, top), 32) << "the corner of a zero";
        EXPECT_GT(picture.at(18 + 2 * 4, top + 2 * 4), 128) << "the stroke of a one";
        EXPECT_LT(picture.at(18, top + 2 * 7), 32) << "the corner of a one";
    }
}

TEST_F(DiffusionProgram, EachOptionChangesTheImages) {
    const std::vector<std::string> common{"--classes", "3,8", "--rows", "1", "--steps", "3"};
    const Picture plain = drawn(common);
    ASSERT_FALSE(plain.pixels.empty());
    EXPECT_EQ(drawn(common).pixels, plain.pixels);
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--seed", "1"},
                                                 {"--eta", "1"},
                                                 {"--guidance", "1"},
                                                 {"--sampler", "euler", "--karras"},
                                                 {"--model", CAIRN_EXAMPLES_DIR "/models/digits-dit"}}) {
        std::vector<std::string> arguments = common;
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Picture other = drawn(arguments);
        EXPECT_EQ(other.pixels.size(), plain.pixels.size()) << more[0];
        EXPECT_NE(other.pixels, plain.pixels) << more[0];
    }
    // With the same times DDIM makes the steps of Euler: a pixel may be rounded to its neighbour.
    std::vector<std::string> euler = common;
    euler.insert(euler.end(), {"--sampler", "euler"});
    const Picture same = drawn(euler);
    ASSERT_EQ(same.pixels.size(), plain.pixels.size());
    for (std::size_t i = 0; i < same.pixels.size(); ++i) EXPECT_NEAR(same.pixels[i], plain.pixels[i], 1) << i;
}

TEST_F(DiffusionProgram, WrongCommandLinesAreRefused) {
    const std::string output = (folder_ / "digits.png").string();
    EXPECT_TRUE(refuses(diffusion({}), {"give the file to write: --output"}));
    const auto expect = [&](std::vector<std::string> arguments, const std::vector<std::string>& words) {
        arguments.insert(arguments.end(), {"--output", output});
        EXPECT_TRUE(refuses(diffusion(arguments), words));
        EXPECT_FALSE(std::filesystem::exists(output));
    };
    expect({"--classes", "12"}, {"[diffusion] class 12 is not one of the 11 of the model"});
    expect({"--steps", "0"}, {"[sampler] steps must be in 1..1000, the number of training steps, got 0"});
    expect({"--steps", "1001"}, {"got 1001"});
    expect({"--sampler", "heun"}, {"[command line]", "--sampler", "heun"});
    expect({"--rows", "0"}, {"--rows", "must be a whole number of at least 1, got 0"});
    expect({"--karras"}, {"karras is for the sampler euler"});
    expect({"--explain"}, {"--output has no effect"});
    expect({"--model", (folder_ / "nothing").string()}, {"[config]", "cannot read"});
    const std::string nowhere = (folder_ / "no/digits.png").string();
    EXPECT_TRUE(refuses(diffusion({"--steps", "1", "--rows", "1", "--output", nowhere}),
                        {"[output] cannot write", "no/digits.png"}));
}

TEST_F(DiffusionProgram, ExplainsAndSavesItsGraph) {
    const Outcome explained = diffusion({"--explain"});
    EXPECT_TRUE(succeeds(explained));
    EXPECT_THAT(explained.out, HasSubstr("what takes longest"));
    const std::string path = (folder_ / "unet.cairn").string();
    EXPECT_TRUE(succeeds(run(CAIRN_DIFFUSION, {"--save-graph", path})));
    EXPECT_THAT(read_file(path), testing::AllOf(HasSubstr("conv_in.weight"), HasSubstr("prediction")));
}

}  // namespace
}  // namespace cairn::test
