#include "random_size.hpp"

#include <algorithm>

namespace cairn::test {

namespace {

std::int64_t floor_of(std::int64_t a, std::int64_t b) {
    std::int64_t quotient = a / b;
    while (quotient * b > a && b > 0) --quotient;
    while (quotient * b < a && b < 0) --quotient;
    return quotient;
}

int below(std::mt19937_64& random, int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }

}  // namespace

std::optional<std::int64_t> PlainSize::evaluate(std::span<const std::int64_t> symbols) const {
    if (kind == Kind::constant) return value;
    if (kind == Kind::symbol) return symbols[static_cast<std::size_t>(value)];
    const auto a = left->evaluate(symbols), b = right->evaluate(symbols);
    if (!a || !b) return std::nullopt;
    const bool divides = kind == Kind::floordiv || kind == Kind::ceildiv || kind == Kind::mod;
    if (divides && *b == 0) return std::nullopt;
    switch (kind) {
        case Kind::add: return *a + *b;
        case Kind::subtract: return *a - *b;
        case Kind::multiply: return *a * *b;
        case Kind::floordiv: return floor_of(*a, *b);
        case Kind::ceildiv: return floor_of(*a, *b) + (floor_of(*a, *b) * *b == *a ? 0 : 1);
        case Kind::mod: return *a - *b * floor_of(*a, *b);
        case Kind::min: return std::min(*a, *b);
        default: return std::max(*a, *b);
    }
}

Dim PlainSize::dim(const std::vector<Dim>& symbols) const {
    if (kind == Kind::constant) return value;
    if (kind == Kind::symbol) return symbols[static_cast<std::size_t>(value)];
    const Dim a = left->dim(symbols), b = right->dim(symbols);
    switch (kind) {
        case Kind::add: return a + b;
        case Kind::subtract: return a - b;
        case Kind::multiply: return a * b;
        case Kind::floordiv: return floordiv(a, b);
        case Kind::ceildiv: return ceildiv(a, b);
        case Kind::mod: return mod(a, b);
        case Kind::min: return min(a, b);
        default: return max(a, b);
    }
}

std::shared_ptr<PlainSize> random_size(std::mt19937_64& random, int symbols, int depth, bool functions) {
    auto size = std::make_shared<PlainSize>();
    if (depth == 0 || below(random, 6) == 0) {
        if (below(random, 2) == 0) {
            size->value = below(random, 13) - 4;
        } else {
            size->kind = PlainSize::Kind::symbol;
            size->value = below(random, symbols);
        }
        return size;
    }
    size->kind = static_cast<PlainSize::Kind>(2 + below(random, functions ? 8 : 3));
    size->left = random_size(random, symbols, depth - 1, functions);
    size->right = random_size(random, symbols, depth - 1, functions);
    return size;
}

std::vector<std::vector<std::int64_t>> all_values(const std::vector<Symbols::Symbol>& symbols) {
    std::vector<std::vector<std::int64_t>> result = {{}};
    for (const auto& symbol : symbols) {
        std::vector<std::vector<std::int64_t>> longer;
        for (const auto& values : result) {
            for (auto value = symbol.low; value <= symbol.high; ++value) {
                longer.push_back(values);
                longer.back().push_back(value);
            }
        }
        result = std::move(longer);
    }
    return result;
}

}  // namespace cairn::test
