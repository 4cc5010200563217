#pragma once

#include "cairn/args.hpp"
#include "kernels/cpu/level.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

/// Runs a BlockProgram as the epilogue of a product: on each tile of sums as soon as it is complete, while it is in L1.
namespace CAIRN_LEVEL {

/// A tile of the outputs, seen as a matrix: leading axes are rows, trailing axes are columns. Blocks hold `pitch`
/// elements per row, of which the first `width` are used. A tile has no more rows than fit into a block.
struct OutputTile {
    std::int64_t row, height, column, width, pitch;
};

/// The inputs of a body that are operands in memory.
struct BodyInputs {
    TensorArg list[max_body_inputs];
};

class TileEpilogue {
public:
    /// The first `given` inputs of the body are blocks passed with each tile; the others are `inputs`, which have the
    /// shape of the outputs. The last `axes` axes of all operands are columns. `memory`:
    /// BlockProgram::bytes_per_member() bytes. All arguments must outlive the object.
    TileEpilogue(const BlockProgram& body, int given, const TensorArg* inputs, const TensorArg* outputs,
                 std::byte* memory, int axes = 1) noexcept;

    /// Restricts an output to the columns from `first` on, which are its last `axes` axes. Must be called before the
    /// first tile.
    void holds(int output, std::int64_t first, int axes) noexcept;

    /// Prefetches the cache lines in memory that run() will read and write for a tile.
    void prefetch(const OutputTile& part) const noexcept;

    /// Computes a tile; `blocks`: the given inputs, which may be overwritten.
    void run(const OutputTile& part, void* const* blocks) noexcept;

private:
    struct Operand {
        TensorArg arg;
        DType dtype;
        bool is_element;          ///< a single element: its block is filled once
        bool is_row;              ///< one row for all rows
        bool is_column;           ///< one element for all columns of a row
        bool is_uniform;          ///< all rows have one stride
        std::int64_t row_stride;  ///< that stride, or the stride of rows within the innermost row axis
        std::int64_t rows_in_run;
        std::int64_t bytes;                ///< of an element in memory
        std::int64_t block_element_bytes;  ///< of an element in its block
        std::int64_t first, end;           ///< the columns it holds
        std::int64_t run;                  ///< number of consecutive columns with one stride
        std::int64_t run_stride;           ///< that stride
        int axes, run_axes;                ///< number of trailing axes that are columns, and of those that form a run

        void set_columns(std::int64_t from, int last_axes) noexcept;
        bool is_one_run() const noexcept { return run == end - first; }
        /// True if the rows of a tile have the stride `row_stride`.
        bool has_even_rows(const OutputTile& part) const noexcept {
            return is_uniform || part.row % rows_in_run + part.height <= rows_in_run;
        }
        /// Number of consecutive columns with one stride, from this column on.
        std::int64_t run_from(std::int64_t column) const noexcept;
        /// True if it holds the columns of a tile, with one stride.
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
    /// The memory of a tile of one row if it can be used in place of a block; null otherwise.
    static std::byte* memory_of(const Operand& operand, const OutputTile& part) noexcept;

    const BlockProgram& body_;
    int given_;
    std::byte* memory_;
    Operand operands_[max_body_inputs + max_body_outputs];  ///< inputs, then outputs
    bool has_started_ = false;
    std::int64_t filled_column_ = 0, filled_width_ = 0, filled_rows_ = 0;                       ///< of row inputs
    std::int64_t filled_row_ = -1, filled_height_ = 0, filled_columns_ = 0, filled_pitch_ = 0;  ///< of column inputs
};

}  // namespace CAIRN_LEVEL
