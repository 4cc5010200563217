#include "rewrite/normal_form/terms.hpp"

#include "graph/types/hash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cairn::normal_form {
namespace {

using types::hash_combine;

constexpr std::size_t min_block = 64, max_block = 4096;  // parts in one block

std::size_t address_hash(const void* address) { return std::hash<const void*>{}(address); }

// Ignores floating-point numbers, which are equal within a tolerance.
std::size_t hash_of(const Attributes& attributes) {
    std::size_t seed = attributes.size();
    for (const Attribute& attribute : attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) hash_combine(seed, *list);
    return seed;
}

// Ignores parts too.
std::size_t hash_without_parts(const Term& term) {
    std::size_t seed = (static_cast<std::size_t>(term.kind) * 64 + static_cast<std::size_t>(term.op)) * 16 +
                       static_cast<std::size_t>(term.dtype);
    hash_combine(seed, term.node);
    hash_combine(seed, term.values.size());
    hash_combine(seed, address_hash(term.shape));
    if (!term.attributes->empty()) hash_combine(seed, hash_of(*term.attributes));
    return seed;
}

// Approximate log2. The bits of a positive number, read as an integer, grow like its logarithm to the base 2, linearly
// from one power of 2 to the next: numbers equal within 1e-6 have logarithms within 2e-6 of each other.
double logarithm_of(double number) {
    constexpr std::uint64_t bits_of_one = 0x3ff0000000000000U;
    return static_cast<double>(static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(number) - bits_of_one)) * 0x1p-52;
}

// Position of a term's numbers on a logarithmic scale that is divided into cells. Terms that differ in one number alone
// are as far apart as the logarithms of that number, however small it is relative to the others. Terms equal within the
// tolerance lie in one cell or in two adjacent ones.
class Numbers {
public:
    explicit Numbers(double number) {
        add(number);
        measure();
    }
    explicit Numbers(const Term& term) {
        for (const ScaledTerm& part : term.parts) add(part.factor);
        for (const double value : term.values) add(value);
        for (const Attribute& attribute : *term.attributes)
            if (const auto* number = std::get_if<double>(&attribute.value)) add(*number);
        measure();
    }
    /// The cell at a distance of `tolerances` tolerances.
    std::size_t cell(double tolerances) const { return static_cast<std::size_t>(position_ + tolerances * tolerance_); }

private:
    // A number's index in the term gives its weight: terms whose numbers are swapped, or have equal products, differ.
    void add(double number) {
        if (number == 0 || !std::isfinite(number)) return;
        weight_ = weight_ % 4 + 1;
        position_ += weight_ * logarithm_of(std::fabs(number));
        tolerance_ += weight_ * 4e-6;  // twice what is needed
    }
    // Converts the position to cells; positions are positive.
    void measure() {
        const double width = std::max(0x1p-12, 8 * tolerance_);
        position_ = position_ / width + 0x1p40;
        tolerance_ /= width;
    }
    double position_ = 0, tolerance_ = 0;
    int weight_ = 0;
};

bool same_attributes(const Attributes& a, const Attributes& b, DType dtype) {
    return &a == &b || std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Attribute& x, const Attribute& y) {
        const auto *p = std::get_if<double>(&x.value), *q = std::get_if<double>(&y.value);
        return x.name == y.name && (p != nullptr && q != nullptr ? close(*p, *q, dtype) : x.value == y.value);
    });
}

}  // namespace

ToleranceCells cells_of(const ScaledTerm& value) {
    const Numbers number(value.factor);
    const auto key = [&](double sign) { return types::hash_combined(value.core, number.cell(sign)); };
    return {key(-1), key(0), key(1)};
}

bool close(double a, double b, DType dtype) noexcept {
    if (a == b) return true;
    if (!is_float(dtype)) return false;
    if (!std::isfinite(a) || !std::isfinite(b)) return std::isnan(a) && std::isnan(b);
    const double tolerance = dtype == DType::f64 ? 1e-14 : 1e-6;
    return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

Terms::Terms() : attributes_(1) { keep({}); }

bool Terms::same(const ScaledTerm& a, const ScaledTerm& b) const noexcept {
    return a.core == b.core && close(a.factor, b.factor, (*this)[a.core].dtype);
}

bool Terms::same_term(const Term& a, const Term& b) const {
    const auto same_part = [&](const ScaledTerm& x, const ScaledTerm& y) { return same(x, y); };
    const auto same_value = [&](double x, double y) { return close(x, y, a.dtype); };
    return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.node == b.node && a.shape == b.shape &&
           std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same_part) &&
           std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same_value) &&
           same_attributes(*a.attributes, *b.attributes, a.dtype);
}

