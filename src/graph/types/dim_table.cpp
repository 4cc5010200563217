#include "graph/types/dim_table.hpp"

#include "graph/types/hash.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::detail {

namespace {

// Limit of nesting, so that recursion over functions needs little stack.
constexpr std::uint32_t max_depth = 64;

std::size_t hash_of(const Polynomial& polynomial) noexcept {
    std::size_t seed = polynomial.terms.size();
    for (const auto& term : polynomial.terms) {
        types::hash_combine(seed, static_cast<std::size_t>(term.coefficient));
        for (const auto* atom : term.factors) types::hash_combine(seed, std::hash<const void*>{}(atom));
    }
    return seed;
}

std::uint32_t symbols_needed(const Polynomial& polynomial) noexcept {
    std::uint32_t needed = 0;
    for (const auto& term : polynomial.terms) {
        for (const auto* atom : term.factors) needed = std::max(needed, atom->symbols_needed);
    }
    return needed;
}

std::uint32_t depth_of(const Polynomial& polynomial) noexcept {
    std::uint32_t depth = 0;
    for (const auto& term : polynomial.terms) {
        for (const auto* atom : term.factors) depth = std::max(depth, atom->depth);
    }
    return depth;
}

Interval bounds_of(AtomKind kind, const std::vector<Polynomial>& args) {
    Interval result = bounds(args[0]);
    for (std::size_t i = 1; i < args.size(); ++i) {
        const Interval next = bounds(args[i]);
        switch (kind) {
            case AtomKind::floordiv: result = quotient_bounds(result, next); break;
            case AtomKind::mod: result = remainder_bounds(result, next); break;
            case AtomKind::min: result = interval_min(result, next); break;
            case AtomKind::max: result = interval_max(result, next); break;
            case AtomKind::symbol: break;
        }
    }
    return result;
}

}  // namespace

std::size_t DimTable::HashAtom::operator()(const Atom& atom) const noexcept {
    auto seed = static_cast<std::size_t>(atom.kind);
    for (const auto& arg : atom.args) types::hash_combine(seed, hash_of(arg));
    return seed;
}

std::size_t DimTable::HashPolynomial::operator()(const Polynomial& polynomial) const noexcept {
    return hash_of(polynomial);
}

Dim DimTable::dim(Symbols& symbols, const Polynomial& polynomial) {
    if (polynomial.is_constant()) return polynomial.constant_term();
    auto& table = of(symbols);
    const std::lock_guard lock(table.mutex_);
    const auto [entry, is_new] = table.dims_.try_emplace(polynomial);
    auto& node = entry->second;
    if (is_new) {
        const Interval range = bounds(polynomial);
        node = {&entry->first, &symbols, to_int64(range.low), to_int64(range.high), symbols_needed(polynomial)};
    }
    return Dim(std::shared_ptr<const DimNode>(symbols.shared_from_this(), &node));
}

Polynomial DimTable::polynomial(const Dim& dim) {
    return dim.node() == nullptr ? Polynomial::constant(dim.constant()) : *dim.node()->polynomial;
}

std::shared_ptr<Symbols> DimTable::shared(const Dim& a, const Dim& b) {
    if (a.is_constant()) return b.symbols();
    if (!b.is_constant() && a.node()->table != b.node()->table) {
        throw Error(ErrorKind::graph, "size",
                    "symbols of two different tables are combined in " + to_string(a) + " and " + to_string(b) +
                        ": only sizes of one graph may be mixed");
    }
    return a.symbols();
}

const Atom* DimTable::symbol(std::string_view name, std::int64_t low, std::int64_t high) {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_name_.find(name); known != by_name_.end()) {
        const Interval range = known->second->bounds;
        return range.low == low && range.high == high ? known->second : nullptr;
    }
    auto atom = std::make_unique<Atom>();
    atom->name = name;
    atom->index = static_cast<std::uint32_t>(symbols_.size());
    atom->symbols_needed = atom->index + 1;
    atom->bounds = {low, high};
    symbols_.push_back(std::move(atom));
    const Atom* made = symbols_.back().get();
    by_name_.emplace(made->name, made);
    return made;
}

const Atom* DimTable::find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto known = by_name_.find(name);
    return known == by_name_.end() ? nullptr : known->second;
}

std::vector<Symbols::Symbol> DimTable::list() const {
    const std::lock_guard lock(mutex_);
    std::vector<Symbols::Symbol> result;
    result.reserve(symbols_.size());
    for (const auto& atom : symbols_) {
        result.push_back({atom->name, to_int64(atom->bounds.low), to_int64(atom->bounds.high)});
    }
    return result;
}

const Atom* DimTable::function(AtomKind kind, std::vector<Polynomial> args) {
    Atom atom;
    atom.kind = kind;
    atom.bounds = bounds_of(kind, args);
    for (const auto& arg : args) {
        atom.depth = std::max(atom.depth, depth_of(arg) + 1);
        atom.symbols_needed = std::max(atom.symbols_needed, symbols_needed(arg));
    }
    if (atom.depth > max_depth) throw SizeOverflow{};
    atom.args = std::move(args);
    const std::lock_guard lock(mutex_);
    return &*functions_.insert(std::move(atom)).first;
}

}  // namespace cairn::inline v0::detail
