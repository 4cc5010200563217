#include "program/maximum.hpp"

#include <algorithm>
#include <queue>

namespace cairn::program {
namespace {

// Maximum number of ranges whose corners are enumerated: n ranges have 2^n corners.
constexpr std::size_t max_corner_ranges = 6;

Wide round_up(Wide value, Wide unit) {
    const Wide above = value + unit - 1;
    return above - ((above % unit) + unit) % unit;
}

/// Node of the search: a box and an upper bound of the quantity over it.
struct Part {
    Box box;
    Wide bound = 0;
    bool operator<(const Part& other) const noexcept { return bound < other.bound; }
};

class BranchAndBound {
public:
    BranchAndBound(const Quantity& quantity, const Symbols& symbols, std::span<const Polynomial> limits,
                   const MaximumOptions& options)
        : quantity_(quantity), limits_(limits), options_(options), whole_(symbols), sizes_(quantity.sizes.size()) {
        for (const Polynomial& size : quantity.sizes)
            rounds_.push_back(std::any_of(size.terms.begin(), size.terms.end(), [&](const detail::Term& term) {
                return term.coefficient % quantity.unit != 0;
            }));
    }

    Maximum run() {
        std::priority_queue<Part> open;
        examine(whole_, open);
        result_.bound = result_.found;
        while (!open.empty()) {
            const Part part = open.top();
            if (result_.legal && part.bound <= result_.found) break;
            result_.bound = part.bound;
            const bool decided = options_.enough > -detail::infinity &&
                                 (part.bound <= options_.enough || (result_.legal && result_.found > options_.enough));
            if (decided || visited_ >= options_.boxes) return result_;
            open.pop();
            Box lower = part.box, upper = part.box;
            const std::size_t split = widest(part.box);
            const Box::Range range = part.box.ranges[split];
            lower.ranges[split].high = range.low + (range.high - range.low) / 2;
            upper.ranges[split].low = lower.ranges[split].high + 1;
            examine(std::move(lower), open);
            examine(std::move(upper), open);
        }
        result_.bound = result_.found;
        return result_;
    }

private:
    void examine(Box box, std::priority_queue<Part>& open) {
        ++visited_;
        if (!narrow(box)) return;
        try_points(box);
        if (box.is_point()) return;
        const Wide bound = bound_of(box);
        if (!result_.legal || bound > result_.found) open.push({std::move(box), bound});
    }

    bool violates(const Polynomial& limit, const Box& box) const { return bounds_over(limit, box).low > 0; }

    /// Fixes symbols at maximizing ends and removes illegal values, to a fixed point. False if no values are left.
    bool narrow(Box& box) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (const Polynomial& limit : limits_)
                if (violates(limit, box)) return false;
            for (std::size_t symbol = 0; symbol < box.ranges.size(); ++symbol) {
                if (box.ranges[symbol].is_point()) continue;
                if (fix_monotone(box, symbol) || tighten(box, symbol)) changed = true;
            }
        }
        return true;
    }

    /// Fixes the symbol at an end of its range if no other value of it can give more.
    bool fix_monotone(Box& box, std::size_t symbol) const {
        bool grows = true, falls = true;
        for (const Polynomial& size : quantity_.sizes) {
            const Interval step = forward_difference_over(size, symbol, box);
            grows = grows && step.low >= 0;
            falls = falls && step.high <= 0;
            if (!grows && !falls) return false;
        }
        // A limit that may be violated in the box must not increase towards that end.
        for (const Polynomial& limit : limits_) {
            if (bounds_over(limit, box).high <= 0) continue;
            const Interval step = forward_difference_over(limit, symbol, box);
            grows = grows && step.high <= 0;
            falls = falls && step.low >= 0;
        }
        Box::Range& range = box.ranges[symbol];
        if (falls)
            range.high = range.low;
        else if (grows)
            range.low = range.high;
        return falls || grows;
    }

    /// Lowers the upper end of the symbol's range to the last value that each limit allows.
    bool tighten(Box& box, std::size_t symbol) const {
        bool changed = false;
        for (const Polynomial& limit : limits_) {
            if (forward_difference_over(limit, symbol, box).low < 0) continue;
            Box end = box;
            const auto broken_at = [&](std::int64_t value) {
                end.ranges[symbol] = {value, value};
                return violates(limit, end);
            };
            Box::Range& range = box.ranges[symbol];
            if (!broken_at(range.high) || broken_at(range.low)) continue;
            std::int64_t fine = range.low, broken = range.high;
            while (broken - fine > 1) {
                const std::int64_t middle = fine + (broken - fine) / 2;
                (broken_at(middle) ? broken : fine) = middle;
            }
            range.high = fine;
            changed = true;
        }
        return changed;
    }

