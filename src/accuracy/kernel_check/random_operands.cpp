#include "accuracy/kernel_check/random_operands.hpp"

#include "graph/ir/index_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cairn::kernel_check {

interpreter::Value random_operand(const TensorDesc& tensor, std::optional<std::int64_t> limit, bool is_first,
                                  SpecialValues special, std::mt19937_64& random) {
    interpreter::Value value;
    value.dtype = tensor.dtype;
    for (const Dim& size : tensor.shape) value.shape.push_back(size.constant());
    const auto count = static_cast<std::size_t>(element_count(tensor.shape).constant());
    std::uniform_real_distribution<double> real(-2, 2);
    if (is_float(tensor.dtype)) {
        std::vector<double> elements(count);
        constexpr double special_values[] = {0.0,       -0.0, 1e-40, 65504, -3e38, INFINITY,
                                             -INFINITY, NAN,  88.8,  -104,  1e-5,  0.5};
        constexpr double rare_values[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40};
        for (double& x : elements)
            x = special == SpecialValues::many && random() % 3 == 0
                    ? special_values[random() % std::size(special_values)]
                    : real(random);
        if (special == SpecialValues::few && count > 0) {
            for (std::uint64_t left = is_first ? 1 : random() % 3; left > 0; --left)
                elements[random() % count] = rare_values[random() % std::size(rare_values)];
            if (is_first) elements[random() % count] = NAN;
        }
        value = interpreter::make_value(tensor.dtype, value.shape, elements);
        return value;
    }
    value.integers.resize(count);
    std::int64_t low = -100, high = 100;
    if (limit) {
        const std::int64_t most = size_of(tensor.dtype) == 1 ? 127 : tensor.dtype == DType::i32 ? INT32_MAX : INT64_MAX;
        low = 0, high = std::clamp<std::int64_t>(*limit - 1, 0, most);
    } else if (tensor.dtype == DType::boolean) {
        low = 0, high = 1;
    } else if (tensor.dtype == DType::u8) {
        low = 0, high = 255;
    } else if (special == SpecialValues::many) {
        low = tensor.dtype == DType::i64   ? std::numeric_limits<std::int64_t>::min()
              : tensor.dtype == DType::i32 ? INT32_MIN
                                           : -128;
        high = -(low + 1);
    }
    std::uniform_int_distribution<std::int64_t> whole(low, high);
    for (std::int64_t& x : value.integers)
        x = special != SpecialValues::many || random() % 4 != 0 ? whole(random)
                                                                : (tensor.dtype == DType::boolean ? 1
                                                                   : random() % 2 == 0            ? low
                                                                                                  : 0);
    return value;
}

RandomInputs random_inputs(const Problem& problem, std::span<const Definition> definitions, SpecialValues special,
                           std::mt19937_64& random) {
    RandomInputs inputs;
    const std::vector<std::optional<std::int64_t>> limits = ir::index_limits(problem, definitions);
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        GuardedTensor& tensor = inputs.tensors.emplace_back(problem.inputs[i], std::uint8_t{0}, 0);
        tensor.write(random_operand(problem.inputs[i], limits[i], i == 0, special, random));
        inputs.values.push_back(tensor.read());
    }
    return inputs;
}

}  // namespace cairn::kernel_check
