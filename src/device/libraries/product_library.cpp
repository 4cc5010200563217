#include "device/libraries/product_library.hpp"

namespace cairn::device {

ProductLibrary::~ProductLibrary() = default;

}  // namespace cairn::device
