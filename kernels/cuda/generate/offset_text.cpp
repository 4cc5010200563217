#include "kernels/cuda/generate/offset_text.hpp"

#include "kernels/cuda/generate/size_text.hpp"

#include <fmt/format.h>

#include <limits>

namespace cairn::kernels::cuda {

AxisList::AxisList(const TensorDesc& tensor) : AxisList(tensor, 0, tensor.shape.size()) {}

AxisList::AxisList(const TensorDesc& tensor, std::size_t begin, std::size_t end) {
    for (std::size_t axis = begin; axis < end; ++axis) add(tensor.shape[axis], tensor.strides[axis]);
}

void AxisList::add(const Dim& size, const Dim& stride) {
    if (size == Dim(1)) return;
    if (!axes_.empty() && axes_.back().stride == stride * size) {
        axes_.back() = {axes_.back().size * size, stride};
        return;
    }
    axes_.push_back({size, stride});
}

Dim AxisList::count() const {
    Dim count = 1;
    for (const Axis& axis : axes_) count = count * axis.size;
    return count;
}

std::string AxisList::offset(const std::string& index, const std::string& type) const {
    std::string text, rest = index;
    for (std::size_t i = axes_.size(); i-- > 0;) {
        const auto& [size, stride] = axes_[i];
        const std::string place = i == 0 ? rest : fmt::format("{} % {}({})", rest, type, size_text(size));
        if (!(stride == Dim(0))) {
            const std::string of_axis = stride == Dim(1) ? i == 0 ? place : "(" + place + ")"
                                                         : fmt::format("({}) * {}({})", place, type, size_text(stride));
            text += (text.empty() ? "" : " + ") + of_axis;
        }
        if (i != 0) rest = fmt::format("({} / {}({}))", rest, type, size_text(size));
    }
    return text.empty() ? type + "(0)" : "(" + text + ")";
}

std::int64_t AxisList::largest_offset() const {
    constexpr double limit = 4e18;
    double offset = 0;
    for (const auto& [size, stride] : axes_)
        offset += static_cast<double>(size.upper_bound()) * static_cast<double>(stride.upper_bound());
    return offset > limit ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(offset);
}

AxisList::Run AxisList::run_of_four() const {
    if (axes_.empty()) return Run::repeated;
    if (axes_.size() > 1 && !is_multiple(axes_.back().size, 4)) return Run::other;
    if (axes_.back().stride == Dim(0)) return Run::repeated;
    if (!(axes_.back().stride == Dim(1))) return Run::other;
    for (std::size_t i = 0; i + 1 < axes_.size(); ++i)
        if (!is_multiple(axes_[i].stride, 4)) return Run::other;
    return Run::contiguous;
}

}  // namespace cairn::kernels::cuda