std::size_t Terms::structure_of(const Term& term, std::size_t hash) const {
    const bool is_number = term.kind == TermKind::one || (term.values.size() == 1 && term.shape->empty());
    if (is_number) return static_cast<std::size_t>(term.dtype);
    std::size_t sum = 0;
    const bool is_ordered = term.kind == TermKind::op && !ir::info(term.op).has(ir::OpTrait::commutes);
    for (const ScaledTerm& part : term.parts) {
        if (is_ordered) hash_combine(hash, structures_[part.core]);
        std::size_t spread = term.parts.size();
        hash_combine(spread, structures_[part.core]);
        sum += spread;
    }
    hash_combine(hash, sum);
    return hash;
}

Term Terms::draft(TermKind kind, DType dtype, const Shape* shape) const {
    Term term;
    term.kind = kind;
    term.dtype = dtype;
    term.shape = shape;
    term.attributes = &attributes_.front();
    return term;
}

TermId Terms::intern(const Term& draft) {
    const std::size_t outline = hash_without_parts(draft);
    std::size_t hash = outline;
    for (const ScaledTerm& part : draft.parts) hash_combine(hash, part.core);
    const Numbers numbers(draft);
    const auto key = [&](double sign) { return types::hash_combined(hash, numbers.cell(sign)); };
    const std::size_t low = key(-1), high = key(1);
    const TermId id = this->size();
    TermId known = id;
    const auto compare = [&](TermId other) {
        if (other < known && same_term((*this)[other], draft)) known = other;
    };
    index_.each(low, compare);
    if (low != high) index_.each(high, compare);
    if (known != id) return known;

    structures_.push_back(structure_of(draft, outline));
    if (id % block_size == 0) blocks_.push_back(std::make_unique<Term[]>(block_size));
    Term& term = blocks_.back()[id % block_size];
    term = draft;
    term.whole = {1, id};
    term.parts = stored(draft.parts);
    term.attributes = stored(draft.attributes);
    if (!draft.values.empty()) term.values = values_.emplace_back(draft.values.begin(), draft.values.end());
    index_.add(key(0), id);
    return id;
}

const Shape* Terms::keep(const Shape& shape) {
    std::size_t hash = 0;
    hash_combine(hash, shape);
    const Shape* kept = nullptr;
    shape_index_.each(hash, [&](std::uint32_t at) {
        if (shapes_[at] == shape) kept = &shapes_[at];
    });
    if (kept != nullptr) return kept;
    shape_index_.add(hash, static_cast<std::uint32_t>(shapes_.size()));
    return &shapes_.emplace_back(shape);
}

std::span<const ScaledTerm> Terms::stored(std::span<const ScaledTerm> parts) {
    if (parts.size() > free_parts_.size()) {
        const std::size_t usual = std::min(max_block, min_block << std::min<std::size_t>(part_blocks_.size(), 8));
        const std::size_t size = std::max(usual, parts.size());
        part_blocks_.push_back(std::make_unique<ScaledTerm[]>(size));
        free_parts_ = {part_blocks_.back().get(), size};
    }
    std::copy(parts.begin(), parts.end(), free_parts_.begin());
    const std::span<const ScaledTerm> result = free_parts_.first(parts.size());
    free_parts_ = free_parts_.subspan(parts.size());
    return result;
}

const Attributes* Terms::stored(const Attributes* attributes) {
    if (attributes->empty()) return &attributes_.front();
    const std::size_t hash = hash_of(*attributes);
    const auto [first, last] = attribute_index_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (*it->second == *attributes) return it->second;
    return attribute_index_.emplace(hash, &attributes_.emplace_back(*attributes))->second;
}

}  // namespace cairn::normal_form
