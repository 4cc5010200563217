#pragma once

/// Weights of cubic convolution (Keys, 1981) with its parameter `a`, for numbers and tensors of distances `d`.
namespace cairn::inline v0::onnx {

/// For distances of at most 1.
template <typename Distance>
Distance cubic_weight_near(const Distance& d, double a) {
    return ((a + 2) * d - (a + 3)) * d * d + 1;
}

/// For distances from 1 to 2.
template <typename Distance>
Distance cubic_weight_far(const Distance& d, double a) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

}  // namespace cairn::inline v0::onnx
