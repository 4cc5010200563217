#include "kernels/cpu/eigen/matmul_plan.hpp"
#include "kernels/cpu/eigen/table.hpp"
#include "kernels/cpu/simd/elementwise/tile_epilogue.hpp"

// Eigen must neither abort the host's process nor start threads.
#define EIGEN_NO_DEBUG
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>

/// Batched products by Eigen's internal functions. Eigen's expressions are not used because they allocate packing
/// buffers; here the buffers are planned workspace. An epilogue overwrites the product in place, share by share.
namespace CAIRN_LEVEL {
namespace {

using Index = Eigen::Index;

// A matrix in memory: `stride` elements between rows, or between columns when it is transposed.
template <typename T>
struct Matrix {
    T* data;
    Index rows, columns, stride;
    bool is_transposed;

    T* at(Index row, Index column) const noexcept {
        return is_transposed ? data + row + column * stride : data + row * stride + column;
    }
};

template <typename T>
Matrix<T> matrix_of(const TensorArg& arg) noexcept {
    T* data = reinterpret_cast<T*>(arg.data);
    const int r = arg.rank;
    const bool by_rows = arg.strides[r - 1] == 1 || arg.shape[r - 1] == 1;
    return {data, arg.shape[r - 2], arg.shape[r - 1], by_rows ? arg.strides[r - 2] : arg.strides[r - 1], !by_rows};
}

template <typename T>
struct Blocking : Eigen::internal::level3_blocking<T, T> {
    Blocking(T* scratch, Index rows, Index columns, Index depth) noexcept {
        // A row-major result is computed as its transpose, so b is Eigen's left side.
        this->m_kc = std::min<Index>(depth, EigenBlocks::depth);
        this->m_mc = std::min<Index>(columns, EigenBlocks::columns);
        this->m_nc = std::min<Index>(rows, EigenBlocks::rows);
        this->m_blockA = scratch;
        this->m_blockB = scratch + EigenBlocks::depth * EigenBlocks::columns;
    }
};

template <typename T, int a_order, int b_order>
void gemm(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c, T* scratch) noexcept {
    Blocking<T> blocking(scratch, c.rows, c.columns, a.columns);
    Eigen::internal::general_matrix_matrix_product<Index, T, a_order, false, T, b_order, false, Eigen::RowMajor,
                                                   1>::run(c.rows, c.columns, a.columns, a.data, a.stride, b.data,
                                                           b.stride, c.data, 1, c.stride, T(1), blocking, nullptr);
}

// c = x b for one row x.
template <typename T>
void gemv(const Matrix<T>& x, const Matrix<T>& b, const Matrix<T>& c) noexcept {
    using ByColumn = Eigen::internal::const_blas_data_mapper<T, Index, Eigen::ColMajor>;
    using ByRow = Eigen::internal::const_blas_data_mapper<T, Index, Eigen::RowMajor>;
    using Eigen::internal::general_matrix_vector_product;
    if (b.is_transposed)
        general_matrix_vector_product<Index, T, ByRow, Eigen::RowMajor, false, T, ByColumn, false>::run(
            b.columns, b.rows, ByRow(b.data, b.stride), ByColumn(x.data, 1), c.data, 1, T(1));
    else
        general_matrix_vector_product<Index, T, ByColumn, Eigen::ColMajor, false, T, ByRow, false>::run(
            b.columns, b.rows, ByColumn(b.data, b.stride), ByRow(x.data, 1), c.data, 1, T(1));
}

// c += a b.
template <typename T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c, T* scratch) noexcept {
    if (c.rows == 0 || c.columns == 0 || a.columns == 0) return;
    if (c.rows == 1 && !a.is_transposed) return gemv(a, b, c);
    constexpr int row = Eigen::RowMajor, column = Eigen::ColMajor;
    if (a.is_transposed)
        return b.is_transposed ? gemm<T, column, column>(a, b, c, scratch) : gemm<T, column, row>(a, b, c, scratch);
    return b.is_transposed ? gemm<T, row, column>(a, b, c, scratch) : gemm<T, row, row>(a, b, c, scratch);
}

/// A range of rows, or of columns, of a product.
struct Share {
    Index row, rows, column, columns;
};

Share share_of(Index rows, Index columns, Index part, Index parts) noexcept {
    const bool by_columns = columns >= rows;
    // Borders at multiples of 16 avoid tails in the shares' inner loops.
    const Index limit = by_columns ? columns : rows, units = (limit + 15) / 16;
    const Index begin = std::min(limit, units * part / parts * 16),
                end = std::min(limit, units * (part + 1) / parts * 16);
    return by_columns ? Share{0, rows, begin, end - begin} : Share{begin, end - begin, 0, columns};
}

template <typename T>
void multiply_share(Matrix<T> a, Matrix<T> b, Matrix<T> c, const Share& share, T* scratch) noexcept {
    a.data = a.at(share.row, 0);
    b.data = b.at(0, share.column);
    c.data = c.at(share.row, share.column);
    a.rows = c.rows = share.rows;
    b.columns = c.columns = share.columns;
    for (Index i = 0; i < c.rows; ++i) std::fill(c.at(i, 0), c.at(i, 0) + c.columns, T(0));
    multiply(a, b, c, scratch);
}

// Runs the epilogue on blocks of whole rows, or on pieces of a row if a row exceeds a block.
void run_body(TileEpilogue& body, const Share& share) noexcept {
    constexpr Index few = block_size / 4;
    const Index width = std::min<Index>(share.columns, block_size),
                height = width < few && width > 0 ? block_size / width : 1;
    for (Index column = 0; column < share.columns; column += width)
        for (Index row = 0; row < share.rows; row += height) {
            const Index columns = std::min(width, share.columns - column);
            body.run({share.row + row, std::min(height, share.rows - row), share.column + column, columns, columns},
                     nullptr);
        }
}

std::int64_t batch_offset(const TensorArg& arg, const TensorArg& c, std::int64_t batch) noexcept {
    std::int64_t offset = 0;
    for (int axis = c.rank - 3; axis >= 0; --axis) {
        // A matrix given once (the weight of `linear`) is used for every batch.
        if (arg.rank == c.rank) offset += batch % c.shape[axis] * arg.strides[axis];
        batch /= c.shape[axis];
    }
    return offset;
}

bool rows_are_uniform(const TensorArg& arg) noexcept {
    for (int i = arg.rank - 3; i >= 0; --i)
        if (arg.strides[i] != arg.strides[i + 1] * arg.shape[i + 1]) return false;
    return true;
}

bool is_repeated(const TensorArg& b, int rank) noexcept {
    for (int i = 0; i < b.rank - 2 && b.rank == rank; ++i)
        if (b.strides[i] != 0 && b.shape[i] != 1) return false;
    return true;
}

/// Inputs of the epilogue: the product, then the kernel inputs after its two operands.
BodyInputs body_inputs(const Args& args, const EigenPlan& plan) noexcept {
    BodyInputs inputs{};
    if (!plan.is_fused) return inputs;
    inputs.list[0] = args.outputs[0];
    for (int i = 1; i < plan.body.input_count; ++i) inputs.list[i] = args.inputs[1 + i];
    return inputs;
}

template <typename T>
void run(const Args& args, Team& team) {
    const EigenPlan& plan = *static_cast<const EigenPlan*>(args.prepared);
    const TensorArg &a_arg = args.inputs[0], &b_arg = args.inputs[1], &c_arg = args.outputs[0];
    Matrix<T> a = matrix_of<T>(a_arg), b = matrix_of<T>(b_arg), c = matrix_of<T>(c_arg);
    std::int64_t batches = 1;
    for (int i = 0; i < c_arg.rank - 2; ++i) batches *= c_arg.shape[i];
    if (batches > 1 && is_repeated(b_arg, c_arg.rank) && !a.is_transposed && rows_are_uniform(a_arg) &&
        rows_are_uniform(c_arg)) {
        a.rows = c.rows = a.rows * batches;
        batches = 1;
    }
    T* scratch = reinterpret_cast<T*>(args.workspace) + EigenBlocks::elements * team.rank();
    const BodyInputs inputs = body_inputs(args, plan);
    std::byte* const blocks =
        reinterpret_cast<std::byte*>(reinterpret_cast<T*>(args.workspace) + EigenBlocks::elements * plan.threads);
    TileEpilogue body(plan.body, 0, inputs.list, args.outputs, blocks + plan.body.bytes_per_member() * team.rank());
    // With few batches each product is split into one share per thread of the plan, whatever the size of the team; with
    // many, each task is a whole product.
    const std::int64_t parts = batches >= plan.threads ? 1 : plan.threads;
    for (std::int64_t task = team.next_chunk(); task < batches * parts; task = team.next_chunk()) {
        const std::int64_t batch = task / parts;
        Matrix<T> a1 = a, b1 = b, c1 = c;
        if (batches > 1) {
            a1.data += batch_offset(a_arg, c_arg, batch);
            b1.data += batch_offset(b_arg, c_arg, batch);
            c1.data += batch_offset(c_arg, c_arg, batch);
        }
        Share share = share_of(c.rows, c.columns, task % parts, parts);
        multiply_share(a1, b1, c1, share, scratch);
        share.row += batch * c.rows;
        if (plan.is_fused) run_body(body, share);
    }
}

}  // namespace

void eigen_matmul(const Args& args, Team& team) {
    if (static_cast<const EigenPlan*>(args.prepared)->is_f64)
        run<double>(args, team);
    else
        run<float>(args, team);
}

}  // namespace CAIRN_LEVEL
