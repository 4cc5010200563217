#pragma once

#include "cairn/compiled_graph.hpp"
#include "cairn/error.hpp"
#include "cairn/types.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Conversions from and to the tensors of DLPack (github.com/dmlc/dlpack), by which PyTorch, JAX, CuPy and others
/// exchange memory without copying it. Their declarations are the caller's: `DLManagedTensor` and
/// `DLManagedTensorVersioned` of any `dlpack.h`, or structs with the same members.
namespace cairn::inline v0 {

namespace detail {

/// Codes of DLDataTypeCode and DLDeviceType.
enum class DlpackType : int { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, boolean = 6 };
enum class DlpackDevice : int { cpu = 1, cuda = 2, cuda_host = 3 };
inline constexpr std::uint32_t dlpack_major = 1;

/// The dtype of DLPack's code and bits; throws Error(unsupported) if Cairn has none.
CAIRN_API DType dtype_of_dlpack(int code, int bits, int lanes);
/// DLPack's code and bits of a dtype.
struct DlpackDType {
    DlpackType code;
    std::uint8_t bits;
};
CAIRN_API DlpackDType dlpack_of(DType dtype);
/// The device of DLPack's type and index; throws Error(unsupported) for one that Cairn does not have.
CAIRN_API Device device_of_dlpack(int type, int index);

}  // namespace detail

/// A DLManagedTensor or DLManagedTensorVersioned.
template <typename T>
concept DlpackTensor = requires(T tensor) {
    { tensor.dl_tensor.data } -> std::convertible_to<void*>;
    { tensor.dl_tensor.shape } -> std::convertible_to<std::int64_t*>;
    tensor.dl_tensor.strides, tensor.dl_tensor.ndim, tensor.dl_tensor.dtype.lanes, tensor.dl_tensor.byte_offset;
    tensor.deleter(&tensor);
};

/// A view of a DLPack tensor, which owns it: its deleter is called when Cairn no longer reads the memory. For an input
/// in the memory of a GPU see CompileOptions::input_devices. Work that still writes the tensor must precede the run in
/// its stream (RunOptions::stream). Throws Error(unsupported) for a dtype or device that Cairn does not have, and for a
/// tensor of another major version of DLPack; the tensor is then still the caller's.
///
///     model.set("image", from_dlpack(tensor));   // the DLManagedTensor* of a Python capsule, for example
template <DlpackTensor T>
InputView from_dlpack(T* tensor) {
    if constexpr (requires { tensor->version.major; })
        if (tensor->version.major != detail::dlpack_major)
            throw Error(ErrorKind::unsupported, "dlpack",
                        "the tensor is of version " + std::to_string(tensor->version.major) + ", expected 1");
    const auto& given = tensor->dl_tensor;
    const auto rank = static_cast<std::size_t>(given.ndim);
    InputView view;
    view.dtype = detail::dtype_of_dlpack(static_cast<int>(given.dtype.code), static_cast<int>(given.dtype.bits),
                                         static_cast<int>(given.dtype.lanes));
    view.device =
        detail::device_of_dlpack(static_cast<int>(given.device.device_type), static_cast<int>(given.device.device_id));
    view.shape.assign(given.shape, given.shape + rank);
    if (given.strides != nullptr) view.strides.assign(given.strides, given.strides + rank);
    if (given.data != nullptr) view.data = static_cast<const std::byte*>(given.data) + given.byte_offset;
    view.owner = tensor;
    view.release = [](void* owner) {
        auto* const owned = static_cast<T*>(owner);
        if (owned->deleter != nullptr) owned->deleter(owned);
    };
    return view;
}

/// A DLPack tensor of a result, for as long as the result is valid (OutputView). The caller owns the tensor, and
/// releases it by its deleter; the memory stays Cairn's.
///
///     DLManagedTensor* logits = to_dlpack<DLManagedTensor>(model.output("logits"));
template <DlpackTensor T>
T* to_dlpack(const OutputView& view) {
    struct Owner {
        T tensor = {};
        std::vector<std::int64_t> shape, strides;
    };
    auto owner = std::make_unique<Owner>();
    owner->shape.assign(view.shape.begin(), view.shape.end());
    owner->strides.resize(owner->shape.size());
    std::int64_t stride = 1;
    for (std::size_t axis = owner->shape.size(); axis-- > 0; stride *= owner->shape[axis])
        owner->strides[axis] = stride;
    T& tensor = owner->tensor;
    if constexpr (requires { tensor.version.major; }) tensor.version.major = detail::dlpack_major;
    auto& result = tensor.dl_tensor;
    const detail::DlpackDType dtype = detail::dlpack_of(view.dtype);
    const bool is_on_cpu = view.device == Device::cpu;
    result.data = const_cast<void*>(view.data);
    result.device.device_type = static_cast<decltype(result.device.device_type)>(
        is_on_cpu ? detail::DlpackDevice::cpu : detail::DlpackDevice::cuda);
    result.device.device_id = view.device.index;
    result.ndim = static_cast<decltype(result.ndim)>(owner->shape.size());
    result.dtype.code = static_cast<decltype(result.dtype.code)>(dtype.code);
    result.dtype.bits = dtype.bits;
    result.dtype.lanes = 1;
    result.shape = owner->shape.data();
    result.strides = owner->strides.data();
    result.byte_offset = 0;
    tensor.manager_ctx = owner.get();
    tensor.deleter = [](T* self) { delete static_cast<Owner*>(self->manager_ctx); };
    return &owner.release()->tensor;
}

}  // namespace cairn::inline v0
