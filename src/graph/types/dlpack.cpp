#include "cairn/dlpack.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cairn::inline v0::detail {
namespace {

using Row = std::pair<DType, DlpackDType>;
constexpr std::array<Row, 9> rows{{{DType::f64, {DlpackType::floating, 64}},
                                   {DType::f32, {DlpackType::floating, 32}},
                                   {DType::f16, {DlpackType::floating, 16}},
                                   {DType::bf16, {DlpackType::bfloat, 16}},
                                   {DType::i64, {DlpackType::integer, 64}},
                                   {DType::i32, {DlpackType::integer, 32}},
                                   {DType::i8, {DlpackType::integer, 8}},
                                   {DType::u8, {DlpackType::unsigned_integer, 8}},
                                   {DType::boolean, {DlpackType::boolean, 8}}}};

}  // namespace

DType dtype_of_dlpack(int code, int bits, int lanes) {
    for (const auto& [dtype, row] : rows)
        if (static_cast<int>(row.code) == code && row.bits == bits && lanes == 1) return dtype;
    throw Error(ErrorKind::unsupported, "dlpack",
                fmt::format("there is no dtype of DLPack's code {} with {} bits and {} lanes", code, bits, lanes));
}

DlpackDType dlpack_of(DType dtype) {
    for (const auto& [each, row] : rows)
        if (each == dtype) return row;
    throw Error(ErrorKind::unsupported, "dlpack", fmt::format("DLPack has no {}", to_string(dtype)));
}

Device device_of_dlpack(int type, int index) {
    switch (static_cast<DlpackDevice>(type)) {
        case DlpackDevice::cpu:
        case DlpackDevice::cuda_host: return Device::cpu;
        case DlpackDevice::cuda: return Device::cuda(index);
    }
    throw Error(ErrorKind::unsupported, "dlpack", fmt::format("there is no device of DLPack's type {}", type));
}

}  // namespace cairn::inline v0::detail
