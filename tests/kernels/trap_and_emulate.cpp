#include "tests/kernels/trap_and_emulate.hpp"

#include "kernels/cpu/simd/vector/emulated_tiles.hpp"

#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <csignal>

namespace cairn::test {
namespace {

namespace lane = kernels::cpu::lane;

volatile std::sig_atomic_t trapped = 0;

/// Offsets of the parts of vector registers in the system's register image (XSAVE, not compacted).
struct ComponentOffsets {
    std::size_t ymm_high, zmm_high, zmm_upper;
};
ComponentOffsets offsets{};

std::size_t offset_of(unsigned component) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(13, component, &a, &b, &c, &d);
    return b;
}

/// The thread as interrupted by the signal.
class Stopped {
public:
    explicit Stopped(ucontext_t* context) : context_(context) {}

    std::int64_t& general(int number) {
        static constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
        return reinterpret_cast<std::int64_t&>(context_->uc_mcontext.gregs[order[number]]);
    }
    greg_t& next() { return context_->uc_mcontext.gregs[REG_RIP]; }

    /// Reads 64 bytes; bytes beyond the registers that the system saved are zero.
    void read(int number, std::byte* to) {
        std::memset(to, 0, 64);
        if (number >= 16) {
            if (is_saved(7)) std::memcpy(to, image() + offsets.zmm_upper + 64 * (number - 16), 64);
            return;
        }
        std::memcpy(to, image() + 160 + 16 * number, 16);
        if (is_saved(2)) std::memcpy(to + 16, image() + offsets.ymm_high + 16 * number, 16);
        if (is_saved(6)) std::memcpy(to + 32, image() + offsets.zmm_high + 32 * number, 32);
    }
    void write(int number, const std::byte* from) {
        if (number >= 16) {
            save(7);
            std::memcpy(image() + offsets.zmm_upper + 64 * (number - 16), from, 64);
            return;
        }
        save(1);
        std::memcpy(image() + 160 + 16 * number, from, 16);
        save(2);
        std::memcpy(image() + offsets.ymm_high + 16 * number, from + 16, 16);
        if (offsets.zmm_high == 0) return;
        save(6);
        std::memcpy(image() + offsets.zmm_high + 32 * number, from + 32, 32);
    }

private:
    char* image() { return reinterpret_cast<char*>(context_->uc_mcontext.fpregs); }
    bool is_saved(int component) {
        std::uint64_t saved;
        std::memcpy(&saved, image() + 512, 8);
        return (saved >> component & 1) != 0;
    }
    // A component in its initial state may be absent from the image: it is then zero, and so are its unwritten
    // registers.
    void save(int component) {
        if (is_saved(component)) return;
        struct Part {
            std::size_t at, size;
        };
        const Part parts[] = {{0, 0}, {160, 256}, {offsets.ymm_high, 256}, {0, 0},
                              {0, 0}, {0, 0},     {offsets.zmm_high, 512}, {offsets.zmm_upper, 1024}};
        std::memset(image() + parts[component].at, 0, parts[component].size);
        std::uint64_t saved;
        std::memcpy(&saved, image() + 512, 8);
        saved |= std::uint64_t{1} << component;
        std::memcpy(image() + 512, &saved, 8);
    }

