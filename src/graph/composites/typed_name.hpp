#pragma once

#include "cairn/ops.hpp"

#include <string>
#include <string_view>

namespace cairn::composites {

/// An operand as shown in errors: `q f32[2,12,T,64]`.
inline std::string typed_name(std::string_view name, const Operand& operand) {
    return std::string(name) + " " + to_string(operand.tensor().dtype(), operand.tensor().shape());
}

}  // namespace cairn::composites
