#include "fusion/shape_unifier.hpp"

#include <algorithm>

namespace cairn::fusion {
namespace {

// The index of a single symbol in its table.
std::optional<std::size_t> position(const Dim& dim, std::span<const Symbols::Symbol> list) {
    const std::string_view name = dim.symbol();
    if (name.empty()) return std::nullopt;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].name == name) return i;
    return std::nullopt;
}

bool depends_on(const Dim& dim, std::size_t symbol, std::size_t count) {
    std::vector<std::int64_t> sizes(count, 5);
    const std::int64_t before = dim.evaluate(sizes);
    sizes[symbol] = 7;
    return dim.evaluate(sizes) != before;
}

}  // namespace

ShapeUnifier::ShapeUnifier(const Pattern& pattern) : pattern_(pattern) {
    const std::vector<Symbols::Symbol> list = pattern.symbols->list();
    bound_.resize(list.size());
    for (const TensorDesc& operand : pattern.problem.inputs) {
        symbols_.emplace_back();
        for (const Dim& size : operand.shape) {
            symbols_.back().push_back(position(size, list));
            has_open_ = has_open_ || (!size.is_constant() && !symbols_.back().back());
        }
    }
}

void ShapeUnifier::bind_symbol(std::size_t symbol, const Dim& actual) {
    if (bound_[symbol] == nullptr) order_.push_back(symbol);
    bound_[symbol] = &actual;
}

void ShapeUnifier::rollback(std::size_t before) {
    for (; order_.size() > before; order_.pop_back()) {
        if (order_.back() == bound_.size())
            float_dtype_.reset();
        else
            bound_[order_.back()] = nullptr;
    }
}

bool ShapeUnifier::bind(std::size_t index, DType dtype, const Shape& shape) {
    const TensorDesc& written = pattern_.problem.inputs[index];
    if (written.dtype == DType::f32) {
        if (!is_float(dtype) || (float_dtype_ && *float_dtype_ != dtype)) return false;
        if (!float_dtype_) order_.push_back(bound_.size());
        float_dtype_ = dtype;
    } else if (written.dtype != dtype) {
        return false;
    }
    const std::size_t rank = written.shape.size();
    if (shape.size() < rank || (shape.size() > rank && !pattern_.allows_leading_axes[index])) return false;
    const std::size_t more = shape.size() - rank;
    for (std::size_t i = 0; i < rank; ++i) {
        const Dim &size = written.shape[i], &actual = shape[more + i];
        if (size.is_constant() && !(size == actual)) return false;
        const auto symbol = symbols_[index][i];
        if (!symbol) continue;
        if (bound_[*symbol] != nullptr && !(*bound_[*symbol] == actual)) return false;
        bind_symbol(*symbol, actual);
    }
    return true;
}

bool ShapeUnifier::solve(const Dim& written, const Dim& actual, Bound& bound, Symbols& symbols) const {
    std::optional<std::size_t> unknown;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        if (bound[i] || !depends_on(written, i, bound.size())) continue;
        if (unknown) return false;
        unknown = i;
    }
    const auto with = [&](const Dim& value) {
        std::vector<Dim> replacements;
        for (std::size_t i = 0; i < bound.size(); ++i)
            replacements.push_back(bound[i] ? *bound[i] : i == unknown ? value : Dim(1));
        return symbols.substitute(written, replacements);
    };
    if (!unknown) return with(1) == actual;
    const Dim unit = with(1);
    if (!provably_le(1, unit)) return false;
    bound[*unknown] = floordiv(actual, unit);
    return with(0) == actual;
}

bool ShapeUnifier::complete(std::span<const TensorDesc> operands, const std::shared_ptr<Symbols>& symbols) const {
    if (!has_open_) return true;
    Bound bound;
    for (const Dim* size : bound_) bound.push_back(size == nullptr ? std::nullopt : std::optional(*size));
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Shape& written = pattern_.problem.inputs[i].shape;
        const std::size_t more = operands[i].shape.size() - written.size();
        for (std::size_t axis = 0; axis < written.size(); ++axis)
            if (!written[axis].is_constant() && !symbols_[i][axis] &&
                !solve(written[axis], operands[i].shape[more + axis], bound, *symbols))
                return false;
    }
    return true;
}

}  // namespace cairn::fusion
