#include "examples/png_file.hpp"

#include "cairn/error.hpp"

#include <png.h>

namespace png_file {

void write(const std::string& path, std::span<const std::uint8_t> pixels, std::uint32_t width, std::uint32_t height,
           int channels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    if (pixels.size() != PNG_IMAGE_SIZE(image))
        throw cairn::Error(cairn::ErrorKind::argument, "output", "the number of pixels is not width times height");
    if (png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) == 0)
        throw cairn::Error(cairn::ErrorKind::file, "output", "cannot write " + path + ": " + image.message);
}

}  // namespace png_file
