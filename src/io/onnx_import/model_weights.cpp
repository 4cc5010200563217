#include "io/onnx_import/model_weights.hpp"

#include "io/onnx_node/refusal.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

/// Lists of integers up to this size are constants: they are more often parameters than weights.
constexpr std::int64_t short_list = 64;

/// The dtype that holds elements of a type, and how many bits each of them has in the file.
struct Holder {
    DType dtype;
    int packed_bits = 0;  ///< of an element in the file; 0: as the dtype has them
};

std::optional<Holder> holder_of(ElementType type) {
    if (const auto dtype = dtype_of(type); dtype.has_value()) return Holder{*dtype};
    switch (type) {
        case ElementType::u4:
        case ElementType::f4_e2m1: return Holder{DType::u8, 4};
        case ElementType::i4: return Holder{DType::i8, 4};
        case ElementType::i16:
        case ElementType::u16: return Holder{DType::i32, 16};
        case ElementType::u2: return Holder{DType::u8, 2};
        case ElementType::i2: return Holder{DType::i8, 2};
        case ElementType::f8_e4m3fn:
        case ElementType::f8_e4m3fnuz:
        case ElementType::f8_e5m2:
        case ElementType::f8_e5m2fnuz:
        case ElementType::f8_e8m0: return Holder{DType::u8};
        default: return std::nullopt;
    }
}

/// Elements of 16 bits, one in each of 4 bytes.
void widen(const TensorProto& tensor, std::byte* to) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, tensor.data.data() + 2 * i, 2);
        const std::int32_t value = tensor.type == ElementType::u16 ? bits : static_cast<std::int16_t>(bits);
        std::memcpy(to + 4 * i, &value, 4);
    }
}

/// Elements of 2 or 4 bits, one in each byte; the lowest bits come first.
void unpack(const TensorProto& tensor, const Holder& holder, std::byte* to) {
    const int bits = holder.packed_bits, in_byte = 8 / bits;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
        const auto byte = std::to_integer<unsigned>(tensor.data[static_cast<std::size_t>(i / in_byte)]);
        unsigned code = (byte >> (static_cast<int>(i % in_byte) * bits)) & ((1U << bits) - 1U);
        if (holder.dtype == DType::i8 && (code >> (bits - 1)) != 0) code |= 0xffU << bits;
        to[i] = static_cast<std::byte>(code & 0xffU);
    }
}

struct AlignedBytes {
    explicit AlignedBytes(std::size_t bytes)
        : data(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))) {}
    ~AlignedBytes() { ::operator delete (data, std::align_val_t{64}); }
    AlignedBytes(const AlignedBytes&) = delete;
    AlignedBytes& operator=(const AlignedBytes&) = delete;
    std::byte* data;
};

/// A view of a tensor that keeps `owner` until it is released; of a copy where its elements are packed or not aligned.
InputView view_of(const TensorProto& tensor, const std::shared_ptr<const void>& owner) {
    const Holder holder = *holder_of(tensor.type);
    InputView view{.data = tensor.data.data(), .dtype = holder.dtype, .shape = tensor.dims};
    const auto address = reinterpret_cast<std::uintptr_t>(view.data);
    if (holder.packed_bits == 0 && address % size_of(holder.dtype) == 0) {
        view.owner = new std::shared_ptr<const void>(owner);
        view.release = [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); };
        return view;
    }
    const std::size_t bytes = static_cast<std::size_t>(tensor.elements()) * size_of(holder.dtype);
    auto copy = std::make_unique<AlignedBytes>(bytes);
    if (holder.packed_bits == 16)
        widen(tensor, copy->data);
    else if (holder.packed_bits != 0)
        unpack(tensor, holder, copy->data);
    else if (bytes != 0)
        std::memcpy(copy->data, tensor.data.data(), bytes);
    view.data = copy->data;
    view.owner = copy.release();
    view.release = [](void* held) { delete static_cast<AlignedBytes*>(held); };
    return view;
}

}  // namespace

struct ModelWeights::Shared {
    std::shared_ptr<const void> owner;
    std::map<std::string, TensorProto, std::less<>> tensors;
};

ModelWeights::ModelWeights(Graph graph, std::shared_ptr<const void> owner, std::set<std::string, std::less<>> taken)
    : graph_(std::move(graph)), shared_(std::make_shared<Shared>()), taken_(std::move(taken)) {
    shared_->owner = std::move(owner);
}

ValuePtr ModelWeights::value(const TensorProto& tensor, std::string_view name) {
    return Value::stored(tensor, [this, &tensor, name = std::string(name)] { return add(tensor, name); });
}

Tensor ModelWeights::add(const TensorProto& tensor, const std::string& name) {
    auto& known = added_[tensor.data.data()];
    for (const auto& [other, weight] : known)
        if (other.type == tensor.type && other.dims == tensor.dims) return weight;
    return known.emplace_back(tensor, make(tensor, name)).second;
}

Tensor ModelWeights::make(const TensorProto& tensor, const std::string& name) {
    const std::optional<Holder> holder = holder_of(tensor.type);
    if (!holder.has_value()) throw Refusal(fmt::format("there is no dtype for {}", to_string(tensor.type)));
    const std::int64_t elements = tensor.elements();
    if (holder->packed_bits == 0 && dtype_of(tensor.type).has_value() &&
        (elements <= 1 || (!is_float_type(tensor.type) && elements <= short_list)))
        if (const std::optional<Known> known = known_from(tensor); known.has_value()) return tensor_of(*known, graph_);
    std::string unique = name;
    for (int number = 2; !taken_.insert(unique).second; ++number) unique = fmt::format("{}.{}", name, number);
    Tensor weight = graph_.weight(unique, holder->dtype, Shape(tensor.dims.begin(), tensor.dims.end()));
    shared_->tensors.emplace(unique, tensor);
    return weight;
}

WeightSource ModelWeights::source() const {
    return [shared = shared_](std::string_view name) {
        const auto it = shared->tensors.find(name);
        if (it == shared->tensors.end())
            throw Error(ErrorKind::argument, "onnx", fmt::format("the model has no weight '{}'", name));
        return view_of(it->second, std::shared_ptr<const void>(shared, shared.get()));
    };
}

}  // namespace cairn::inline v0::onnx
