#include "io/onnx_file/model_proto.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"

#include "cairn/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace cairn::onnx {
namespace {

using test::Message;
using testing::ElementsAre, testing::HasSubstr;

TensorProto read(const Message& message) { return parse_tensor(message.span(), "t.pb"); }

template <typename T>
std::vector<T> elements_of(const TensorProto& tensor) {
    std::vector<T> elements(tensor.data.size() / sizeof(T));
    std::memcpy(elements.data(), tensor.data.data(), tensor.data.size());
    return elements;
}

std::string tensor_fault(const Message& message) {
    try {
        read(message);
    } catch (const Error& error) { return error.what(); }
    return "read";
}

Message typed(ElementType type, const std::vector<std::int64_t>& dims) {
    return Message().packed(1, dims).number(2, static_cast<int>(type)).text(8, "w");
}

TEST(TensorReader, ReadsTypedFields) {
    EXPECT_THAT(elements_of<float>(read(typed(ElementType::f32, {3}).packed_floats(4, {1, 2}).float32(4, 3))),
                ElementsAre(1, 2, 3));
    EXPECT_THAT(elements_of<double>(read(typed(ElementType::f64, {2}).float64(10, 1).float64(10, -2))),
                ElementsAre(1, -2));
    EXPECT_THAT(elements_of<std::int64_t>(read(typed(ElementType::i64, {2}).packed(7, {-1, 1LL << 40}))),
                ElementsAre(-1, 1LL << 40));
    EXPECT_THAT(elements_of<std::int32_t>(read(typed(ElementType::i32, {2}).packed(5, {-5, 6}))), ElementsAre(-5, 6));
    EXPECT_THAT(elements_of<std::int16_t>(read(typed(ElementType::i16, {2}).packed(5, {-5, 6}))), ElementsAre(-5, 6));
    EXPECT_THAT(elements_of<std::int8_t>(read(typed(ElementType::i8, {2}).packed(5, {-128, 127}))),
                ElementsAre(-128, 127));
    EXPECT_THAT(elements_of<std::uint8_t>(read(typed(ElementType::u8, {1}).packed(5, {255}))), ElementsAre(255));
    EXPECT_THAT(elements_of<std::uint8_t>(read(typed(ElementType::boolean, {2}).packed(5, {1, 0}))), ElementsAre(1, 0));
    EXPECT_THAT(elements_of<std::uint16_t>(read(typed(ElementType::f16, {2}).packed(5, {0x3c00, 0xbc00}))),
                ElementsAre(0x3c00, 0xbc00));
    EXPECT_THAT(elements_of<std::uint8_t>(read(typed(ElementType::u4, {3}).packed(5, {0x21, 0x03}))),
                ElementsAre(0x21, 0x03));
    EXPECT_THAT(elements_of<std::uint64_t>(read(typed(ElementType::u64, {1}).packed(11, {-1}))),
                ElementsAre(~std::uint64_t{0}));
    EXPECT_THAT(elements_of<std::uint32_t>(read(typed(ElementType::u32, {1}).packed(11, {0xffffffff}))),
                ElementsAre(0xffffffff));
    EXPECT_THAT(elements_of<float>(read(typed(ElementType::complex64, {1}).packed_floats(4, {1, 2}))),
                ElementsAre(1, 2));
}

TEST(TensorReader, ReadsRawDataOfAllSizes) {
    const Message message =
        typed(ElementType::f32, {}).text(9, std::string("\0\0\200\077", 4));  // its bytes are viewed
    const TensorProto scalar = read(message);
    EXPECT_EQ(scalar.elements(), 1);
    EXPECT_THAT(elements_of<float>(scalar), ElementsAre(1));
    EXPECT_EQ(read(typed(ElementType::f32, {0, 5})).elements(), 0);
    EXPECT_EQ(read(typed(ElementType::f32, {1LL << 62, 1LL << 62, 0}).text(9, "")).elements(), 0);
    EXPECT_EQ(read(typed(ElementType::i4, {5}).text(9, "abc")).data.size(), 3U);
    EXPECT_EQ(read(typed(ElementType::u2, {5}).text(9, "ab")).data.size(), 2U);
    EXPECT_THAT(read(typed(ElementType::string, {2}).texts(6, {"a", ""})).strings, ElementsAre("a", ""));
}

TEST(TensorReader, ReadsWhereExternalDataIs) {
    const TensorProto tensor = read(typed(ElementType::f32, {2})
                                        .message(13, Message().text(1, "location").text(2, "w.bin"))
                                        .message(13, Message().text(1, "offset").text(2, "64"))
                                        .number(14, 1));
    EXPECT_TRUE(tensor.is_external);
    EXPECT_EQ(tensor.external.at("location"), "w.bin");
    EXPECT_EQ(tensor.external.at("offset"), "64");
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {2}).number(14, 2)), HasSubstr("its data_location is 2"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {2}).number(14, 1).text(9, "12345678")),
                HasSubstr("in several forms"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {}).message(13, Message()).text(9, "1234")),
                HasSubstr("is not external"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {}).message(13, Message()).message(13, Message()).number(14, 1)),
                HasSubstr("two values for ''"));
}

TEST(TensorReader, RefusesWhatDoesNotFit) {
    EXPECT_THAT(tensor_fault(Message().text(8, "w")), HasSubstr("[onnx] t.pb: tensor 'w' has no data type"));
    EXPECT_THAT(tensor_fault(Message().number(2, 29)), HasSubstr("there is no data type 29"));
    EXPECT_THAT(tensor_fault(Message().number(2, -1)), HasSubstr("there is no data type -1"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {-1})), HasSubstr("has a size of -1"));
    EXPECT_THAT(tensor_fault(typed(ElementType::u8, {1LL << 40, 1LL << 40})),
                HasSubstr("more elements than memory can hold"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {1LL << 47}).text(9, "1234")),
                HasSubstr("has 4 bytes for 140737488355328 elements of FLOAT"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {2}).text(9, "1234")),
                HasSubstr("has 4 bytes for 2 elements of FLOAT"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {2})), HasSubstr("has 0 bytes for 2 elements"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {1}).text(9, "1234").float32(4, 1)),
                HasSubstr("in several forms"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {1}).packed(7, {1})),
                HasSubstr("of FLOAT has its elements in a field of another type"));
    EXPECT_THAT(tensor_fault(typed(ElementType::i64, {1}).packed(5, {1})), HasSubstr("in a field of another type"));
    EXPECT_THAT(tensor_fault(typed(ElementType::i8, {1}).packed(5, {300})),
                HasSubstr("int32_data holds 300, which is no number of 1 bytes"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {1}).texts(6, {"1"})), HasSubstr("of FLOAT holds strings"));
    EXPECT_THAT(tensor_fault(typed(ElementType::string, {2}).texts(6, {"1"})),
                HasSubstr("has 1 strings for 2 elements"));
    EXPECT_THAT(tensor_fault(typed(ElementType::string, {1}).text(9, "1")), HasSubstr("of STRING holds numbers"));
    EXPECT_THAT(tensor_fault(typed(ElementType::f32, {1}).message(3, Message())), HasSubstr("it is a segment"));
}

}  // namespace
}  // namespace cairn::onnx
