// Weight files and their index, corrupted at random: they open or are rejected by a cairn::Error.
#include "cairn/error.hpp"
#include "cairn/gguf.hpp"
#include "cairn/weights.hpp"
#include "test_files.hpp"
#include "tests/io/json_reader/json_mutator.hpp"
#include "tests/io/weights/gguf_bytes.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cairn {
namespace {

/// Opens a file in a folder in which `write` has put a corrupted one, and reads every tensor of it.
template <typename File>
void expect_errors_only(std::uint64_t seed, int rounds, const std::string& name,
                        const std::function<void(const test::TempFolder&, test::Mutator&)>& write) {
    test::Mutator mutator(seed);
    const test::TempFolder folder;
    int opened = 0;
    for (int round = 0; round < rounds; ++round) {
        write(folder, mutator);
        try {
            const File file = File::open(folder.path() / name);
            ++opened;
            for (const auto& tensor : file.tensors()) {
                InputView view = file.view(tensor.name);
                if (view.release) view.release(view.owner);
            }
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == ErrorKind::file || error.kind() == ErrorKind::unsupported) << error.what();
            EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
        } catch (const std::exception& error) {
            ADD_FAILURE() << "seed " << seed << ", round " << round << ": " << error.what();
        }
    }
    EXPECT_GT(opened, rounds / 40);
    EXPECT_LT(opened, rounds * 39 / 40);
}

TEST(MutatedWeights, Index) {
    const std::string index = R"({"metadata": {"total_size": 12}, "weight_map": {"a": "1.safetensors",
        "b": "2.safetensors", "c": "2.safetensors"}})";
    const auto header = [](const char* name, int begin) {
        return std::string("\"") + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" + std::to_string(begin) +
               "," + std::to_string(begin + 4) + "]}";
    };
    expect_errors_only<Safetensors>(1, 2000, "", [&](const test::TempFolder& folder, test::Mutator& mutator) {
        folder.write("1.safetensors", test::safetensors_bytes("{" + header("a", 0) + "}", "1234"));
        folder.write("2.safetensors",
                     test::safetensors_bytes("{" + header("b", 0) + "," + header("c", 4) + "}", "12345678"));
        folder.write("model.safetensors.index.json", mutator.mutate(index));
    });
}

TEST(MutatedWeights, Header) {
    const std::string header = R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 3],
        "data_offsets": [0, 24]}, "b": {"dtype": "BF16", "shape": [], "data_offsets": [24, 26]}})";
    const std::string data(26, '\1');
    expect_errors_only<Safetensors>(2, 3000, "", [&](const test::TempFolder& folder, test::Mutator& mutator) {
        const bool whole = mutator.below(3) == 0;
        folder.write("model.safetensors", whole ? mutator.mutate(test::safetensors_bytes(header, data))
                                                : test::safetensors_bytes(mutator.mutate(header), data));
    });
}

TEST(MutatedWeights, Gguf) {
    const std::string part = test::GgufBytes()
                                 .text("general.architecture", "gpt2")
                                 .u32("general.alignment", 8)
                                 .array("tokens", 8, 2, test::GgufBytes::string("a") + test::GgufBytes::string("bc"))
                                 .tensor("a", {3, 2}, 0, 0)
                                 .tensor("b", {64, 2}, 8, 24)
                                 .bytes(std::string(24 + 2 * 2 * 34, 'x'), 8);
    expect_errors_only<Gguf>(3, 800, "m.gguf", [&](const test::TempFolder& folder, test::Mutator& mutator) {
        folder.write("m.gguf", mutator.mutate(part));
    });
}

}  // namespace
}  // namespace cairn
