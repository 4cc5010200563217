#include "apps/compare/nested_numbers.hpp"

#include "cairn/error.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstring>

namespace cairn::compare {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename T>
std::vector<T> elements_of(const TensorElements& tensor) {
    std::vector<T> elements(tensor.bytes.size() / sizeof(T));
    std::memcpy(elements.data(), tensor.bytes.data(), tensor.bytes.size());
    return elements;
}

TensorElements read(const std::string& text, DType dtype) { return tensor_elements(json::parse(text), dtype, "x"); }

TEST(NestedNumbers, ShapesAndElements) {
    const TensorElements matrix = read("[[1, 2.5, -3], [4, 5, 6]]", DType::f32);
    EXPECT_THAT(matrix.shape, ElementsAre(2, 3));
    EXPECT_THAT(elements_of<float>(matrix), ElementsAre(1, 2.5f, -3, 4, 5, 6));
    EXPECT_THAT(read("7", DType::i32).shape, IsEmpty());
    EXPECT_THAT(elements_of<std::int32_t>(read("7", DType::i32)), ElementsAre(7));
    EXPECT_THAT(elements_of<double>(read("[0.1]", DType::f64)), ElementsAre(0.1));
    EXPECT_THAT(elements_of<std::int64_t>(read("[-9223372036854775808, 9223372036854775807]", DType::i64)),
                ElementsAre(INT64_MIN, INT64_MAX));
    EXPECT_THAT(elements_of<std::int8_t>(read("[-128, 127]", DType::i8)), ElementsAre(-128, 127));
    EXPECT_THAT(elements_of<std::uint8_t>(read("[true, 0, 2]", DType::boolean)), ElementsAre(1, 0, 1));
    EXPECT_THAT(read("[]", DType::f32).shape, ElementsAre(0));
    EXPECT_THAT(read("[[], []]", DType::f32).shape, ElementsAre(2, 0));
}

TEST(NestedNumbers, RowsAreStacked) {
    const json a = json::parse("[1, 2]"), b = json::parse("[3, 4]"), c = json::parse("[5]");
    const TensorElements both = stacked_elements({&a, &b}, DType::i32, "x");
    EXPECT_THAT(both.shape, ElementsAre(2, 2));
    EXPECT_THAT(elements_of<std::int32_t>(both), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(test::message([&] {
                    stacked_elements({&a, &c}, DType::i32, "x");
                }),
                HasSubstr("input \"x\": rows of one request differ in shape"));
}

TEST(NestedNumbers, WrongListsAreNamed) {
    const auto refusal = [](const std::string& text, DType dtype) { return test::message([&] { read(text, dtype); }); };
    EXPECT_THAT(refusal("[[1, 2], [3]]", DType::f32), HasSubstr("input \"x\": its lists differ in length: 2 and 1"));
    for (const char* wrong : {"[[1], 2]", "[1, [2]]", "[[[1]], [2]]"})
        EXPECT_THAT(refusal(wrong, DType::f32), HasSubstr("its lists differ in depth")) << wrong;
    EXPECT_THAT(refusal("[\"1\"]", DType::f32), HasSubstr("\"1\" is no number"));
    EXPECT_THAT(refusal("[null]", DType::i32), HasSubstr("null is no number"));
    EXPECT_THAT(refusal("[1.5]", DType::i32), HasSubstr("1.5 is no integer"));
    EXPECT_THAT(refusal("[256]", DType::u8), HasSubstr("256 is not in the range of u8"));
    EXPECT_THAT(refusal("[-1]", DType::u8), HasSubstr("-1 is not in the range of u8"));
    EXPECT_THAT(refusal("[9223372036854775808]", DType::i64), HasSubstr("is not in the range of i64"));
    EXPECT_THAT(refusal("[18446744073709551615]", DType::i8), HasSubstr("is not in the range of i8"));
    EXPECT_THAT(refusal("[1]", DType::f16), HasSubstr("cannot hold f16"));
}

}  // namespace
}  // namespace cairn::compare
