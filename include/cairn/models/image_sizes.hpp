#pragma once

#include <cstdint>

namespace cairn::inline v0::models {

/// The sizes of images that the graph of a denoiser accepts.
struct ImageSizes {
    std::int64_t max_batch = 8;  ///< images of a run; with classifier-free guidance each image takes two
    /// Height and width are then symbols, from the size step of the model up to this. 0: those of the images that the
    /// model was trained on, and no others, for which kernels are fastest.
    std::int64_t max_height = 0, max_width = 0;
};

}  // namespace cairn::inline v0::models
