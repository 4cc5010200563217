#include "tests/kernels/instruction_table.hpp"

#include "kernels/cpu/simd/vector/tile_registers.hpp"
#include "kernels/cpu/simd/vector/vector.hpp"

// Compiled once for each instruction set that the functions below use, and as their twins. Instantiated templates have
// internal linkage: the linker must not mix the compilations.
#define CAIRN_JOIN(a, b) a##b
#define CAIRN_INSTRUCTIONS_OF(level) CAIRN_JOIN(cairn_instructions_, level)

namespace CAIRN_LEVEL {
namespace {

template <typename V>
V vector_at(const void* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <typename V>
void put(void* p, const V& v) {
    __builtin_memcpy(p, &v, sizeof v);
}

template <typename Sum, typename V, void (*f)(Sum&, V, V)>
void sum_of(void* result, const void* a, const void* b) {
    Sum sum = vector_at<Sum>(result);
    f(sum, vector_at<V>(a), vector_at<V>(b));
    put(result, sum);
}
template <typename R, typename V, R (*f)(V)>
void result_of(void* result, const void* a, const void*) {
    put(result, f(vector_at<V>(a)));
}
template <typename V, V (*f)(V, V)>
void result_of_two(void* result, const void* a, const void* b) {
    put(result, f(vector_at<V>(a), vector_at<V>(b)));
}

using U16 = std::uint16_t __attribute__((vector_size(4 * lanes)));

[[maybe_unused]] TileShapes shapes_of(int rows, int columns, int depth) {
    TileShapes shapes;
    const auto set = [&](int tile, int height, int width) {
        shapes.rows[tile] = static_cast<std::uint8_t>(height);
        shapes.row_bytes[tile] = static_cast<std::uint16_t>(4 * width);
    };
    set(2, rows, columns);
    set(5, rows, depth);
    set(7, depth, columns);
    return shapes;
}

#if defined(CAIRN_EMULATED) || defined(__AMX_TILE__)
template <void (*dot)()>
void tile_product(void* c, const void* a, const void* b, int rows, int columns, int depth) {
    configure_tiles(shapes_of(rows, columns, depth));
    Tile<2>::zero();
    Tile<2>::load(c, 4 * columns);
    Tile<5>::load(a, 4 * depth);
    Tile<7>::load(b, 4 * columns);
    dot();
    Tile<2>::store(c, 4 * columns);
    release_tiles();
}
#endif

constexpr cairn::test::InstructionTable make() {
    cairn::test::InstructionTable table{};
    table.lanes = lanes;
#if defined(CAIRN_EMULATED) || defined(__FMA__)
    table.multiply_add = sum_of<F32, F32, multiply_add>;
    table.multiply_add_f64 = sum_of<F64, F64, multiply_add>;
    table.multiply_add_u16 = sum_of<U16, U16, multiply_add<U16>>;
    table.multiply_add_u32 = sum_of<U32, U32, multiply_add<U32>>;
    table.sqrt = result_of<F32, F32, sqrt>;
    table.from_f16 = result_of<F32, Halves, from_f16>;
    table.to_f16 = result_of<Halves, F32, to_f16>;
    table.pairs_i16 = result_of_two<I32, pairs_i16>;
    table.pairs_u8_i8 = result_of_two<I32, pairs_u8_i8>;
    table.load_part = [](float* to, const float* from, std::int64_t count) { store(to, load_part(from, count)); };
    table.store_part = [](float* to, const float* from, std::int64_t count) { store_part(to, load(from), count); };
#endif
#if defined(CAIRN_HAS_SCALE)
    table.scaled = result_of_two<F32, scaled>;
#endif
#if defined(CAIRN_EMULATED) || defined(__AVX512VNNI__) || defined(__AVXVNNI__)
    table.dot_i16 = sum_of<I32, I32, dot_i16>;
    table.dot_i16_saturated = sum_of<I32, I32, dot_i16_saturated>;
    table.dot_u8_i8 = sum_of<I32, I32, dot_u8_i8>;
    table.dot_u8_i8_saturated = sum_of<I32, I32, dot_u8_i8_saturated>;
#endif
#if defined(CAIRN_EMULATED) || defined(__AVX512BF16__)
    table.dot_bf16 = sum_of<F32, I32, dot_bf16>;
    table.to_bf16 = result_of<Halves, F32, to_bf16>;
#endif
#if defined(CAIRN_EMULATED) || defined(__AMX_TILE__)
    table.tile_i8 = tile_product<Tile<2>::dot_i8<5, 7>>;
    table.tile_u8_i8 = tile_product<Tile<2>::dot_u8_i8<5, 7>>;
    table.tile_bf16 = tile_product<Tile<2>::dot_bf16<5, 7>>;
#endif
    return table;
}

}  // namespace
}  // namespace CAIRN_LEVEL

constinit const cairn::test::InstructionTable CAIRN_INSTRUCTIONS_OF(CAIRN_ISA) = cairn::kernels::cpu::CAIRN_ISA::make();
