// Runs the calls that bare_test left in memory, with the object of a level that the library is linked from, and reports
// over the serial line where results differ from the twin's.
#include "graph/types/half.hpp"
#include "kernels/cpu/table.hpp"
#include "tests/kernels/bare/case.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#define CAIRN_JOIN(a, b) a##b
#define CAIRN_TABLE_OF(level) CAIRN_JOIN(cairn_table_, level)

// The C library's memcpy selects a variant at startup, which does not run here.
extern "C" {
void* memcpy(void* to, const void* from, std::size_t count) {
    void* const begin = to;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    return begin;
}
void* memmove(void* to, const void* from, std::size_t count) {
    if (to <= from) return memcpy(to, from, count);
    auto* last_to = static_cast<char*>(to) + count - 1;
    const auto* last_from = static_cast<const char*>(from) + count - 1;
    asm volatile("std\n rep movsb\n cld" : "+D"(last_to), "+S"(last_from), "+c"(count) : : "memory");
    return to;
}
void* memset(void* to, int byte, std::size_t count) {
    void* const begin = to;
    asm volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(byte) : "memory");
    return begin;
}
}

namespace {

void to_port(std::uint16_t port, std::uint8_t byte) { asm volatile("outb %0, %1" : : "a"(byte), "Nd"(port)); }
std::uint8_t from_port(std::uint16_t port) {
    std::uint8_t byte;
    asm volatile("inb %1, %0" : "=a"(byte) : "Nd"(port));
    return byte;
}

void print(const char* text) {
    for (; *text != 0; ++text) {
        while ((from_port(0x3fd) & 0x20) == 0) {}
        to_port(0x3f8, static_cast<std::uint8_t>(*text));
    }
}
void print(std::int64_t number) {
    char digits[24] = {};
    int at = 23;
    const bool is_negative = number < 0;
    auto rest = is_negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    do digits[--at] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (is_negative) digits[--at] = '-';
    print(digits + at);
}

/// Reads the disk from its beginning into memory.
void read_disk(std::byte* to, std::int64_t bytes) {
    constexpr std::int64_t sector = 512, max_sectors = 128;
    for (std::int64_t first = 0; first * sector < bytes; first += max_sectors) {
        while ((from_port(0x1f7) & 0x80) != 0) {}
        to_port(0x1f6, static_cast<std::uint8_t>(0xe0 | first >> 24));
        to_port(0x1f2, max_sectors);
        for (int i = 0; i < 3; ++i)
            to_port(static_cast<std::uint16_t>(0x1f3 + i), static_cast<std::uint8_t>(first >> 8 * i));
        to_port(0x1f7, 0x20);
        for (std::int64_t i = 0; i < max_sectors; ++i) {
            while ((from_port(0x1f7) & 0x88) != 0x08) {}
            std::int64_t words = sector / 2;
            asm volatile("rep insw" : "+D"(to), "+c"(words) : "d"(std::uint16_t{0x1f0}) : "memory");
        }
    }
}

[[noreturn]] void shut_down() {
    while ((from_port(0x3fd) & 0x40) == 0) {  // the last byte is still being sent
    }
    for (;;)
        for (const char* word = "Shutdown"; *word != 0; ++word) to_port(0x8900, static_cast<std::uint8_t>(*word));
}

/// The relocations by which libm selects its variants; normally done by a program's startup code.
struct Relocation {
    std::uint64_t at, kind, resolver;
};
extern "C" const Relocation __rela_iplt_start[], __rela_iplt_end[];
void choose_variants() {
    for (const Relocation* r = __rela_iplt_start; r != __rela_iplt_end; ++r)
        *reinterpret_cast<std::uint64_t*>(r->at) = reinterpret_cast<std::uint64_t (*)()>(r->resolver)();
}

std::int64_t next = 0, running = 0;  // the next chunk, and the current case

using cairn::DType;
using cairn::test::bare::Result;

template <typename T>
T element(const std::byte* from, std::int64_t i) {
    T value;
    std::memcpy(&value, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof value);
    return value;
}

/// An element as a double, and its tolerance against the twin: the levels contract products and sums, the twins do not.
double number(DType dtype, const std::byte* from, std::int64_t i) {
    switch (dtype) {
        case DType::f64: return element<double>(from, i);
        case DType::f32: return element<float>(from, i);
        case DType::f16: return cairn::types::f16_to_f32(element<std::uint16_t>(from, i));
        case DType::bf16: return cairn::types::bf16_to_f32(element<std::uint16_t>(from, i));
        case DType::i64: return static_cast<double>(element<std::int64_t>(from, i));
        case DType::i32: return element<std::int32_t>(from, i);
        default: return element<std::int8_t>(from, i);
    }
}
double tolerance(DType dtype) {
    switch (dtype) {
        case DType::f64: return 1e-13;
        case DType::f32: return 4e-6;
        case DType::f16: return 0x1p-10;
        case DType::bf16: return 0x1p-7;
        default: return 0;
    }
}
std::int64_t bytes_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
        case DType::i64: return 8;
        case DType::f32:
        case DType::i32: return 4;
        case DType::f16:
        case DType::bf16: return 2;
        default: return 1;
    }
}

