// Measures a large timing database: adding rows, opening it, and lookups of stored and of missing rows, inside a
// TimingDb::ReadSnapshot and individually.
//
//     timing_db [ROWS]
#include "cairn/timing_file.hpp"
#include "cairn/types.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

template <typename F>
double seconds_of(const F& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

const cairn::TimingEnvironment machine{"bench", ""};

cairn::Problem problem_of(int rows) {
    const auto symbols = cairn::Symbols::create();
    const std::string size = std::to_string(rows);
    return cairn::parse_problem("matmul | f32[" + size + ",8] f32[8,2] -> f32[" + size + ",2]", *symbols);
}

std::string kernel_of(int i) { return "cpu.bench.matmul.f32@" + std::to_string(i / 1000); }

/// Text of `count` rows, numbered from `first`.
std::string lines_of(int first, int count) {
    std::ostringstream text;
    for (int i = first; i < first + count; ++i)
        text << R"({"row":"time","problem":")" << cairn::to_string(problem_of(i % 1000 + 1)) << R"(","kernel":")"
             << kernel_of(i) << R"(","hard":"bench","soft":"","policy":"threads=1 cold inputs=normal","status":"ok",)"
             << R"("samples":9,"inner":1,"least":1,"p10":1,"median":1,"p90":1,"mad":0,"bound":0,"quality":2,"note":"",)"
             << R"("time":)" << i + 1 << R"(,"session":""})" << '\n';
    return text.str();
}

}  // namespace

int main(int count, char** arguments) {
    const int rows = count > 1 ? std::atoi(arguments[1]) : 300'000, lookups = 2000, batch = 20'000;
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "cairn_bench_timings.db";
    for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + tail);
    double adding = 0;
    {
        cairn::TimingFile file(path, cairn::TimingFile::Use::write);
        for (int i = 0; i < rows; i += batch) {
            std::istringstream text(lines_of(i, std::min(batch, rows - i)));
            adding += seconds_of([&] { file.import_rows(text); });
        }
    }
    std::printf("%d rows, %.0f MB: added as text in %.1f s\n", rows,
                static_cast<double>(std::filesystem::file_size(path)) / 1e6, adding);
    std::optional<cairn::TimingDb> db;
    std::printf("open %.2f ms\n", 1e3 * seconds_of([&] { db.emplace(path); }));
    int found = 0;
    const auto look_up = [&](const char* prefix) {
        for (int i = 0; i < lookups; ++i) {
            const int at = static_cast<int>(static_cast<long long>(i) * 7919 % rows);
            found += db->find(problem_of(at % 1000 + 1), prefix + kernel_of(at), machine, {}).has_value() ? 1 : 0;
        }
    };
    const double making = seconds_of([&] {
        for (int i = 0; i < lookups; ++i) (void)cairn::to_string(problem_of(i % 1000 + 1));
    });
    std::printf("%d lookups, in microseconds each; %.1f of them go into making the problem:\n", lookups,
                1e6 * making / lookups);
    for (const char* prefix : {"", "absent."}) {
        std::printf("  %s: each on its own %.1f", *prefix == '\0' ? "there" : "not there",
                    1e6 * seconds_of([&] { look_up(prefix); }) / lookups);
        const cairn::TimingDb::ReadSnapshot reading(*db);
        std::printf(", in a reading %.1f", 1e6 * seconds_of([&] { look_up(prefix); }) / lookups);
        std::printf(", again %.1f\n", 1e6 * seconds_of([&] { look_up(prefix); }) / lookups);
    }
    const int recorded = 1000;
    cairn::Timing timing;
    timing.samples = 9;
    timing.min = timing.p10 = timing.median = timing.p90 = 1;
    const cairn::Problem problem = problem_of(5);
    const double recording = seconds_of([&] {
        for (int i = 0; i < recorded; ++i) db->record(problem, "new" + std::to_string(i), machine, {}, timing);
    });
    std::printf("record %.1f us; found %d\n", 1e6 * recording / recorded, found);
    db.reset();
    for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + tail);
}
