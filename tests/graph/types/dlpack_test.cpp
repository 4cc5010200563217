#include "cairn/dlpack.hpp"

#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

// The structs of dlpack.h, as DLPack 1 defines them.
namespace dlpack {

enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLMetal = 8, kDLCUDAManaged = 13 };
struct DLDevice {
    DLDeviceType device_type;
    std::int32_t device_id;
};
struct DLDataType {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor* self);
};
struct DLPackVersion {
    std::uint32_t major, minor;
};
struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(DLManagedTensorVersioned* self);
    std::uint64_t flags;
    DLTensor dl_tensor;
};

}  // namespace dlpack

namespace cairn {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename T>
class DlpackTest : public testing::Test {
protected:
    DlpackTest() {
        tensor.dl_tensor = {values.data(), {dlpack::kDLCPU, 0}, 2, {2, 32, 1}, shape.data(), nullptr, 0};
        tensor.manager_ctx = &deleted;
        tensor.deleter = [](T* self) { ++*static_cast<int*>(self->manager_ctx); };
        if constexpr (std::is_same_v<T, DLManagedTensorVersioned>) tensor.version = {1, 1};
    }
    std::string fault() {
        return test::message([&] { from_dlpack(&tensor); });
    }

    std::vector<float> values{1, 2, 3, 4, 5, 6};
    std::vector<std::int64_t> shape{2, 3}, strides{1, 2};
    int deleted = 0;
    T tensor = {};
};
using Forms = testing::Types<DLManagedTensor, DLManagedTensorVersioned>;
TYPED_TEST_SUITE(DlpackTest, Forms);

TYPED_TEST(DlpackTest, ATensorIsAViewThatOwnsIt) {
    const InputView view = from_dlpack(&this->tensor);
    EXPECT_EQ(view.data, this->values.data());
    EXPECT_EQ(view.dtype, DType::f32);
    EXPECT_EQ(view.device, Device::cpu);
    EXPECT_THAT(view.shape, ElementsAre(2, 3));
    EXPECT_THAT(view.strides, IsEmpty());
    EXPECT_EQ(this->deleted, 0);
    view.release(view.owner);
    EXPECT_EQ(this->deleted, 1);
    this->tensor.deleter = nullptr;
    const InputView unowned = from_dlpack(&this->tensor);
    unowned.release(unowned.owner);
}

TYPED_TEST(DlpackTest, StridesAnOffsetAndOtherDevices) {
    this->tensor.dl_tensor.strides = this->strides.data();
    this->tensor.dl_tensor.byte_offset = 8;
    EXPECT_EQ(from_dlpack(&this->tensor).data, this->values.data() + 2);
    EXPECT_THAT(from_dlpack(&this->tensor).strides, ElementsAre(1, 2));
    this->tensor.dl_tensor.device = {dlpack::kDLCUDA, 3};
    EXPECT_EQ(from_dlpack(&this->tensor).device, Device::cuda(3));
    this->tensor.dl_tensor.device = {dlpack::kDLCUDAHost, 0};
    EXPECT_EQ(from_dlpack(&this->tensor).device, Device::cpu) << "pinned memory is the host's";
    this->tensor.dl_tensor.ndim = 0;
    EXPECT_THAT(from_dlpack(&this->tensor).shape, IsEmpty());
    this->tensor.dl_tensor.data = nullptr;
    EXPECT_EQ(from_dlpack(&this->tensor).data, nullptr);
    for (const dlpack::DLDeviceType type : {dlpack::kDLMetal, dlpack::kDLCUDAManaged}) {
        this->tensor.dl_tensor.device = {type, 0};
        EXPECT_THAT(this->fault(), HasSubstr("no device of DLPack's type"));
    }
    EXPECT_EQ(this->deleted, 0) << "a refused tensor is still the caller's";
}

TYPED_TEST(DlpackTest, EveryDtypeHasOneForm) {
    const std::map<DType, std::pair<int, int>> forms{
        {DType::f64, {2, 64}},  {DType::f32, {2, 32}}, {DType::f16, {2, 16}},
        {DType::bf16, {4, 16}}, {DType::i64, {0, 64}}, {DType::i32, {0, 32}},
        {DType::i8, {0, 8}},    {DType::u8, {1, 8}},   {DType::boolean, {6, 8}}};
    EXPECT_EQ(forms.size(), static_cast<std::size_t>(DType::boolean) + 1);
    for (const auto& [dtype, form] : forms) {
        this->tensor.dl_tensor.dtype = {static_cast<std::uint8_t>(form.first), static_cast<std::uint8_t>(form.second),
                                        1};
        EXPECT_EQ(from_dlpack(&this->tensor).dtype, dtype);
        TypeParam* const result = to_dlpack<TypeParam>({this->values.data(), dtype, this->shape});
        EXPECT_EQ(result->dl_tensor.dtype.code, form.first) << dtype;
        EXPECT_EQ(result->dl_tensor.dtype.bits, form.second) << dtype;
        result->deleter(result);
    }
    this->tensor.dl_tensor.dtype = {0, 16, 1};
    EXPECT_THAT(this->fault(), HasSubstr("code 0 with 16 bits and 1 lanes"));
    this->tensor.dl_tensor.dtype = {2, 32, 4};
    EXPECT_THAT(this->fault(), HasSubstr("4 lanes"));
}

TYPED_TEST(DlpackTest, AResultIsATensor) {
    const std::vector<std::int64_t> sizes{4, 1, 3};
    TypeParam* const result = to_dlpack<TypeParam>({this->values.data(), DType::f32, sizes, Device::cuda(2)});
    EXPECT_EQ(result->dl_tensor.data, this->values.data());
    EXPECT_EQ(result->dl_tensor.device.device_type, dlpack::kDLCUDA);
    EXPECT_EQ(result->dl_tensor.device.device_id, 2);
    EXPECT_EQ(result->dl_tensor.ndim, 3);
    EXPECT_EQ(result->dl_tensor.byte_offset, 0U);
    EXPECT_EQ(result->dl_tensor.dtype.lanes, 1);
    EXPECT_THAT(std::vector(result->dl_tensor.shape, result->dl_tensor.shape + 3), ElementsAre(4, 1, 3));
    EXPECT_THAT(std::vector(result->dl_tensor.strides, result->dl_tensor.strides + 3), ElementsAre(3, 3, 1));
    const InputView back = from_dlpack(result);
    EXPECT_EQ(back.data, this->values.data());
    EXPECT_EQ(back.device, Device::cuda(2));
    back.release(back.owner);
    TypeParam* const scalar = to_dlpack<TypeParam>({this->values.data(), DType::f32, {}});
    EXPECT_EQ(scalar->dl_tensor.ndim, 0);
    EXPECT_EQ(scalar->dl_tensor.device.device_type, dlpack::kDLCPU);
    scalar->deleter(scalar);
}

TEST(Dlpack, AnotherMajorVersionIsRefused) {
    DLManagedTensorVersioned tensor = {};
    tensor.version = {2, 0};
    EXPECT_THAT(test::message([&] { from_dlpack(&tensor); }), HasSubstr("version 2, expected 1"));
}

}  // namespace
}  // namespace cairn