/// Counts the elements that differ from the twin's, and reports the first.
std::int64_t wrong_of(std::int64_t number_of_case, const Result& result) {
    const std::int64_t size = bytes_of(result.dtype);
    double squares = 0;
    for (std::int64_t i = 0; i < result.count; ++i) {
        const double x = number(result.dtype, result.wanted, i);
        if (x - x == 0 && x < 1e18 && x > -1e18) squares += x * x / static_cast<double>(result.count);
    }
    const double scale = std::sqrt(squares);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < result.count; ++i) {
        if (std::memcmp(result.got + i * size, result.wanted + i * size, static_cast<std::size_t>(size)) == 0) continue;
        const double got = number(result.dtype, result.got, i), wanted = number(result.dtype, result.wanted, i);
        const double magnitude = wanted < 0 ? -wanted : wanted, far = got < wanted ? wanted - got : got - wanted;
        const bool both_nan = got != got && wanted != wanted;
        if (both_nan || far <= tolerance(result.dtype) * (magnitude > scale ? magnitude : scale)) continue;
        if (wrong++ > 0) continue;
        print("case "), print(number_of_case), print(" element "), print(i), print(": millionths "),
            print(static_cast<std::int64_t>(got * 1e6));
        print(", not "), print(static_cast<std::int64_t>(wanted * 1e6)), print("\n");
    }
    return wrong;
}

}  // namespace

namespace cairn::inline v0 {
std::int64_t Team::next_chunk() noexcept { return next++; }
void Team::barrier() {}
void Team::fail(const char* reason) noexcept { print("failed: "), print(reason), print("\n"); }
void Team::fail(const char* reason, int, std::int64_t, std::int64_t) noexcept { fail(reason); }
}  // namespace cairn::inline v0

extern "C" [[noreturn]] void on_exception(std::int64_t vector, std::int64_t at, std::int64_t above) {
    // Some exceptions push an error code below the address.
    print("exception "), print(vector), print(" at "), print(at), print(" "), print(above), print(", in case "),
        print(running), print("\n");
    shut_down();
}

extern "C" [[noreturn]] void run() {
    using namespace cairn::test::bare;
    to_port(0x3fb, 3);  // 8 data bits on the serial line
    choose_variants();
    using Function = void (*)(const cairn::Args&, cairn::Team&);
    Function functions[sizeof CAIRN_TABLE_OF(CAIRN_ISA) / sizeof(Function)];
    std::memcpy(functions, &CAIRN_TABLE_OF(CAIRN_ISA), sizeof functions);
    const auto* cases = reinterpret_cast<const Cases*>(cases_at);
    auto* const memory = reinterpret_cast<std::byte*>(cases_at);
    read_disk(memory, 1);
    read_disk(memory, cases->bytes);
    std::int64_t wrong = 0, elements = 0;
    for (std::int64_t i = 0; i < cases->count; ++i) {
        const Case& each = cases->cases[i];
        next = 0;
        running = i;
        cairn::Team team(0, 1, nullptr);
        functions[each.function](each.args, team);
        for (std::int64_t r = 0; r < each.result_count; ++r) {
            wrong += wrong_of(i, each.results[r]);
            elements += each.results[r].count;
        }
    }
    print("wrong "), print(wrong), print(" of "), print(elements), print(" in "), print(cases->count),
        print(" cases\n");
    shut_down();
}
