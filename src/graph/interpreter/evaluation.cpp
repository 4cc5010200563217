#include "graph/interpreter/evaluation.hpp"

#include "graph/ir/graph_error.hpp"
#include "graph/ir/op_table.hpp"

namespace cairn::interpreter {

Sizes Evaluation::list(std::string_view name) const {
    Sizes values;
    for (const Dim& dim : node().attributes.dims(name)) values.push_back(dim.evaluate(symbol_values));
    return values;
}

std::int64_t Evaluation::integer(std::string_view name) const { return list(name).at(0); }

std::size_t Evaluation::axis() const {
    return static_cast<std::size_t>(integer("axis") + static_cast<std::int64_t>(operand(0).shape.size()));
}

Value Evaluation::result() const {
    Value value;
    value.dtype = node().dtype;
    value.shape = shape;
    const auto elements = static_cast<std::size_t>(count(shape));
    if (is_float(value.dtype))
        value.data.resize(elements);
    else
        value.integers.resize(elements);
    return value;
}

void Evaluation::fail(const std::string& text) const {
    const auto& where = node().where;
    const std::string part = node().composite.empty() ? std::string(info(node().op).name) : node().composite;
    if (where.line() == 0) throw Error(ErrorKind::argument, part, text);
    throw Error(ErrorKind::argument, part, text, where);
}

std::int64_t count(std::span<const std::int64_t> shape) noexcept {
    std::int64_t product = 1;
    for (const std::int64_t size : shape) product *= size;
    return product;
}

Sizes row_major(std::span<const std::int64_t> shape) {
    Sizes strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= shape[i];
    }
    return strides;
}

Sizes broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> wider) {
    const Sizes dense = row_major(shape);
    Sizes strides(wider.size(), 0);
    const std::size_t added = wider.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] != 1) strides[added + i] = dense[i];
    return strides;
}

std::vector<std::int64_t> element_offsets(std::span<const std::int64_t> shape, const View& view) {
    std::vector<std::int64_t> result;
    const std::int64_t total = count(shape);
    result.reserve(static_cast<std::size_t>(total));
    Sizes index(shape.size(), 0);
    std::int64_t memory_offset = view.offset;
    for (std::int64_t done = 0; done < total; ++done) {
        result.push_back(memory_offset);
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            memory_offset += view.strides[axis];
            if (++index[axis] < shape[axis]) break;
            memory_offset -= view.strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    return result;
}

}  // namespace cairn::interpreter
