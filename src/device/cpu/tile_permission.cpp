#include "device/cpu/tile_permission.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace cairn::device {

std::string request_tiles() {
#if defined(__x86_64__) && defined(__linux__)
    constexpr int request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    if (syscall(SYS_arch_prctl, request_permission, tile_data) == 0) return {};
    const int reason = errno;
    if (reason == ENOSPC)
        return "the operating system refuses the tile registers: the alternate signal stack of a thread is too small "
               "for them";
    return fmt::format("the operating system refuses the tile registers: {}", std::generic_category().message(reason));
#else
    return "the operating system has no tile registers";
#endif
}

}  // namespace cairn::device
