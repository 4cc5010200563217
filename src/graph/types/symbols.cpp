#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "graph/types/dim_table.hpp"
#include "graph/types/identifier_chars.hpp"

namespace cairn::inline v0 {

namespace {

constexpr std::array<std::string_view, 5> reserved = {"floordiv", "ceildiv", "mod", "min", "max"};

using types::is_digit, types::is_letter;

bool is_well_formed(std::string_view name) {
    if (name.empty() || !is_letter(name[0])) return false;
    if (std::find(reserved.begin(), reserved.end(), name) != reserved.end()) return false;
    return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
    throw Error(ErrorKind::graph, "symbol", "'" + std::string(name) + "' " + why);
}

std::string range(std::int64_t low, std::int64_t high) {
    return "[" + std::to_string(low) + ", " + std::to_string(high) + "]";
}

/// Rewrites the polynomials of one table in terms of another's, each function once.
class Substitution {
public:
    explicit Substitution(std::span<const Dim> replacements) : replacements_(replacements) {}

    Dim operator()(const detail::Polynomial& polynomial) {
        Dim sum = 0;
        for (const auto& term : polynomial.terms) {
            Dim product = term.coefficient;
            for (const auto* atom : term.factors) product = product * of(*atom);
            sum = sum + product;
        }
        return sum;
    }

private:
    const Dim& of(const detail::Atom& atom) {
        if (atom.kind == detail::AtomKind::symbol) return replacements_[atom.index];
        if (const auto known = done_.find(&atom); known != done_.end()) return known->second;
        Dim result = (*this)(atom.args[0]);
        for (std::size_t i = 1; i < atom.args.size(); ++i) {
            const Dim next = (*this)(atom.args[i]);
            switch (atom.kind) {
                case detail::AtomKind::floordiv: result = floordiv(result, next); break;
                case detail::AtomKind::mod: result = mod(result, next); break;
                case detail::AtomKind::min: result = min(result, next); break;
                case detail::AtomKind::max: result = max(result, next); break;
                case detail::AtomKind::symbol: break;
            }
        }
        return done_.emplace(&atom, result).first->second;
    }

    std::span<const Dim> replacements_;
    std::unordered_map<const detail::Atom*, Dim> done_;
};

}  // namespace

Symbols::Symbols() : table_(std::make_unique<detail::DimTable>()) {}
Symbols::~Symbols() = default;

std::shared_ptr<Symbols> Symbols::create() { return std::shared_ptr<Symbols>(new Symbols); }

Dim Symbols::add(std::string_view name, std::int64_t low, std::int64_t high) {
    if (!is_well_formed(name)) {
        refuse(name,
               "is no name for a symbol: it takes letters, digits and _, does not begin with a digit and is not a "
               "function's name");
    }
    if (high == std::numeric_limits<std::int64_t>::max()) {
        refuse(name, "is an unbounded symbol: an upper bound is needed to plan memory");
    }
    if (low < 0) refuse(name, "has the bounds " + range(low, high) + ": a size cannot be negative");
    if (low > high)
        refuse(name, "has the bounds " + range(low, high) + ": the lower one is greater than the upper one");
    const auto* atom = table_->symbol(name, low, high);
    if (atom == nullptr) {
        const Dim known = *find(name);
        refuse(name, "has the bounds " + range(known.lower_bound(), known.upper_bound()) + " already; got " +
                         range(low, high));
    }
    return detail::DimTable::dim(*this, detail::Polynomial::atom(atom));
}

std::optional<Dim> Symbols::find(std::string_view name) const {
    const auto* atom = table_->find(name);
    if (atom == nullptr) return std::nullopt;
    // A Dim keeps its table alive and lets it grow; neither is an observable change of this table.
    return detail::DimTable::dim(const_cast<Symbols&>(*this), detail::Polynomial::atom(atom));
}

std::vector<Symbols::Symbol> Symbols::list() const { return table_->list(); }

Dim Symbols::substitute(const Dim& dim, std::span<const Dim> replacements) {
    if (dim.is_constant()) return dim;
    const auto* node = dim.node();
    if (replacements.size() < node->symbols_needed) {
        throw Error(ErrorKind::argument, "substitute",
                    to_string(dim) + " needs replacements for " + std::to_string(node->symbols_needed) +
                        " symbols; got " + std::to_string(replacements.size()));
    }
    for (const auto& replacement : replacements) {
        if (replacement.is_constant() || replacement.node()->table == this) continue;
        throw Error(ErrorKind::graph, "substitute",
                    "the replacement " + to_string(replacement) + " belongs to another symbol table");
    }
    return Substitution(replacements)(*node->polynomial);
}

}  // namespace cairn::inline v0
