#include "random_model.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"

#include <random>

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
    // Factors of a weight, multiplied from one end or the other.
    Tensor in_a_row(const Tensor& x, int columns) {
        const int rank = 1 + any(width + 1);
        const Tensor down = matrix(width, rank), up = matrix(rank, columns);
        return any(2) ? matmul(matmul(x, down), up) : matmul(x, matmul(down, up));
    }
    // Now and then the first row beside each row of a table.
    Tensor repeated(const Tensor& x) {
        return x.rank() == 3 && any(6) == 0 ? slice(x, 1, 0, 1) + weight({3, width}) : x;
    }
    // A layer and what adapts it.
    Tensor adapted(const Tensor& x, const Tensor& y, int columns) {
        Tensor low = any(3) ? in_a_row(x, columns) : matmul(x, matrix(width, columns));
        if (any(2)) low = low * 0.25;
        return any(3) ? y + low : y - low;
    }
    Tensor product(const Tensor& x, int columns, bool biased) {
        Tensor y = any(4) ? matmul(repeated(x), matrix(width, columns)) : in_a_row(x, columns);
        const bool is_adapted = any(4) == 0, first = any(2) != 0;
        if (is_adapted && first) y = adapted(x, y, columns);
        if (biased) y = y + row(columns);
        if (is_adapted && !first) y = adapted(x, y, columns);
        if (any(3) == 0) y = y * 0.125;
        if (any(4) == 0) y = any(2) ? y * row(columns) : y / 4.0;
        return y;
    }
    // Every product made an output too, now and then, or seen in another shape.
    Tensor next(const Tensor& before) {
        const Tensor x = normed(before);
        const bool biased = any(2) != 0, mixed = any(4) == 0;
        Tensor sum = before;
        for (int i = 1 + any(4); i > 0; --i) {
            const int columns = any(3) ? width : 1 + any(5);
            const bool is_biased = mixed ? any(2) != 0 : biased;
            const Tensor y = any(6) ? product(x, columns, is_biased) : sum_of_parts(product(x, 2 * columns, is_biased));
            if (any(6) == 0) graph_.output("out" + std::to_string(count_++), y);
            const Tensor seen = any(2) ? y : swap_axes(reshape(y, {-1, 1, columns}), 1, 2);
            if (seen.rank() == 3 && y.rank() != 3) graph_.output("seen" + std::to_string(count_++), tanh(seen));
            sum = sum + tanh(sum_of_columns(y)) * 0.5;
        }
        return sum;
    }
    static Tensor sum_of_parts(const Tensor& y) {
        const Dim half = y.dim(-1) / 2;
        return slice(y, -1, 0, half) + tanh(slice(y, -1, half, half + half));
    }
    static Tensor sum_of_columns(const Tensor& y) { return y.dim(-1) == Dim(width) ? y : sum(y, {-1}, true); }

    std::mt19937_64 random_;
    Graph graph_{"g"};
    int count_ = 0;
};

}  // namespace

Graph random_model(std::uint64_t seed) { return RandomModel(seed).make(); }

}  // namespace cairn::test
