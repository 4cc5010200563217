#include "fuse/sizes.hpp"

#include <algorithm>

namespace cairn::inline v0::fuse {
namespace {

// The position of a bare symbol in its table.
std::optional<std::size_t> position(const Dim& dim, const Symbols& symbols) {
    const std::string_view name = dim.symbol();
    if (name.empty()) return std::nullopt;
    const auto list = symbols.list();
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

bool Sizes::bind(std::size_t index, DType dtype, const Shape& shape) {
    const TensorDesc& written = pattern_.problem.inputs[index];
    if (written.dtype == DType::f32) {
        if (!is_float(dtype) || (float_dtype_ && *float_dtype_ != dtype)) return false;
        float_dtype_ = dtype;
    } else if (written.dtype != dtype) {
        return false;
    }
    const std::size_t rank = written.shape.size();
    if (shape.size() < rank || (shape.size() > rank && !pattern_.may_lead[index])) return false;
    const std::size_t more = shape.size() - rank;
    for (std::size_t i = 0; i < rank; ++i) {
        const Dim &size = written.shape[i], &actual = shape[more + i];
        if (size.is_constant() && !(size == actual)) return false;
        const auto symbol = position(size, *pattern_.symbols);
        if (!symbol) continue;
        if (bound_[*symbol] && !(*bound_[*symbol] == actual)) return false;
        bound_[*symbol] = actual;
    }
    return true;
}

bool Sizes::solve(const Dim& written, const Dim& actual, std::vector<std::optional<Dim>>& bound,
                  Symbols& symbols) const {
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

bool Sizes::complete(std::span<const TensorDesc> operands, const std::shared_ptr<Symbols>& symbols) const {
    std::vector<std::optional<Dim>> bound = bound_;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Shape& written = pattern_.problem.inputs[i].shape;
        const std::size_t more = operands[i].shape.size() - written.size();
        for (std::size_t axis = 0; axis < written.size(); ++axis)
            if (!written[axis].is_constant() && written[axis].symbol().empty() &&
                !solve(written[axis], operands[i].shape[more + axis], bound, *symbols))
                return false;
    }
    return true;
}

}  // namespace cairn::inline v0::fuse
