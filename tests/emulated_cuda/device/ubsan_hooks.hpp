#pragma once

#include "tests/emulated_cuda/device/language.hpp"

/// The functions that -fsanitize=alignment,bounds calls at a misaligned access and at an index outside of an array: the
/// compiler may split a wide access before it is reported as one. The structures are those that compilers emit.

namespace cairn::emulated_cuda {

struct SourceLine {
    const char* file;
    unsigned line, column;
};

struct MisalignedAccess {
    SourceLine place;
    const void* type;
    unsigned char log_alignment, kind;
};

struct IndexOutOfBounds {
    SourceLine place;
};

}  // namespace cairn::emulated_cuda

#define CAIRN_HOOK extern "C" __attribute__((no_sanitize("thread", "undefined"), used))
CAIRN_HOOK void __ubsan_handle_type_mismatch_v1(cairn::emulated_cuda::MisalignedAccess* access, void* address) {
    cairn_emulator.misaligned(address, 1u << access->log_alignment, static_cast<int>(access->place.line));
}
CAIRN_HOOK void __ubsan_handle_out_of_bounds(cairn::emulated_cuda::IndexOutOfBounds* access, void* index) {
    cairn_emulator.out_of_bounds(reinterpret_cast<long long>(index), static_cast<int>(access->place.line));
}
#undef CAIRN_HOOK
