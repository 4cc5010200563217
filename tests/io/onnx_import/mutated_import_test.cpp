// Node cases of ONNX, corrupted at random: they are imported or refused by a cairn::Error.
#include "cairn/error.hpp"
#include "cairn/onnx/import.hpp"
#include "tests/io/json_reader/json_mutator.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_model(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Changes one or two bytes to numbers of one byte, which leaves most messages whole: other sizes, attributes, types
/// and names.
std::string with_other_numbers(std::string bytes, Mutator& mutator) {
    for (std::size_t left = 1 + mutator.below(2); left > 0; --left) {
        char& byte = bytes[mutator.below(bytes.size())];
        const std::size_t kind = mutator.below(4);
        byte = static_cast<char>(kind == 0   ? byte + 1
                                 : kind == 1 ? byte - 1
                                 : kind == 2 ? static_cast<char>(mutator.below(4))
                                             : static_cast<char>(mutator.below(128)));
    }
    return bytes;
}

class MutatedImports : public testing::TestWithParam<std::size_t> {};

TEST_P(MutatedImports, AreImportedOrRefused) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(CAIRN_ONNX_CASES)) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    const TempFolder temp;
    Mutator mutator(GetParam());
    int imported = 0, rounds = 0;
    // Each shard takes other cases.
    for (std::size_t i = GetParam(); i < folders.size(); i += 8) {
        const std::string whole = bytes_of_model(folders[i] / "model.onnx");
        if (whole.size() > 20'000) continue;
        for (int round = 0; round < 6; ++round, ++rounds) {
            const std::string bytes = round % 3 == 2 ? mutator.mutate(whole) : with_other_numbers(whole, mutator);
            const fs::path file = temp.write("m.onnx", bytes);
            try {
                onnx::import(onnx::Model::open(file), {.unroll_limit = 16});
                ++imported;
            } catch (const InternalError& error) {
                ADD_FAILURE() << folders[i] << " round " << round << ": " << error.what();
            } catch (const Error&) {
            } catch (const std::exception& error) {
                ADD_FAILURE() << folders[i] << " round " << round << ": " << error.what();
            }
        }
    }
    EXPECT_GT(imported, rounds / 40);
    EXPECT_LT(imported, rounds);
}

INSTANTIATE_TEST_SUITE_P(Shards, MutatedImports, testing::Range(std::size_t{0}, std::size_t{8}));

}  // namespace
}  // namespace cairn::test
