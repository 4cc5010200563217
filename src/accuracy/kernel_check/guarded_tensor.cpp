#include "accuracy/kernel_check/guarded_tensor.hpp"

#include "accuracy/kernel_check/code_panels.hpp"
#include "accuracy/kernel_check/element_bytes.hpp"
#include "cairn/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cairn::kernel_check {
namespace {

constexpr std::size_t guard_bytes = 512;

bool is_partial_sums(std::string_view layout) {
    return layout.starts_with("partial_sums.") && layout_parameter(layout) > 0;
}

// Index among 32-column panels of element [k, n] of the matrix (or, transposed, [n, k]); independent of the kernels'
// own implementation.
std::size_t panel_index(std::int64_t k, std::int64_t n, std::int64_t depth) {
    return static_cast<std::size_t>((n / 32) * depth * 32 + k * 32 + n % 32);
}

void put_element(std::byte* to, const interpreter::Value& value, std::size_t i) {
    switch (value.dtype) {
        case DType::f64: return put(to, value.data[i]);
        case DType::f32: return put(to, static_cast<float>(value.data[i]));
        case DType::f16: return put(to, encode16(value.data[i], true));
        case DType::bf16: return put(to, encode16(value.data[i], false));
        case DType::i64: return put(to, value.integers[i]);
        case DType::i32: return put(to, static_cast<std::int32_t>(value.integers[i]));
        default: return put(to, static_cast<std::uint8_t>(value.integers[i]));
    }
}

void get_element(const std::byte* from, interpreter::Value& value, std::size_t i) {
    switch (value.dtype) {
        case DType::f64: value.data[i] = get<double>(from); return;
        case DType::f32: value.data[i] = get<float>(from); return;
        case DType::f16: value.data[i] = decode16(get<std::uint16_t>(from), true); return;
        case DType::bf16: value.data[i] = decode16(get<std::uint16_t>(from), false); return;
        case DType::i64: value.integers[i] = get<std::int64_t>(from); return;
        case DType::i32: value.integers[i] = get<std::int32_t>(from); return;
        case DType::i8: value.integers[i] = get<std::int8_t>(from); return;
        default: value.integers[i] = get<std::uint8_t>(from); return;
    }
}

bool holds_only(const Bytes& memory, std::size_t begin, std::size_t end, std::uint8_t poison) {
    // Each byte equals its neighbour: one call instead of a loop that sanitizers would slow down.
    return begin == end || (memory[begin] == static_cast<std::byte>(poison) &&
                            std::memcmp(memory.data() + begin, memory.data() + begin + 1, end - begin - 1) == 0);
}

/// Splits a value into parts whose sum is the value exactly, in whatever order they are added: all have its sign, and
/// are multiples of the unit in its last place.
class PartsOf {
public:
    explicit PartsOf(double value) : rest_(value) {
        // What is too small to be split, or not finite, is the last part.
        if (!std::isfinite(value) || std::fabs(value) < 0x1p-100) return;
        const double scale = std::exp2(11 - std::ilogb(value));
        rest_ = std::trunc(value * scale) / scale;  // half of the significand of f32, which is split further
        low_ = value - rest_;
        halvings_ = 8;
    }
    double next() {
        if (halvings_ == 0) return std::copysign(0.0, rest_);
        --halvings_;
        return rest_ /= 2;
    }
    double last() const { return rest_ + low_; }

private:
    double rest_, low_ = -0.0;  // added to zeros of both signs, -0 keeps them
    int halvings_ = 0;
};

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

}  // namespace

bool GuardedTensor::supports_layout(std::string_view layout) {
    return layout.empty() || layout == "panel32" || layout == "panel32.t" || code_panel_format(layout) != nullptr ||
           is_partial_sums(layout);
}

