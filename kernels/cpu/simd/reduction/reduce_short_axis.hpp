#pragma once

#include "kernels/cpu/simd/reduction/reduce_loop_nest.hpp"
#include "kernels/cpu/simd/vector/lane_shuffles.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

/// Reduces many small planes along one axis by transposing them, so that each lane reduces its own planes. The
/// transposes depend only on the element size, not on the dtype.
namespace CAIRN_LEVEL {

/// As many pieces as a vector has lanes, each of `together` planes [length, width], chosen so that squares are nearly
/// full.
template <typename T>
struct ShortPieces {
    static constexpr int n = vec_lanes<T>;
    std::int64_t length, width, together = 1;

    explicit ShortPieces(const ReduceLoopNest& walk) : length(walk.terms), width(walk.plane_width) {
        for (std::int64_t more = 2; more * plane() <= max_plane_elements && more * n <= walk.planes; ++more)
            if (squares(more) * together < squares(together) * more) together = more;
    }
    std::int64_t plane() const { return length * width; }
    std::int64_t elements() const { return together * plane(); }
    std::int64_t results() const { return together * width; }
    std::int64_t planes() const { return n * together; }

private:
    std::int64_t squares(std::int64_t of) const { return (of * plane() + n - 1) / n; }
};

/// rows[e][lane] = from[lane * piece + e] for e < piece. May read up to a vector past the last piece.
template <typename Bits>
[[gnu::noinline]] void transpose_to_lanes(Bits* rows, const Bits* from, std::int64_t piece) {
    constexpr int n = vec_lanes<Bits>;
    for (std::int64_t i = 0; i < piece; i += n)
        transpose_square<Vec<Bits>>([&](int r) { return vec_load(from + r * piece + i); },
                                    [&](int e, Vec<Bits> x) {
                                        if (i + e < piece) vec_store(rows + (i + e) * n, x);
                                    });
}
/// The inverse. May write up to a vector past the last piece; later pieces overwrite the excess.
template <typename Bits>
[[gnu::noinline]] void transpose_to_pieces(Bits* to, const Bits* rows, std::int64_t piece) {
    constexpr int n = vec_lanes<Bits>;
    for (std::int64_t i = (piece - 1) / n * n; i >= 0; i -= n)
        transpose_square<Vec<Bits>>([&](int e) { return i + e < piece ? vec_load(rows + (i + e) * n) : Vec<Bits>{}; },
                                    [&](int r, Vec<Bits> x) { vec_store(to + r * piece + i, x); });
}
template <std::size_t bytes>
using BitsOf = std::conditional_t<bytes == 8, std::uint64_t, std::uint32_t>;

/// The buffers of a team member.
template <typename Reducer>
struct ShortReductions {
    using T = typename Reducer::Element;
    using Out = typename Reducer::Out;
    using Bits = BitsOf<sizeof(T)>;
    static_assert(sizeof(Out) == sizeof(T));
    static constexpr int n = vec_lanes<T>;
    alignas(64) T loaded[n * (max_plane_elements + 1)] = {};
    alignas(64) T rows[n * max_plane_elements];
    alignas(64) Out folded[n * max_plane_elements / 2], results[n * (max_plane_elements / 2 + 1)];

    /// Reduces the pieces at `x` to `results`, piece after piece.
    void fold(const T* x, const ShortPieces<T>& pieces) {
        transpose_to_lanes(reinterpret_cast<Bits*>(rows), reinterpret_cast<const Bits*>(x), pieces.elements());
        const std::int64_t step = pieces.width * n;
        for (std::int64_t i = 0; i < pieces.together; ++i)
            for (std::int64_t j = 0; j < pieces.width; ++j)
                vec_store(folded + (i * pieces.width + j) * n,
                          reduce_down(rows + (i * pieces.plane() + j) * n, step, pieces.length));
        transpose_to_pieces(reinterpret_cast<Bits*>(results), reinterpret_cast<const Bits*>(folded), pieces.results());
    }

private:
    /// In two independent halves.
    CAIRN_INLINE static Vec<Out> reduce_down(const T* x, std::int64_t step, std::int64_t length) {
        const std::int64_t half = length / 2;
        typename Reducer::LaneAccumulator first, second;
        for (std::int64_t i = 0; i < half; ++i) {
            first.accumulate(vec_load(x + i * step), i);
            second.accumulate(vec_load(x + (half + i) * step), half + i);
        }
        if (2 * half < length) second.accumulate(vec_load(x + 2 * half * step), 2 * half);
        first.combine(second);
        return first.result();
    }
};

}  // namespace CAIRN_LEVEL
