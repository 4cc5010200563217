#include "random_model.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"

#include <array>
#include <random>
#include <vector>

namespace cairn::test {
namespace {

class RandomModel {
public:
    explicit RandomModel(std::uint64_t seed) : random_(seed) {}

    Graph make() {
        const Dim n = graph_.symbol("N", 0, 4);
        Tensor x = graph_.input("x", DType::f32, any(2) ? Shape{n, 3, width} : Shape{n, width});
        for (int block = 0; block < 3; ++block) x = next(x);
        graph_.output("y", x.rank() == 3 && any(2) ? slice(x, 1, any(3), 3) : x);
        return graph_;
    }

private:
    static constexpr int width = 4;

    int any(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
    Tensor weight(Shape shape) { return graph_.weight("w" + std::to_string(count_++), DType::f32, std::move(shape)); }
    Tensor matrix(int rows, int columns) {
        return any(2) ? weight({rows, columns}) : transpose(weight({columns, rows}), {1, 0});
    }
    Tensor row(int size) { return any(3) ? weight({size}) : weight({1, size}); }
    Tensor normed(const Tensor& x) {
        switch (any(5)) {
            case 0: return layer_norm(x, weight({width}), weight({width}), 0.125);
            case 1: return rms_norm(x, weight({width}), 0.125);
            case 2: return tanh(x) * row(width) - row(width);
            case 3: return tanh(x) / (weight({width}) + 4) + weight({width});
            default: return x;
        }
    }
    // A low-rank weight, multiplied from the left or from the right.
    Tensor low_rank(const Tensor& x, int columns) {
        const int rank = 1 + any(width + 1);
        const Tensor down = matrix(width, rank), up = matrix(rank, columns);
        return any(2) ? matmul(matmul(x, down), up) : matmul(x, matmul(down, up));
    }
    // Sometimes adds the first row to each row of a table.
    Tensor repeated(const Tensor& x) {
        return x.rank() == 3 && any(6) == 0 ? slice(x, 1, 0, 1) + weight({3, width}) : x;
    }
    // Concatenates two or three parts, of which one may have no columns.
    Tensor concatenated(const Tensor& x) {
        std::vector<Tensor> parts{x, slice(x * 0.5, -1, 0, any(width + 1))};
        if (any(3) == 0) parts.insert(parts.begin(), tanh(x));
        const Tensor whole = concat(parts, -1);
        if (any(4) == 0) graph_.output("beside" + std::to_string(count_++), whole);
        return whole;
    }
    // A layer and its adapter.
    Tensor with_adapter(const Tensor& x, const Tensor& y, int columns) {
        Tensor low = any(3) ? low_rank(x, columns) : matmul(x, matrix(width, columns));
        if (any(2)) low = low * 0.25;
        return any(3) ? y + low : y - low;
    }
    Tensor product(const Tensor& x, int columns, bool biased) {
        Tensor y = any(4) ? matmul(repeated(x), matrix(width, columns)) : low_rank(x, columns);
        if (any(8) == 0) {
            const Tensor whole = concatenated(x);
            y = matmul(whole, matrix(static_cast<int>(whole.dim(-1).constant()), columns));
        }
        const bool is_adapted = any(4) == 0, first = any(2) != 0;
        if (is_adapted && first) y = with_adapter(x, y, columns);
        if (biased) y = y + row(columns);
        if (is_adapted && !first) y = with_adapter(x, y, columns);
        if (any(3) == 0) y = y * 0.125;
        if (any(4) == 0) y = any(2) ? y * row(columns) : y / 4.0;
        return y;
    }
    // A few elementwise ops in any float dtype: casts, and operands that are the same for all rows.
    Tensor mapped(Tensor x) {
        constexpr std::array floats{DType::f32, DType::f16, DType::bf16, DType::f64};
        if (!is_float(x.dtype()) && any(2)) return x;
        if (!is_float(x.dtype())) x = cast(x, floats[static_cast<std::size_t>(any(4))]);
        for (int i = any(3); i > 0; --i) switch (any(5)) {
                case 0:
                case 1: x = cast(x, floats[static_cast<std::size_t>(any(4))]); break;
                case 2: x = x * 0.5; break;
                case 3: x = max(-x, 0); break;
                default: x = x + cast(row(width), x.dtype()); break;
            }
        return x;
    }
    // Rows of a narrow or wide table: gathered by an input, or the first ones.
    Tensor gathered(const Tensor& x) {
        constexpr std::array dtypes{DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8};
        const int rows = any(4) ? 5 : 1;
        const Tensor table = mapped(
            graph_.weight("table" + std::to_string(count_++), dtypes[static_cast<std::size_t>(any(5))], {rows, width}));
        if (rows == 5 && any(3) == 0) {
            const Tensor first = mapped(slice(table, 0, 0, x.dim(0)));
            return cast(x.rank() == 3 ? unsqueeze(first, 1) : first, DType::f32);
        }
        const Shape index_shape(x.shape().begin(), x.shape().end() - 1);
        const std::string name = "ids" + std::to_string(count_++) + ".below" + std::to_string(rows);
        return cast(mapped(gather(table, graph_.input(name, DType::i32, index_shape))), DType::f32);
    }
    // The last elements of a value that is stored narrow and transposed, for each element of x.
    Tensor stored(const Tensor& x) {
        Shape transposed = x.shape();
        std::swap(transposed.back(), transposed.at(transposed.size() - 2));
        transposed.at(transposed.size() - 2) = 2 * width + any(3);
        const Tensor narrow =
            graph_.input("stored" + std::to_string(count_++), any(2) ? DType::f16 : DType::bf16, transposed);
        const Tensor whole = swap_axes(cast(narrow, DType::f32), -1, -2);
        return slice(whole, -1, whole.dim(-1) - width, whole.dim(-1));
    }
    // Sometimes products are outputs too, or are read in another shape.
    Tensor next(const Tensor& before) {
        const Tensor read = any(4) ? before : before + gathered(before),
                     x = normed(any(4) ? read : read + stored(read));
        const bool biased = any(2) != 0, mixed = any(4) == 0;
        Tensor sum = before;
        for (int i = 1 + any(4); i > 0; --i) {
            const int columns = any(3) ? width : 1 + any(5);
            const bool is_biased = mixed ? any(2) != 0 : biased;
            const Tensor y =
                any(6) ? product(x, columns, is_biased) : sum_of_parts(product(x, 2 * columns + any(2), is_biased));
            if (any(6) == 0) graph_.output("out" + std::to_string(count_++), y);
            const Tensor seen = any(2) ? y : swap_axes(reshape(y, {-1, 1, columns}), 1, 2);
            if (seen.rank() == 3 && y.rank() != 3) graph_.output("seen" + std::to_string(count_++), tanh(seen));
            const Tensor selected = y.rank() == 3 && any(4) == 0 ? slice(y, 1, any(3), 3, 3) : y;
            sum = sum + tanh(sum_of_columns(selected)) * 0.5;
        }
        return sum;
    }
    Tensor sum_of_parts(const Tensor& y) {
        const Dim half = y.dim(-1) / 2;
        const Tensor last = tanh(slice(y, -1, y.dim(-1) - half, y.dim(-1)));
        return any(3) ? slice(y, -1, 0, half) + last : last;
    }
    static Tensor sum_of_columns(const Tensor& y) { return y.dim(-1) == Dim(width) ? y : sum(y, {-1}, true); }

    std::mt19937_64 random_;
    Graph graph_{"g"};
    int count_ = 0;
};

}  // namespace

Graph random_model(std::uint64_t seed) { return RandomModel(seed).make(); }

}  // namespace cairn::test