GuardedTensor::GuardedTensor(const TensorDesc& tensor, std::uint8_t poison, int misalignment)
    : dtype_(tensor.dtype), layout_(tensor.layout), poison_(poison) {
    for (const Dim& size : tensor.shape) shape_.push_back(size.constant());
    const std::size_t bytes = size_of(dtype_);
    if (!supports_layout(layout_))
        throw Error(ErrorKind::unsupported, "check_kernel",
                    "no layouts but panel32, those of codes and partial_sums can be checked, got " + layout_);
    if (layout_.empty() || is_partial_sums(layout_)) {
        std::int64_t last = 0;
        for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
            strides_.push_back(tensor.strides[axis].constant());
            last += std::max<std::int64_t>(0, shape_[axis] - 1) * strides_[axis];
        }
        size_ = count_of(shape_) == 0 ? 0 : static_cast<std::size_t>(last + 1) * bytes;
        if (!layout_.empty()) parts_ = static_cast<std::size_t>(layout_parameter(layout_));
        size_ *= parts_;
    } else {
        const std::size_t rank = shape_.size();
        const bool is_transposed = layout_.ends_with(".t");
        const std::int64_t k = shape_.at(is_transposed ? rank - 1 : rank - 2);
        const std::int64_t n = shape_.at(is_transposed ? rank - 2 : rank - 1);
        size_ = code_panel_format(layout_) != nullptr ? code_panels().bytes()
                                                      : static_cast<std::size_t>((n + 31) / 32 * 32 * k) * bytes;
        strides_.assign(rank, 0);
    }
    allocate(misalignment);
    ElementMap map{element_offsets(), {}};
    map.owned = owned(map.element_offsets);
    element_map_ = std::make_shared<const ElementMap>(std::move(map));
}

GuardedTensor::GuardedTensor(const GuardedTensor& like, std::uint8_t poison, int misalignment)
    : dtype_(like.dtype_),
      layout_(like.layout_),
      shape_(like.shape_),
      strides_(like.strides_),
      size_(like.size_),
      parts_(like.parts_),
      poison_(poison),
      element_map_(like.element_map_) {
    allocate(misalignment);
}

void GuardedTensor::allocate(int misalignment) {
    begin_ = guard_bytes + static_cast<std::size_t>(misalignment) * size_of(dtype_);
    memory_.assign(begin_ + size_ + guard_bytes, static_cast<std::byte>(poison_));
}

GuardedTensor::ByteRanges GuardedTensor::owned(const std::vector<std::size_t>& element_offsets) const {
    if (!layout_.empty()) return size_ > 0 ? ByteRanges{{0, size_}} : ByteRanges{};
    const std::size_t bytes = size_of(dtype_), count = size_ / bytes;
    std::vector<char> is_owned(count, 0);
    for (const std::size_t offset : element_offsets) is_owned[offset / bytes] = 1;
    ByteRanges found;
    for (auto end = is_owned.begin();;) {
        const auto begin = std::find(end, is_owned.end(), 1);
        if (begin == is_owned.end()) return found;
        end = std::find(begin, is_owned.end(), 0);
        found.emplace_back(static_cast<std::size_t>(begin - is_owned.begin()) * bytes,
                           static_cast<std::size_t>(end - is_owned.begin()) * bytes);
    }
}

std::vector<std::size_t> GuardedTensor::element_offsets() const {
    const std::size_t bytes = size_of(dtype_), rank = shape_.size();
    const bool is_packed = layout_.starts_with("panel32"), is_transposed = layout_ == "panel32.t";
    if (code_panel_format(layout_) != nullptr) return {};  // codes of an element are no element
    std::vector<std::size_t> found(static_cast<std::size_t>(count_of(shape_)));
    std::vector<std::int64_t> index(rank, 0);
    for (std::size_t& offset : found) {
        std::size_t element = 0;
        if (is_packed) {
            const std::size_t k = is_transposed ? rank - 1 : rank - 2, n = is_transposed ? rank - 2 : rank - 1;
            element = panel_index(index[k], index[n], shape_[k]);
        } else {
            for (std::size_t axis = 0; axis < rank; ++axis)
                element += static_cast<std::size_t>(index[axis] * strides_[axis]);
        }
        offset = element * bytes;
        for (std::size_t axis = rank; axis-- > 0 && ++index[axis] == shape_[axis];) index[axis] = 0;
    }
    return found;
}

