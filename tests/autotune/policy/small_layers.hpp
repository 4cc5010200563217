#pragma once

#include "cairn/cairn.hpp"

#include <string>

namespace cairn::test {

/// Two layers of a perceptron with norms, of N rows.
inline Graph small_layers() {
    Graph g("layers");
    const Dim n = g.symbol("N", 1, 64);
    Tensor x = g.input("x", DType::f32, {n, 64});
    for (int layer = 0; layer < 2; ++layer) {
        const std::string name = std::to_string(layer);
        const Tensor wide =
            gelu(linear(layer_norm(x, g.weight("g" + name, DType::f32, {64}), g.weight("b" + name, DType::f32, {64})),
                        g.weight("w" + name, DType::f32, {64, 96}), g.weight("v" + name, DType::f32, {96})));
        x = x + linear(wide, g.weight("u" + name, DType::f32, {96, 64}));
    }
    g.output("y", softmax(x));
    return g;
}

}  // namespace cairn::test
