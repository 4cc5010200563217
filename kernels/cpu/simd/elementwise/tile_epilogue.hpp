#pragma once

#include "cairn/args.hpp"
#include "kernels/cpu/level.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

/// Runs a Body on parts of a matrix: what follows a product is done to each part of it as soon as its sums are there,
/// while they are in the first-level cache.
namespace CAIRN_LEVEL {

/// A part of the outputs, whose leading axes count as rows and whose last ones as columns. The blocks of its values
/// hold `pitch` elements a row, of which the first `width` count; no more rows than fit into a block.
struct OutputTile {
    std::int64_t row, height, column, width, pitch;
};

class TileEpilogue {
public:
    /// The first `given` inputs of the body are blocks that each part brings with it; then come `inputs`, which have
    /// the shape of the outputs. The last `axes` axes of all are columns. `memory`: BlockProgram::bytes_per_member()
    /// bytes. All must outlive it.
    TileEpilogue(const BlockProgram& body, int given, const TensorArg* inputs, const TensorArg* outputs,
                 std::byte* memory, int axes = 1) noexcept;

    /// An output that holds columns from `first` on, its last `axes` axes being those; told before the first part.
    void holds(int output, std::int64_t first, int axes) noexcept;

    /// Has the cache lines of a part fetched that run() will read and write in memory.
    void prefetch(const OutputTile& part) const noexcept;

    /// Computes a part; `blocks`: those given, which may be written to.
    void run(const OutputTile& part, void* const* blocks) noexcept;

private:
    struct Operand {
        TensorArg arg;
        DType dtype;
        bool is_element;          ///< one for all: its block is filled once
        bool is_row;              ///< one row for all rows
        bool is_column;           ///< one element for all columns of a row
        bool is_uniform;          ///< rows lie at one distance
        std::int64_t row_stride;  ///< that distance, or that of rows within the innermost axis of rows
        std::int64_t rows_in_run;
        std::int64_t bytes;                ///< of an element
        std::int64_t block_element_bytes;  ///< of one in its block
        std::int64_t first, end;           ///< the columns it holds
        std::int64_t run;                  ///< of these so many follow each other at one distance
        std::int64_t run_stride;           ///< that distance
        int axes, run_axes;                ///< the last ones, which are its columns, and which are a run

        void set_columns(std::int64_t from, int last_axes) noexcept;
        bool is_one_run() const noexcept { return run == end - first; }
        /// Whether rows of a part lie at `row_stride`.
        bool has_even_rows(const OutputTile& part) const noexcept {
            return is_uniform || part.row % rows_in_run + part.height <= rows_in_run;
        }
        /// How many columns follow each other at one distance from this one on.
        std::int64_t run_from(std::int64_t column) const noexcept;
        /// Whether it holds the columns of a part, which follow each other at one distance.
        bool has_run(const OutputTile& part) const noexcept {
            return part.column >= first && part.column < end && run_from(part.column) >= part.width;
        }
        std::byte* at(std::int64_t row, std::int64_t column) const noexcept;
    };

    static Operand operand_of(const TensorArg& arg, DType dtype, int axes) noexcept;
    std::byte* block(std::int64_t place) const noexcept { return memory_ + place * body_.block_bytes; }
    void start() noexcept;
    void load_rows(const Operand& from, const OutputTile& part, std::byte* block) const noexcept;
    void load_all(const Operand& from, const OutputTile& part, std::byte* block) const noexcept;
    void store_rows(const Operand& to, const OutputTile& part, const std::byte* block) const noexcept;
    void store_held(const Operand& to, const OutputTile& part, const std::byte* block) const noexcept;
    /// Where a part of one row stands in memory as its block would; else null.
    static std::byte* memory_of(const Operand& operand, const OutputTile& part) noexcept;

    const BlockProgram& body_;
    int given_;
    std::byte* memory_;
    Operand operands_[max_body_inputs + max_body_outputs];  ///< by input, then by output
    bool has_started_ = false;
    std::int64_t filled_column_ = 0, filled_width_ = 0, filled_rows_ = 0;  ///< of the inputs that are one row
    std::int64_t filled_row_ = -1, filled_height_ = 0, filled_columns_ = 0, filled_pitch_ = 0;  ///< of one column
};

}  // namespace CAIRN_LEVEL
