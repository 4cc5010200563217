#include "cairn/problem.hpp"
#include "graph/types/dense_strides.hpp"

#include <utility>

namespace cairn::inline v0 {

TensorDesc TensorDesc::dense(DType dtype, Shape shape) {
    TensorDesc tensor;
    tensor.dtype = dtype;
    tensor.strides = dense_strides(shape);
    tensor.shape = std::move(shape);
    return tensor;
}

bool TensorDesc::is_dense() const {
    return layout.empty() && strides.size() == shape.size() && types::are_dense_strides(shape, strides);
}

}  // namespace cairn::inline v0

namespace cairn::types {

bool are_dense_strides(const Shape& shape, const std::vector<Dim>& strides) {
    Dim step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        if (shape[axis] == Dim(1)) continue;
        if (!(strides[axis] == step)) return false;
        step = step * shape[axis];
    }
    return true;
}

}  // namespace cairn::types
