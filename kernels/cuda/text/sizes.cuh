// Integer functions of sizes, and checks of addresses.

/// floor(a / b).
CAIRN_DEVICE i64 floordiv(i64 a, i64 b) {
    const i64 quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// The remainder of floordiv, with the sign of b.
CAIRN_DEVICE i64 floormod(i64 a, i64 b) { return a - floordiv(a, b) * b; }

CAIRN_DEVICE i64 smaller(i64 a, i64 b) { return a < b ? a : b; }
CAIRN_DEVICE i64 larger(i64 a, i64 b) { return a > b ? a : b; }

/// True if 16 bytes can be loaded and stored at the address at once.
CAIRN_DEVICE bool is_aligned(const void* address) { return (u64(address) & 15) == 0; }
