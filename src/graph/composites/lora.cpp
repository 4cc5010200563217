#include "cairn/lora.hpp"

#include "cairn/composites.hpp"
#include "graph/composites/typed_name.hpp"

#include <cmath>
#include <string>

namespace cairn::inline v0 {
namespace {

using composites::typed_name;

/// Checks what both forms have in common; a and b have `axes` axes, the last two those of the matrices.
void check(const CompositeScope& scope, const Operand& x, const Operand& w, const Operand& a, const Operand& b,
           int axes, double scale) {
    for (const Operand* each : {&x, &w, &a, &b})
        if (each->is_scalar() || each->tensor().empty()) scope.fail("x, w, a and b must be Tensors");
    const std::string text =
        typed_name("x", x) + ", " + typed_name("w", w) + ", " + typed_name("a", a) + ", " + typed_name("b", b);
    const Tensor &left = a.tensor(), &right = b.tensor();
    if (w.tensor().rank() != 2 || left.rank() != axes || right.rank() != axes || x.tensor().rank() < axes - 1)
        scope.fail(
            (axes == 2 ? "w, a and b must have two axes: " : "w must have two axes, a and b three, x two or more: ") +
            text);
    if (!(left.dim(-2) == w.tensor().dim(0)) || !(right.dim(-1) == w.tensor().dim(1)) ||
        !(left.dim(-1) == right.dim(-2)))
        scope.fail("w must be [K, N], a [K, R] and b [R, N]: " + text);
    if (axes == 3 && !(left.dim(0) == right.dim(0))) scope.fail("a and b must hold as many adapters: " + text);
    if (!std::isfinite(scale)) scope.fail("the scale must be finite");
}

Tensor scaled(const Tensor& x, double scale) { return scale == 1 ? x : x * scale; }

}  // namespace

Tensor lora(const Operand& x, const Operand& w, const Operand& a, const Operand& b, double scale) {
    const CompositeScope scope("lora", x);
    check(scope, x, w, a, b, 2, scale);
    const Tensor product = matmul(x, w);
    if (scale == 0 || a.tensor().dim(1) == Dim(0)) return product;
    return product + matmul(scaled(matmul(x, a), scale), b);
}

Tensor lora(const Operand& x, const Operand& w, const Operand& a, const Operand& b, const Operand& ids, double scale) {
    const CompositeScope scope("lora", x);
    check(scope, x, w, a, b, 3, scale);
    if (ids.is_scalar() || ids.tensor().empty()) scope.fail("ids must be a Tensor");
    const Tensor &rows = x.tensor(), &chosen = ids.tensor();
    if ((chosen.dtype() != DType::i32 && chosen.dtype() != DType::i64) || chosen.rank() != 1 ||
        !(chosen.dim(0) == rows.dim(0)))
        scope.fail("ids must be i32 or i64, one for each row of the first axis of x: " + typed_name("x", x) + ", " +
                   typed_name("ids", ids));
    const Tensor product = matmul(x, w);
    if (scale == 0 || a.tensor().dim(2) == Dim(0)) return product;

    // A row without an adapter reads that of id 0, and multiplies it by 0.
    const Tensor has_none = chosen == -1, safe = where(has_none, 0, chosen);
    // The matrices of each row, with axes of size 1 for the axes of x between the first and the last two.
    const auto of_rows = [&](const Tensor& all) {
        const Tensor own = gather(all, safe, 0);
        Shape shape = own.shape();
        if (rows.rank() > 3) shape.insert(shape.begin() + 1, static_cast<std::size_t>(rows.rank() - 3), Dim(1));
        return reshape(own, shape);
    };
    const Tensor left = rows.rank() == 2 ? unsqueeze(rows, 1) : rows;
    Tensor narrow = scaled(matmul(left, of_rows(a.tensor())), scale);
    Shape column{rows.dim(0)};
    column.resize(static_cast<std::size_t>(narrow.rank()), Dim(1));
    narrow = where(reshape(has_none, column), 0, narrow);
    const Tensor change = matmul(narrow, of_rows(b.tensor()));
    return product + reshape(change, product.shape());
}

}  // namespace cairn::inline v0