    /// Tries the corners and, if there are limits, greedy points: from the lower corner, each symbol in turn rises as
    /// far as the limits allow. Each symbol goes first once.
    void try_points(const Box& box) {
        const std::vector<std::size_t> wide = wide_ranges(box);
        const std::size_t corners = std::size_t{1} << std::min(wide.size(), max_corner_ranges);
        for (std::size_t corner = 0; corner < corners; ++corner) try_point(corner_of(box, wide, corner));
        if (limits_.empty()) return;
        for (std::size_t first = 0; first < wide.size(); ++first) {
            Box point = corner_of(box, wide, 0);
            for (std::size_t i = 0; i < wide.size(); ++i) {
                const std::size_t symbol = wide[(first + i) % wide.size()];
                Box line = point;
                line.ranges[symbol] = box.ranges[symbol];
                while (tighten(line, symbol)) {}
                point.ranges[symbol].low = point.ranges[symbol].high = line.ranges[symbol].high;
            }
            try_point(point);
        }
    }

    void try_point(const Box& point) {
        for (const Polynomial& limit : limits_)
            if (violates(limit, point)) return;
        for (std::size_t i = 0; i < sizes_.size(); ++i)
            sizes_[i] = round_up(bounds_over(quantity_.sizes[i], point).high, quantity_.unit);
        const Wide value = quantity_.total(sizes_);
        if (result_.legal && value <= result_.found) return;
        result_.legal = true;
        result_.found = value;
        result_.at = point.low();
    }

    /// Upper bound of the quantity over the box: convex sizes are evaluated at its corners, other sizes are bounded
    /// over the whole box.
    Wide bound_of(const Box& box) {
        const std::vector<std::size_t> wide = wide_ranges(box);
        std::vector<Wide> flat(sizes_.size());
        std::vector<bool> convex_sizes(sizes_.size(), wide.size() <= max_corner_ranges);
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            const Polynomial& size = quantity_.sizes[i];
            for (const std::size_t symbol : wide) convex_sizes[i] = convex_sizes[i] && is_convex(size, symbol, box);
            flat[i] = round_up(bounds_over(size, best_end(size, box, wide)).high, quantity_.unit);
        }
        const bool any = std::find(convex_sizes.begin(), convex_sizes.end(), true) != convex_sizes.end();
        Wide bound = -detail::infinity;
        for (std::size_t corner = 0; corner < (any ? std::size_t{1} << wide.size() : 1); ++corner) {
            const Box point = corner_of(box, wide, corner);
            for (std::size_t i = 0; i < sizes_.size(); ++i) {
                // Rounding up is not convex: its largest increment is added everywhere instead.
                const Wide padding = rounds_[i] ? quantity_.unit - 1 : 0;
                sizes_[i] = convex_sizes[i] ? bounds_over(quantity_.sizes[i], point).high + padding : flat[i];
            }
            bound = std::max(bound, quantity_.total(sizes_));
        }
        return round_up(bound - quantity_.unit + 1, quantity_.unit);
    }

    /// The box with each symbol in which the size is monotone fixed at the end where the size is largest.
    static Box best_end(const Polynomial& size, Box box, const std::vector<std::size_t>& wide) {
        for (const std::size_t symbol : wide) {
            const Interval step = forward_difference_over(size, symbol, box);
            Box::Range& range = box.ranges[symbol];
            if (step.low >= 0)
                range.low = range.high;
            else if (step.high <= 0)
                range.high = range.low;
        }
        return box;
    }

    static std::vector<std::size_t> wide_ranges(const Box& box) {
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < box.ranges.size(); ++i)
            if (!box.ranges[i].is_point()) open.push_back(i);
        return open;
    }

    static Box corner_of(const Box& box, const std::vector<std::size_t>& wide, std::size_t corner) {
        Box point = box;
        for (std::size_t i = 0; i < wide.size(); ++i) {
            Box::Range& range = point.ranges[wide[i]];
            (corner >> i & 1 ? range.low : range.high) = corner >> i & 1 ? range.high : range.low;
        }
        return point;
    }

    /// The symbol to branch on: the one whose range changes the sizes most.
    std::size_t widest(const Box& box) const {
        std::size_t best = 0;
        Wide most = -1;
        for (const std::size_t symbol : wide_ranges(box)) {
            Wide moved = 0;
            for (const Polynomial& size : quantity_.sizes) {
                const Interval step = forward_difference_over(size, symbol, box);
                moved = std::max(moved, std::max(step.high, -step.low));
            }
            const Box::Range& range = box.ranges[symbol];
            const Wide width = Wide(range.high) - range.low;
            const Wide reach = detail::multiply({moved + 1, moved + 1}, {width, width}).high;
            if (reach > most) most = reach, best = symbol;
        }
        return best;
    }

    const Quantity& quantity_;
    std::span<const Polynomial> limits_;
    MaximumOptions options_;
    Box whole_;
    std::vector<bool> rounds_;  // per size: whether it may not be a multiple of the unit
    std::vector<Wide> sizes_;   // scratch
    Maximum result_;
    int visited_ = 0;
};

}  // namespace

Maximum maximum_of(const Quantity& quantity, const Symbols& symbols, std::span<const Polynomial> limits,
                   const MaximumOptions& options) {
    return BranchAndBound(quantity, symbols, limits, options).run();
}

}  // namespace cairn::program