void GuardedTensor::write(const interpreter::Value& value) {
    if (!layout_.empty()) std::memset(data(), 0, size_);
    if (code_panel_format(layout_) != nullptr) return code_panels().write(value.data, data());
    const std::vector<std::size_t>& element_offsets = element_map_->element_offsets;
    if (parts_ > 1) return write_parts(value);
    for (std::size_t i = 0; i < element_offsets.size(); ++i) put_element(data() + element_offsets[i], value, i);
}

CodePanels GuardedTensor::code_panels() const {
    const bool is_transposed = layout_.ends_with(".t");
    return {layout_, shape_.at(is_transposed ? 1 : 0), shape_.at(is_transposed ? 0 : 1)};
}

void GuardedTensor::write_parts(const interpreter::Value& value) {
    std::vector<PartsOf> rests(value.data.begin(), value.data.end());
    interpreter::Value part = value;
    for (std::size_t n = 0; n < parts_; ++n) {
        for (std::size_t i = 0; i < rests.size(); ++i)
            part.data[i] = n + 1 < parts_ ? rests[i].next() : rests[i].last();
        for (std::size_t i = 0; i < rests.size(); ++i)
            put_element(data() + n * part_bytes() + element_map_->element_offsets[i], part, i);
    }
}

interpreter::Value GuardedTensor::read() const {
    interpreter::Value value;
    value.dtype = dtype_;
    value.shape = shape_;
    if (code_panel_format(layout_) != nullptr) {
        value.data = code_panels().read(memory_.data() + begin_);
        return value;
    }
    const std::vector<std::size_t>& element_offsets = element_map_->element_offsets;
    (is_float(dtype_) ? value.data.resize(element_offsets.size()) : value.integers.resize(element_offsets.size()));
    for (std::size_t i = 0; i < element_offsets.size(); ++i)
        get_element(memory_.data() + begin_ + element_offsets[i], value, i);
    interpreter::Value part = value;
    for (std::size_t n = 1; n < parts_; ++n)
        for (std::size_t i = 0; i < element_offsets.size(); ++i) {
            get_element(memory_.data() + begin_ + n * part_bytes() + element_offsets[i], part, i);
            value.data[i] += part.data[i];
        }
    return value;
}

interpreter::Value GuardedTensor::read_comparable(const interpreter::Value& expected) const {
    interpreter::Value value = read();
    if (code_panel_format(layout_) != nullptr)
        value.data = code_panels().replace_unrepresentable(std::move(value.data), expected.data);
    return value;
}

bool GuardedTensor::guards_intact() const {
    std::size_t gap = 0;
    for (const auto& [begin, end] : element_map_->owned) {
        if (!holds_only(memory_, gap, begin_ + begin, poison_)) return false;
        gap = begin_ + end;
    }
    return holds_only(memory_, gap, memory_.size(), poison_);
}

std::vector<std::uint8_t> GuardedTensor::bits() const {
    std::vector<std::uint8_t> found;
    for (const auto& [begin, end] : element_map_->owned) {
        const std::size_t size = found.size();
        found.resize(size + end - begin);
        std::memcpy(found.data() + size, memory_.data() + begin_ + begin, end - begin);
    }
    return found;
}

TensorArg GuardedTensor::argument(std::byte* block) const {
    return {block + begin_, shape_.data(), strides_.data(), static_cast<int>(shape_.size())};
}

void GuardedTensor::close_guards([[maybe_unused]] bool closed) {
#if defined(__SANITIZE_ADDRESS__)
    const std::size_t behind = begin_ + size_;
    if (closed)
        __asan_poison_memory_region(memory_.data() + behind, memory_.size() - behind);
    else
        __asan_unpoison_memory_region(memory_.data(), memory_.size());
#endif
}

GuardedWorkspace::GuardedWorkspace(std::size_t count, std::uint8_t poison)
    : memory_(count + 2 * guard_bytes, static_cast<std::byte>(poison)),
      begin_(guard_bytes),
      count_(count),
      poison_(poison) {}

bool GuardedWorkspace::guards_intact() const {
    return holds_only(memory_, 0, begin_, poison_) && holds_only(memory_, begin_ + count_, memory_.size(), poison_);
}

}  // namespace cairn::kernel_check
