#pragma once

#include "tests/emulated_cuda/device/language.hpp"

/// The functions that -fsanitize=thread calls before each access to memory that may be shared: they report the access
/// to the emulator. No sanitizer library is linked.

#define CAIRN_HOOK extern "C" __attribute__((no_sanitize("thread"), used))
#define CAIRN_REPORT(bytes, kind) cairn_emulator.access(address, bytes, kind, __builtin_return_address(0));
#define CAIRN_ACCESS_HOOKS(bytes)                                                                                  \
    CAIRN_HOOK void __tsan_read##bytes(void* address){CAIRN_REPORT(bytes, 0)} CAIRN_HOOK void __tsan_write##bytes( \
        void* address){CAIRN_REPORT(bytes, 1)} CAIRN_HOOK void __tsan_unaligned_read##bytes(void* address){        \
        CAIRN_REPORT(bytes, 4)} CAIRN_HOOK void __tsan_unaligned_write##bytes(void* address){                      \
        CAIRN_REPORT(bytes, 5)} CAIRN_HOOK void __tsan_volatile_read##bytes(void* address){                        \
        CAIRN_REPORT(bytes, 0)} CAIRN_HOOK void __tsan_volatile_write##bytes(void* address) {                      \
        CAIRN_REPORT(bytes, 1)                                                                                     \
    }
CAIRN_ACCESS_HOOKS(1)
CAIRN_ACCESS_HOOKS(2)
CAIRN_ACCESS_HOOKS(4)
CAIRN_ACCESS_HOOKS(8)
CAIRN_ACCESS_HOOKS(16)
CAIRN_HOOK void __tsan_read_range(void* address, size_t bytes){CAIRN_REPORT(bytes, 4)} CAIRN_HOOK
    void __tsan_write_range(void* address, size_t bytes){CAIRN_REPORT(bytes, 5)} CAIRN_HOOK
    void __tsan_func_entry(void*) {}
CAIRN_HOOK void __tsan_func_exit(void*) {}
CAIRN_HOOK void __tsan_init() {}
#undef CAIRN_ACCESS_HOOKS
#undef CAIRN_REPORT
#undef CAIRN_HOOK
