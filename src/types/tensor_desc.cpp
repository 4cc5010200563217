#include "cairn/problem.hpp"
#include "types/dense.hpp"

#include <utility>

namespace cairn::inline v0 {

bool types::are_dense(const Shape& shape, const std::vector<Dim>& strides) {
    Dim step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        if (shape[axis] == Dim(1)) continue;
        if (!(strides[axis] == step)) return false;
        step = step * shape[axis];
    }
    return true;
}

TensorDesc TensorDesc::dense(DType dtype, Shape shape) {
    TensorDesc tensor;
    tensor.dtype = dtype;
    tensor.strides = dense_strides(shape);
    tensor.shape = std::move(shape);
    return tensor;
}

bool TensorDesc::is_dense() const {
    return layout.empty() && strides.size() == shape.size() && types::are_dense(shape, strides);
}

}  // namespace cairn::inline v0
