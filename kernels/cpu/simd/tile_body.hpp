#pragma once

#include "cairn/args.hpp"
#include "kernels/cpu/level.hpp"
#include "kernels/cpu/simd/body.hpp"

/// Runs a Body on parts of a matrix: what follows a product is done to each part of it as soon as its sums are there,
/// while they are in the first-level cache.
namespace CAIRN_LEVEL {

/// A part of the outputs, whose leading axes count as rows. The blocks of its values hold `pitch` elements a row, of
/// which the first `width` count; no more rows than fit into a block.
struct MatrixPart {
    std::int64_t row, height, column, width, pitch;
};

class TileBody {
public:
    /// The first `given` inputs of the body are blocks that each part brings with it; then come `inputs`, which have
    /// the shape of the outputs, or one row of it. `memory`: Body::bytes_per_member() bytes. All must outlive it.
    TileBody(const Body& body, int given, const TensorArg* inputs, const TensorArg* outputs,
             std::byte* memory) noexcept;

    /// An output that holds columns from `first` on, its last `axes` axes being those; told before the first part.
    void holds(int output, std::int64_t first, int axes) noexcept;

    /// Computes a part; `blocks`: those given, which may be written to.
    void run(const MatrixPart& part, void* const* blocks) noexcept;

private:
    struct Operand {
        TensorArg arg;
        DType dtype;
        bool is_element;          ///< one for all: its block is filled once
        bool is_row;              ///< one row for all rows
        bool is_uniform;          ///< rows lie at one distance
        std::int64_t row_stride;  ///< that distance
        std::int64_t bytes;       ///< of an element
        std::int64_t slot_bytes;  ///< of one in its block
        std::int64_t first, end;  ///< the columns it holds
        int axes;                 ///< the last ones, which are its columns

        /// How many columns follow each other at one distance from this one on.
        std::int64_t run_from(std::int64_t column) const noexcept;
        std::byte* at(std::int64_t row, std::int64_t column) const noexcept;
    };

    static Operand operand_of(const TensorArg& arg, DType dtype) noexcept;
    std::byte* block(std::int64_t place) const noexcept { return memory_ + place * body_.block_bytes; }
    void start() noexcept;
    void load_rows(const Operand& from, const MatrixPart& part, std::byte* block) const noexcept;
    void store_rows(const Operand& to, const MatrixPart& part, const std::byte* block) const noexcept;
    void store_held(const Operand& to, const MatrixPart& part, const std::byte* block) const noexcept;
    /// Where a part of one row stands in memory as its block would; else null.
    static std::byte* memory_of(const Operand& operand, const MatrixPart& part) noexcept;

    const Body& body_;
    int given_;
    std::byte* memory_;
    Operand operands_[max_body_inputs + max_body_outputs];  ///< by input, then by output
    bool has_started_ = false;
    std::int64_t filled_column_ = 0, filled_rows_ = 0;  ///< of the inputs that are one row
};

}  // namespace CAIRN_LEVEL
