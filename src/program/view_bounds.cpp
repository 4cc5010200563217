#include "program/view_bounds.hpp"

#include "graph/types/dim_table.hpp"
#include "graph/types/polynomial_division.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace cairn::program {
namespace {

using detail::DimTable;
using detail::Division;
using detail::Polynomial;

// Maximum number of inequalities tried: by the cheap proof, and by the full proof, which takes much longer.
constexpr int max_by_algebra = 256, max_by_full_proof = 64;

Polynomial number(std::int64_t value) { return Polynomial::constant(value); }

/// The products of the last 1, 2, ... sizes: the strides of a dense buffer, except the innermost 1.
std::vector<Polynomial> suffix_products(std::span<const Dim> sizes) {
    std::vector<Polynomial> products;
    Polynomial product = number(1);
    for (std::size_t i = sizes.size(); i-- > 0;) {
        product = multiply(product, DimTable::polynomial(sizes[i]));
        products.push_back(product);
    }
    return products;
}

class EndProof {
public:
    EndProof(const ViewRegion& region, NonnegativeProver& prover)
        : prover_(prover), buffer_(suffix_products(region.buffer)) {
        splits_ = buffer_;
        for (const Dim& stride : region.strides) splits_.push_back(DimTable::polynomial(stride));
    }

    bool holds(const ViewRegion& region, const Dim& slack, const Dim& slack_stride) {
        Inequality whole{buffer_.empty() ? number(1) : buffer_.back(), DimTable::polynomial(region.offset), {}};
        for (std::size_t i = 0; i < region.sizes.size(); ++i) add_axis(whole, region.sizes[i] - 1, region.strides[i]);
        add_axis(whole, slack, slack_stride);
        for (const bool by_full_proof : {false, true}) {
            full_proof_ = by_full_proof;
            left_ = by_full_proof ? max_by_full_proof : max_by_algebra;
            if (is_within(whole)) return true;
        }
        return false;
    }

private:
    struct Axis {
        Polynomial last, stride;  ///< index of the last element
    };
    /// The inequality offset + sum last * stride <= count - 1.
    struct Inequality {
        Polynomial count, offset;
        std::vector<Axis> axes;
    };

    static void add_axis(Inequality& side, const Dim& last, const Dim& stride) {
        if (last == Dim(0) || stride == Dim(0)) return;
        side.axes.push_back({DimTable::polynomial(last), DimTable::polynomial(stride)});
    }

    bool is_proved(const Polynomial& nonnegative) {
        const Dim size = DimTable::dim(prover_.symbols(), nonnegative);
        return full_proof_ ? prover_.proved(size) : prover_.proved_by_algebra(size);
    }

    bool is_within(const Inequality& side) {
        if (left_-- <= 0) return false;
        Polynomial rest = subtract(subtract(side.count, number(1)), side.offset);
        for (const Axis& axis : side.axes) rest = subtract(rest, multiply(axis.last, axis.stride));
        // The full proof comes after the splits: on many axes it takes long to fail.
        if (!full_proof_ && is_proved(rest)) return true;
        for (const Polynomial& split : splits_)
            if (is_within_by(side, split)) return true;
        return full_proof_ && is_proved(rest);
    }

    bool is_within_by(const Inequality& side, const Polynomial& split) {
        if (split.is_zero() || split == number(1)) return false;
        const Division counts = detail::divide(side.count, split);
        if (!counts.remainder.is_zero() || counts.quotient == number(1) || !is_proved(split)) return false;
        Inequality high{counts.quotient, {}, {}}, low{split, {}, {}};
        for (const Axis& axis : side.axes) {
            const Division stride = detail::divide(axis.stride, split);
            if (!stride.quotient.is_zero()) high.axes.push_back({axis.last, stride.quotient});
            if (!stride.remainder.is_zero()) low.axes.push_back({axis.last, stride.remainder});
        }
        // Divisions of N*M - 1 by M: quotient N and remainder -1, N - 1 and M - 1, or 0 and N*M - 1.
        const Division begin = detail::divide(side.offset, split);
        const std::array offsets{begin, Division{subtract(begin.quotient, number(1)), add(begin.remainder, split)},
                                 Division{{}, side.offset}};
        return std::any_of(offsets.begin(), offsets.end(), [&](const Division& offset) {
            high.offset = offset.quotient;
            low.offset = offset.remainder;
            return is_within(high) && is_within(low);
        });
    }

    NonnegativeProver& prover_;
    std::vector<Polynomial> buffer_, splits_;
    bool full_proof_ = false;
    int left_ = 0;  // inequalities that may still be tried
};

}  // namespace

bool begins_within(const ViewRegion& region, NonnegativeProver& prover) {
    if (prover.proved(region.offset)) return true;
    try {
        Polynomial rest = DimTable::polynomial(region.offset);
        const std::vector<Polynomial> strides = suffix_products(region.buffer);
        for (auto stride = strides.rbegin(); stride != strides.rend(); ++stride) {
            if (stride->is_zero()) continue;
            const Division division = detail::divide(rest, *stride);
            const auto proved = [&](const Polynomial& size) {
                return prover.proved(DimTable::dim(prover.symbols(), size));
            };
            if (division.quotient.is_zero() || !proved(*stride) || !proved(division.quotient)) continue;
            rest = division.remainder;
            if (proved(rest)) return true;
        }
    } catch (const detail::SizeOverflow&) {}  // not proved
    return false;
}

bool ends_within(const ViewRegion& region, NonnegativeProver& prover, const Dim& slack, const Dim& slack_stride) {
    try {
        return EndProof(region, prover).holds(region, slack, slack_stride);
    } catch (const detail::SizeOverflow&) { return false; } catch (const Error&) {
        return false;
    }  // a number that does not fit into 64 bits
}

}  // namespace cairn::program
