#pragma once

#include "device/cpu/arena.hpp"

#include <chrono>
#include <cstddef>
#include <stop_token>

/// Memory that measured kernels read and write, filled once for all of them.
namespace cairn::autotune {

/// Data that is legal in every floating dtype: seeded normal numbers as bf16. Read as f32 they are normal numbers too,
/// as f16 or f64 finite ones of a like size, none of them subnormal. The same each time.
void fill_with_pattern(std::byte* data, std::size_t bytes);

/// How long memory may be filled.
struct FillOptions {
    std::stop_token stop = {};  ///< throws Cancelled within a millisecond or two
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

/// Three stretches. `streamed` is longer than what caches hold and read on and on, from where the last call left off:
/// however little a call reads, it was last touched that many bytes ago. `kept` is read at the same place by every
/// call; `written` is for results. The first two hold the pattern.
class OperandMemory {
public:
    /// `rotation`: bytes that caches do not hold; `private_cache`: bytes that a core's own do.
    OperandMemory(std::size_t rotation, std::size_t private_cache) : rotation(rotation), private_cache(private_cache) {}

    /// Makes the stretches at least this long; a streamed one as long as the rotation, or what of it there is time to
    /// fill: the next call goes on. Where one grows, its addresses are others from then on. Throws Error(memory),
    /// Cancelled.
    void reserve(std::size_t streamed, std::size_t kept, std::size_t written, const FillOptions& filling = {});

    const device::Arena& streamed() const noexcept { return streamed_; }
    /// Bytes of the streamed stretch that are filled: a round.
    std::size_t filled_bytes() const noexcept { return filled_; }
    /// Whether a round is shorter than it was to be, so that caches may hold it.
    bool is_partly_filled() const noexcept { return filled_ < streamed_.capacity(); }
    const device::Arena& kept() const noexcept { return kept_; }
    const device::Arena& written() const noexcept { return written_; }

    std::size_t rotation, private_cache;
    std::size_t cursor = 0;  ///< the byte of the streamed stretch that comes next

private:
    void fill_streamed(std::size_t least, const FillOptions& filling);

    device::Arena streamed_, kept_, written_;
    std::size_t filled_ = 0;  // of what is streamed
};

}  // namespace cairn::autotune
