#include "bench/graph_buffers.hpp"

#include <fmt/format.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

namespace cairn::bench {
namespace {

/// The results of ops in order of execution: each is live from its op to the last that reads it.
class Results {
public:
    int add(std::int64_t bytes, const std::vector<int>& reads) {
        const int now = static_cast<int>(problem_.buffers.size());
        for (const int read : reads) problem_.buffers[static_cast<std::size_t>(read)].last = now;
        problem_.buffers.push_back({{bytes}, 64, now, now});
        return now;
    }
    const memory_plan::PackingProblem& problem() const { return problem_; }

private:
    memory_plan::PackingProblem problem_;
};

/// An image in f32.
struct Image {
    std::int64_t channels, side;
    std::int64_t bytes() const { return 4 * channels * side * side; }
};

/// Two convolutions of each image on the way down, and after the concat with it on the way up.
NamedProblem unet(int levels, std::int64_t side) {
    Results results;
    std::vector<std::pair<int, Image>> skipped;
    Image image{32, side};
    int x = results.add(4 * 3 * side * side, {});
    for (int level = 0; level < levels; ++level) {
        for (int convolution = 0; convolution < 2; ++convolution) x = results.add(image.bytes(), {x});
        skipped.emplace_back(x, image);
        image.side = (image.side + 1) / 2;
        x = results.add(image.bytes(), {x});
        image.channels *= 2;
    }
    for (; !skipped.empty(); skipped.pop_back()) {
        const auto [skip, large] = skipped.back();
        const int up = results.add(large.bytes(), {x});
        x = results.add(2 * large.bytes(), {up, skip});
        for (int convolution = 0; convolution < 2; ++convolution) x = results.add(large.bytes(), {x});
    }
    return {fmt::format("unet {}", levels), results.problem()};
}

/// Four stages whose blocks are all concatenated, a pyramid of three images, two heads on each.
NamedProblem detector(int blocks) {
    Results results;
    Image image{32, 320};
    int x = results.add(image.bytes(), {results.add(4 * 3 * 640 * 640, {})});
    std::vector<std::pair<int, Image>> stages;
    for (int stage = 0; stage < 4; ++stage) {
        image = {2 * image.channels, (image.side + 1) / 2};
        x = results.add(image.bytes(), {x});
        std::vector<int> parts{results.add(image.bytes() / 2, {x}), results.add(image.bytes() / 2, {x})};
        for (int block = 0; block < blocks; ++block) {
            const int wide = results.add(image.bytes() / 2, {parts.back()});
            parts.push_back(results.add(image.bytes() / 2, {wide, parts.back()}));
        }
        x = results.add(image.bytes(), {results.add(image.bytes() / 2 * (blocks + 2), parts)});
        stages.emplace_back(x, image);
    }
    for (std::size_t level = 3; level-- > 1;) {
        auto& [result, at] = stages[level];
        const int up = results.add(2 * at.bytes(), {stages[level + 1].first});
        result = results.add(at.bytes(), {results.add(3 * at.bytes(), {up, result})});
    }
    std::vector<int> heads;
    for (std::size_t level = 1; level < 4; ++level) {
        const auto& [result, at] = stages[level];
        const Image boxes{64, at.side}, classes{80, at.side};
        const int box = results.add(boxes.bytes(), {results.add(boxes.bytes(), {result})});
        const int score = results.add(classes.bytes(), {results.add(classes.bytes(), {result})});
        heads.push_back(results.add(boxes.bytes() + classes.bytes(), {box, score}));
    }
    results.add(Image{84, 92}.bytes(), heads);
    return {fmt::format("detector {}", blocks), results.problem()};
}

}  // namespace

NamedProblem random_graph(std::uint32_t seed, int ops, int reach) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
    Results results;
    for (int op = 0; op < ops; ++op) {
        std::vector<int> reads;
        if (op > 0) reads.push_back(op - 1);
        while (op > 0 && uniform() < 0.3) reads.push_back(std::max(0, op - 1 - static_cast<int>(uniform() * reach)));
        results.add(64 * static_cast<std::int64_t>(16 * std::exp2(10 * uniform())), reads);
    }
    return {fmt::format("random {} {}", reach, seed), results.problem()};
}

NamedProblem read_minimalloc(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) {
        std::fprintf(stderr, "%s cannot be read\n", path.c_str());
        std::exit(1);
    }
    NamedProblem named;
    const std::string name = std::filesystem::path(path).stem().string();
    named.name = name.substr(0, name.find('.'));
    if (const auto dot = name.find('.'); dot != std::string::npos) named.capacity = std::atoll(name.c_str() + dot + 1);
    while (std::getline(file, line)) {
        int id = 0, lower = 0, upper = 0;
        long long bytes = 0;
        if (std::sscanf(line.c_str(), "%d,%d,%d,%lld", &id, &lower, &upper, &bytes) != 4) {
            std::fprintf(stderr, "%s: \"%s\" is no buffer\n", path.c_str(), line.c_str());
            std::exit(1);
        }
        named.problem.buffers.push_back({{bytes}, 1, lower, upper - 1});
    }
    return named;
}

std::vector<NamedProblem> crowded_problems() {
    std::vector<NamedProblem> problems;
    for (const char* name : {"A", "B", "C", "D", "E"})
        problems.push_back(
            read_minimalloc(fmt::format("{}/tests/data/minimalloc/{}.1048576.csv", CAIRN_SOURCE_DIR, name)));
    for (const int levels : {3, 4, 5, 6}) problems.push_back(unet(levels, 512));
    for (const int blocks : {1, 2, 3, 6}) problems.push_back(detector(blocks));
    for (const int reach : {50, 200, 1000})
        for (std::uint32_t seed = 0; seed < 6; ++seed) problems.push_back(random_graph(seed, 1000, reach));
    return problems;
}

}  // namespace cairn::bench
