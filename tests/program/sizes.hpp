#pragma once

#include "cairn/types.hpp"

#include <functional>
#include <memory>
#include <random>
#include <vector>

/// Random sizes over a few symbols, and all values of those symbols: what brute force needs.
namespace cairn::test {

/// A table of `count` symbols with small random bounds.
inline std::shared_ptr<Symbols> random_symbols(std::mt19937& random, int count, int max_values) {
    auto symbols = Symbols::create();
    for (int i = 0; i < count; ++i) {
        const auto low = static_cast<std::int64_t>(random() % 4);
        symbols->add(std::string(1, static_cast<char>('A' + i)), low,
                     low + static_cast<std::int64_t>(random() % static_cast<unsigned>(max_values)));
    }
    return symbols;
}

/// A size that may grow, shrink, rise and fall again, or go in steps, as its symbols grow; never negative.
inline Dim random_size(std::mt19937& random, const Symbols& symbols) {
    const auto list = symbols.list();
    const auto factor = [&]() -> Dim {
        const auto& symbol = list[random() % list.size()];
        const Dim x = *symbols.find(symbol.name);
        switch (random() % 6) {
            case 0: return Dim(symbol.high) - x;
            case 1: return Dim(symbol.high + 3) - x;
            case 2: return ceildiv(x, static_cast<int>(2 + random() % 4));
            case 3: return min(x, Dim((symbol.low + symbol.high) / 2));
            case 4: return Dim(static_cast<int>(random() % 3)) + x;
            default: return x;
        }
    };
    Dim size = static_cast<int>(random() % 3);
    for (unsigned term = 0; term < 1 + random() % 2; ++term) {
        Dim product = static_cast<int>(1 + random() % 80);
        for (unsigned i = 0; i < 1 + random() % 2; ++i) product = product * factor();
        size = size + product;
    }
    return size;
}

/// Calls `visit` with every combination of values.
inline void for_all_values(const Symbols& symbols, const std::function<void(const std::vector<std::int64_t>&)>& visit) {
    const auto list = symbols.list();
    std::vector<std::int64_t> values;
    for (const auto& symbol : list) values.push_back(symbol.low);
    while (true) {
        visit(values);
        std::size_t i = 0;
        while (i < list.size() && ++values[i] > list[i].high) values[i] = list[i].low, ++i;
        if (i == list.size()) return;
    }
}

}  // namespace cairn::test
