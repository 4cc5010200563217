#include "apps/compare/calibration.hpp"

#include "apps/compare/stopwatch.hpp"

#include <numeric>
#include <thread>

namespace cairn::compare {

namespace {

constexpr std::size_t table_size = 4096, rounds = 16384, words = std::size_t(4) << 17, reads = 16;

}  // namespace

Calibration::Calibration(std::int64_t threads)
    : tables_(static_cast<std::size_t>(threads), std::vector<float>(table_size)),
      memory_(tables_.size(), std::vector<std::uint64_t>(words)) {
    for (auto& table : tables_) std::iota(table.begin(), table.end(), 0.0f);
    for (auto& memory : memory_) std::iota(memory.begin(), memory.end(), std::uint64_t(0));
}

double Calibration::work(std::size_t thread) {
    std::vector<float>& table = tables_[thread];
    for (std::size_t round = 0; round < rounds; ++round)
        for (float& value : table) value = value * 0.999f + 0.5f;
    const std::vector<std::uint64_t>& memory = memory_[thread];
    std::uint64_t sum = 0;
    for (std::size_t read = 0; read < reads; ++read) sum = std::accumulate(memory.begin(), memory.end(), sum);
    return static_cast<double>(table[sum % table_size]) + static_cast<double>(sum % 7);
}

double Calibration::measure() {
    std::vector<double> results(tables_.size());
    const Stopwatch watch;
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < tables_.size(); ++thread)
        others.emplace_back([&, thread] { results[thread] = work(thread); });
    results[0] = work(0);
    others.clear();  // joins
    const double seconds = watch.seconds();
    sink_ = std::accumulate(results.begin(), results.end(), 0.0);
    return seconds;
}

}  // namespace cairn::compare