    ucontext_t* context_;
};

/// An instruction with VEX or EVEX encoding of the second opcode map (0F 38).
struct Decoded {
    int prefix, opcode, bytes, reg, left, right;  ///< bytes: of its vectors
    bool is_evex = false, is_broadcast = false, in_memory;
    std::int64_t base = 0, index = 0;  ///< of the operand in memory: its address is their sum
};

/// Decodes an instruction at `code` and advances `code` past it; false if it is none of these.
bool decode(Stopped& thread, const std::uint8_t*& code, Decoded& d) {
    const std::uint8_t* p = code;
    int reg_high, base_high, index_high, rm_high = 0;
    if (p[0] == 0xc4) {
        if ((p[1] & 0x1f) != 2 || (p[2] & 0x80) != 0) return false;
        reg_high = p[1] & 0x80 ? 0 : 8;
        index_high = p[1] & 0x40 ? 0 : 8;
        base_high = p[1] & 0x20 ? 0 : 8;
        d.left = ~p[2] >> 3 & 15;
        d.bytes = p[2] & 4 ? 32 : 16;
        d.prefix = p[2] & 3;
        p += 3;
    } else if (p[0] == 0x62) {
        const bool is_masked = (p[3] & 0x87) != 0, is_wide = (p[2] & 0x80) != 0;
        if ((p[1] & 0x0f) != 2 || is_masked || is_wide || (p[3] & 0x60) == 0x60) return false;
        reg_high = (p[1] & 0x80 ? 0 : 8) + (p[1] & 0x10 ? 0 : 16);
        index_high = p[1] & 0x40 ? 0 : 8;
        base_high = p[1] & 0x20 ? 0 : 8;
        rm_high = p[1] & 0x40 ? 0 : 16;
        d.left = (~p[2] >> 3 & 15) + (p[3] & 8 ? 0 : 16);
        d.bytes = 16 << (p[3] >> 5 & 3);
        d.prefix = p[2] & 3;
        d.is_evex = true;
        d.is_broadcast = (p[3] & 0x10) != 0;
        p += 4;
    } else {
        return false;
    }
    d.opcode = *p++;
    const int form = *p++, mode = form >> 6, low = form & 7;
    d.reg = (form >> 3 & 7) + reg_high;
    d.in_memory = mode != 3;
    if (!d.in_memory) {
        d.right = low + base_high + rm_high;
        if (d.is_broadcast) return false;
        code = p;
        return true;
    }
    bool from_next = false, has_base = true;
    int base = low + base_high;
    if (low == 4) {
        const int sib = *p++, index = (sib >> 3 & 7) + index_high;
        base = (sib & 7) + base_high;
        if (index != 4) d.index = thread.general(index) * (std::int64_t{1} << (sib >> 6));
        if ((sib & 7) == 5 && mode == 0) has_base = false;
    } else if (low == 5 && mode == 0) {
        from_next = true;
        has_base = false;
    }
    if (mode == 1) {
        const int unit = !d.is_evex ? 1 : d.is_broadcast ? 4 : d.bytes;
        d.base = static_cast<std::int8_t>(*p++) * unit;
    } else if (mode == 2 || !has_base) {
        std::int32_t distance;
        std::memcpy(&distance, p, 4);
        d.base = distance;
        p += 4;
    }
    if (has_base) d.base += thread.general(base);
    if (from_next) d.base += reinterpret_cast<std::int64_t>(p);
    code = p;
    return true;
}

/// In AMX the register fields name tiles instead of vectors.
bool compute_on_tiles(const Decoded& d) {
    lane::EmulatedTiles& tiles = lane::tiles();
    auto* const memory = reinterpret_cast<char*>(d.base);
    const int c = d.reg & 7, a = d.right & 7, b = d.left & 7;
    if (d.is_evex || d.bytes != 16) return false;
    switch (d.opcode << 4 | d.prefix) {
        case 0x490: d.in_memory ? tiles.configure(memory + d.index) : tiles.release(); return true;
        case 0x493: tiles.zero(c); return !d.in_memory;
        case 0x4b3:
        case 0x4b1: tiles.load(c, memory, d.index); return d.in_memory;
        case 0x4b2: tiles.store(c, memory, d.index); return d.in_memory;
        case 0x5e3: tiles.dot<std::int8_t, std::int8_t>(c, a, b); return true;
        case 0x5e2: tiles.dot<std::int8_t, std::uint8_t>(c, a, b); return true;
        case 0x5e1: tiles.dot<std::uint8_t, std::int8_t>(c, a, b); return true;
        case 0x5e0: tiles.dot<std::uint8_t, std::uint8_t>(c, a, b); return true;
        case 0x5c2: tiles.dot_bf16(c, a, b); return true;
        default: return false;
    }
}

bool compute_on_vectors(Stopped& thread, const Decoded& d) {
    alignas(64) std::byte a[64], b[64], sum[64];
    thread.read(d.left, a);
    thread.read(d.reg, sum);
    if (!d.in_memory) {
        thread.read(d.right, b);
    } else {
        const auto* from = reinterpret_cast<const std::byte*>(d.base + d.index);
        for (int i = 0; i < d.bytes; i += 4) std::memcpy(b + i, d.is_broadcast ? from : from + i, 4);
    }
    int written = d.bytes;
    const auto each = [&](auto f) {
        for (int i = 0; i < d.bytes; i += 4) {
            decltype(f(0, 0, 0)) s;
            std::int32_t x, y;
            std::memcpy(&s, sum + i, 4);
            std::memcpy(&x, a + i, 4);
            std::memcpy(&y, b + i, 4);
            s = f(s, x, y);
            std::memcpy(sum + i, &s, 4);
        }
        return true;
    };
    const auto known = [&] {
        switch (d.opcode << 4 | d.prefix) {
            case 0x501: return each([](std::int32_t s, int x, int y) { return lane::dot_u8_i8(s, x, y); });
            case 0x511: return each([](std::int32_t s, int x, int y) { return lane::dot_u8_i8_saturated(s, x, y); });
            case 0x521: return each([](std::int32_t s, int x, int y) { return lane::dot_i16(s, x, y); });
            case 0x531: return each([](std::int32_t s, int x, int y) { return lane::dot_i16_saturated(s, x, y); });
            case 0x522: return d.is_evex && each([](float s, int x, int y) { return lane::dot_bf16(s, x, y); });
            case 0x722:
                for (int i = 0; i < d.bytes; i += 4) {
                    float x;
                    std::memcpy(&x, b + i, 4);
                    const std::uint16_t half = lane::to_bf16(x);
                    std::memcpy(sum + i / 2, &half, 2);
                }
                written = d.bytes / 2;
                return d.is_evex;
            default: return false;
        }
    };
    if (!known()) return false;
    std::memset(sum + written, 0, static_cast<std::size_t>(64 - written));
    thread.write(d.reg, sum);
    return true;
}

void on_illegal(int, siginfo_t*, void* context) {
    Stopped thread(static_cast<ucontext_t*>(context));
    const auto* code = reinterpret_cast<const std::uint8_t*>(thread.next());
    if (code[0] == 0x0f && code[1] == 0x0b) code += 2;
    Decoded decoded{};
    if (!decode(thread, code, decoded) || !(compute_on_tiles(decoded) || compute_on_vectors(thread, decoded))) {
        static constexpr char text[] = "an instruction is neither the CPU's nor one that the trap knows\n";
        [[maybe_unused]] const auto written = write(2, text, sizeof text - 1);
        signal(SIGILL, SIG_DFL);
        return;
    }
    thread.next() = reinterpret_cast<greg_t>(code);
    trapped = trapped + 1;
}

}  // namespace

void trap_missing_instructions() {
    offsets = {offset_of(2), offset_of(6), offset_of(7)};
    // If the CPU has tiles, the system must grant them; otherwise this fails and they are trapped.
    constexpr int request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
    syscall(SYS_arch_prctl, request, tile_data);
    struct sigaction action {};
    action.sa_sigaction = on_illegal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, nullptr);
}

long trapped_instructions() noexcept { return trapped; }

}  // namespace cairn::test
