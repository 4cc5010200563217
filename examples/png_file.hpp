#pragma once

#include <cstdint>
#include <span>
#include <string>

/// PNG files with 8 bits for each channel.
namespace png_file {

/// Writes rows of pixels: grey with 1 channel, red, green and blue with 3. Throws cairn::Error(file) naming the path
/// and libpng's reason.
void write(const std::string& path, std::span<const std::uint8_t> pixels, std::uint32_t width, std::uint32_t height,
           int channels);

}  // namespace png_file
