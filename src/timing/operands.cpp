#include "timing/operands.hpp"

#include "timing/splitmix.hpp"
#include "types/half.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

namespace cairn::inline v0::timing {
namespace {

constexpr std::size_t max_copies = 16;

std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

/// A table of normal numbers by Box and Muller; large operands repeat it.
std::array<double, 4096> normal_table() {
    std::array<double, 4096> table{};
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < table.size(); i += 2) {
        const double u = (static_cast<double>(mix(state) >> 11) + 1) * 0x1p-53,
                     v = static_cast<double>(mix(state) >> 11) * 0x1p-53;
        const double radius = std::sqrt(-2 * std::log(u));
        table[i] = radius * std::cos(2 * std::numbers::pi * v);
        table[i + 1] = radius * std::sin(2 * std::numbers::pi * v);
    }
    return table;
}

template <typename T, typename F>
void fill(std::byte* data, std::size_t count, const F& value) {
    for (std::size_t i = 0; i < count; ++i) {
        const T element = value(i);
        std::memcpy(data + i * sizeof(T), &element, sizeof(T));
    }
}

/// Indices below this are legal for the integer inputs of a problem.
std::int64_t index_limit(const Problem& problem) {
    constexpr std::array<std::string_view, 4> indexing = {"gather", "scatter", "take_along_axis", "embedding"};
    const bool indexes = std::find(indexing.begin(), indexing.end(), problem.definition) != indexing.end();
    if (!indexes || problem.inputs.empty()) return 8;
    const Shape& table = problem.inputs[0].shape;
    std::int64_t axis = -static_cast<std::int64_t>(table.size());
    if (problem.attributes.has("axis")) axis = problem.attributes.integer("axis");
    return std::max<std::int64_t>(
        table[static_cast<std::size_t>(static_cast<std::int64_t>(table.size()) + axis)].constant(), 1);
}

void fill_operand(std::byte* data, std::size_t bytes, DType dtype, std::int64_t limit, std::uint64_t seed) {
    static_assert(sizeof(float) == 4);
    const std::size_t count = bytes / size_of(dtype);
    const std::array<double, 4096> normal = normal_table();
    const auto number = [&](std::size_t i) { return normal[(i + seed * 977) % normal.size()]; };
    const auto index = [&](std::size_t i) {
        std::uint64_t state = seed + i;
        return static_cast<std::int64_t>(mix(state) % static_cast<std::uint64_t>(limit));
    };
    switch (dtype) {
        case DType::f64: return fill<double>(data, count, number);
        case DType::f32: return fill<float>(data, count, [&](std::size_t i) { return static_cast<float>(number(i)); });
        case DType::f16:
            return fill<std::uint16_t>(data, count, [&](std::size_t i) { return types::f64_to_f16(number(i)); });
        case DType::bf16:
            return fill<std::uint16_t>(data, count, [&](std::size_t i) { return types::f64_to_bf16(number(i)); });
        case DType::i64: return fill<std::int64_t>(data, count, index);
        case DType::i32:
            return fill<std::int32_t>(data, count, [&](std::size_t i) { return static_cast<std::int32_t>(index(i)); });
        case DType::i8:
            return fill<std::int8_t>(data, count,
                                     [&](std::size_t i) { return static_cast<std::int8_t>(index(i) % 8); });
        case DType::u8:
            return fill<std::uint8_t>(data, count,
                                      [&](std::size_t i) { return static_cast<std::uint8_t>(index(i) % 8); });
        case DType::boolean: return fill<std::uint8_t>(data, count, [](std::size_t) { return std::uint8_t{1}; });
    }
}

std::size_t bytes_of(const TensorDesc& tensor, const std::vector<Layout>& layouts) {
    if (!tensor.layout.empty())
        for (const Layout& layout : layouts)
            if (layout.name == tensor.layout || layout.transposed == tensor.layout) {
                TensorDesc plain = TensorDesc::dense(tensor.dtype, tensor.shape);
                if (layout.name != tensor.layout)
                    std::swap(plain.shape[0], plain.shape[1]), plain.strides = dense_strides(plain.shape);
                return static_cast<std::size_t>(layout.bytes(plain).constant());
            }
    std::int64_t last = 0;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        if (tensor.shape[i].constant() == 0) return 0;
        last += (tensor.shape[i].constant() - 1) * tensor.strides[i].constant();
    }
    return static_cast<std::size_t>(last + 1) * size_of(tensor.dtype);
}

}  // namespace

std::byte* Operands::place(std::size_t bytes) {
    std::byte* at = memory_.data() + used_;
    used_ += round_up(bytes);
    return at;
}

Operands::Operands(const Problem& problem, const Kernel& kernel, const std::vector<Layout>& layouts, int threads,
                   std::size_t rotation) {
    std::vector<const TensorDesc*> descs;
    for (const TensorDesc& input : problem.inputs) descs.push_back(&input);
    for (const TensorDesc& output : problem.outputs) descs.push_back(&output);
    std::size_t bound_bytes = 0, other_bytes = 0;
    std::vector<std::size_t> bytes;
    for (const TensorDesc* desc : descs) {
        bytes.push_back(bytes_of(*desc, layouts));
        (desc->bound ? bound_bytes : other_bytes) += round_up(bytes.back());
        Sizes& sizes = sizes_.emplace_back();
        for (const Dim& size : desc->shape) sizes.shape.push_back(size.constant());
        for (const Dim& stride : desc->strides) sizes.strides.push_back(stride.constant());
    }
    const std::size_t copies = bound_bytes == 0 ? 1 : std::clamp<std::size_t>(rotation / bound_bytes, 1, max_copies);
    const std::size_t workspace =
        kernel.workspace == nullptr ? 0 : static_cast<std::size_t>(kernel.workspace(problem, threads).constant());
    memory_ = device::Arena::reserve(copies * bound_bytes + other_bytes + round_up(workspace));
    memory_.touch(memory_.capacity());
    for (const Attribute& attribute : problem.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            for (const Dim& dim : *list) dims_.push_back(dim.constant());
    if (kernel.prepare != nullptr) prepared_ = kernel.prepare(problem, threads);

    std::byte* scratch = place(workspace);
    const std::int64_t limit = index_limit(problem);
    for (std::size_t copy = 0; copy < copies; ++copy) {
        auto& tensors = tensors_.emplace_back();
        for (std::size_t i = 0; i < descs.size(); ++i) {
            std::byte* data = nullptr;
            if (copy > 0 && !descs[i]->bound) {
                data = tensors_[0][i].data;
            } else {
                data = place(bytes[i]);
                if (copy == 0)
                    fill_operand(data, bytes[i], descs[i]->dtype, limit, i + 1);
                else
                    std::memcpy(data, tensors_[0][i].data, bytes[i]);
            }
            tensors.push_back(
                {data, sizes_[i].shape.data(), sizes_[i].strides.data(), static_cast<int>(descs[i]->shape.size())});
        }
    }
    for (const auto& tensors : tensors_)
        args_.push_back(
            {tensors.data(), tensors.data() + problem.inputs.size(), dims_.data(), scratch, prepared_.get()});
}

}  // namespace cairn::inline v0::timing
