#include <ostream>

#include "cairn/types.hpp"
#include "graph/types/text_cursor.hpp"

namespace cairn::inline v0 {

std::string to_string(const Shape& shape) { return types::dims_text(shape, "[", "]"); }

std::ostream& operator<<(std::ostream& out, const Dim& dim) { return out << to_string(dim); }

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

std::string to_string(DType dtype, const Shape& shape) { return std::string(to_string(dtype)) + to_string(shape); }

Dim element_count(const Shape& shape) {
    Dim count = 1;
    for (const auto& size : shape) count = count * size;
    return count;
}

std::vector<Dim> dense_strides(const Shape& shape) {
    std::vector<Dim> strides(shape.size());
    Dim step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        strides[axis] = step;
        if (axis > 0) step = step * shape[axis];
    }
    return strides;
}

}  // namespace cairn::inline v0
