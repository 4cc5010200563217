// Products of matrix fragments by a warp on tensor cores. With lane = 4 g + t, and pairs of 16-bit values:
//   a (16x16): a[0] row g, columns 2t and 2t + 1; a[1] row g + 8; a[2], a[3] the same at columns + 8
//   b (16x8):  b[0] rows 2t and 2t + 1 of column g; b[1] rows + 8
//   d (16x8):  d[0], d[1] row g, columns 2t and 2t + 1; d[2], d[3] row g + 8
// A register of a or b has four values of 8 bits, or one of 32, in place of two: a is 16x32 or 16x8, and 2t, 2t + 1 and
// + 8 become 4t to 4t + 3 and + 16, or t and + 4.
#ifndef CAIRN_EMULATED

/// d += a b with f16 operands. Sums are truncated, not rounded: long sums are better kept in f32 registers.
CAIRN_DEVICE void mma_f16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// d += a b with bf16 operands; sums as in mma_f16.
CAIRN_DEVICE void mma_bf16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// d += a b with operands of 8 bits, signed; sums are exact modulo 2^32.
CAIRN_DEVICE void mma_i8(int (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// d += a b with the bits of f32 operands, of which the lower 13 are ignored; sums as in mma_f16.
CAIRN_DEVICE void mma_tf32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Loads four 8x8 matrices of 16-bit values from shared memory: lane 8 i + r gives the address of row r of matrix i, 16
/// bytes aligned to 16; result i is row g, columns 2t and 2t + 1 of matrix i.
CAIRN_DEVICE void load_matrices(u32 (&result)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// As load_matrices, each matrix transposed: result i is rows 2t and 2t + 1 of column g.
CAIRN_DEVICE void load_matrices_transposed(u32 (&result)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
                 : "r"(shared_address(row))
                 : "memory");
}

#endif
