#include "cairn/units.hpp"

#include "graph/types/unit_table.hpp"

namespace cairn::inline v0 {
namespace {

constexpr std::array<std::string_view, arithmetic_count> arithmetic_names = {"f32", "f16", "bf16", "i16", "i8", "tf32"};

constexpr FeatureSet avx_vnni{Feature::avx2, Feature::avx_vnni};
constexpr FeatureSet vnni = levels::avx512 | FeatureSet{Feature::avx512_vnni};
constexpr FeatureSet amx{Feature::amx_tile};

}  // namespace

constinit const std::array<UnitInfo, unit_count> unit_table = {{
    {Unit::f32_baseline, "f32_baseline", Arithmetic::f32, levels::baseline, 8},
    {Unit::f32_avx2, "f32_avx2", Arithmetic::f32, levels::avx2, 32},
    {Unit::f32_avx512, "f32_avx512", Arithmetic::f32, levels::avx512, 64},
    {Unit::f16_avx512, "f16_avx512", Arithmetic::f16, levels::avx512 | FeatureSet{Feature::avx512_fp16}, 128},
    {Unit::bf16_avx512, "bf16_avx512", Arithmetic::bf16, levels::avx512 | FeatureSet{Feature::avx512_bf16}, 128},
    {Unit::i16_avx2, "i16_avx2", Arithmetic::i16, levels::avx2, 50},
    {Unit::i16_avx512, "i16_avx512", Arithmetic::i16, levels::avx512, 100},
    {Unit::i16_avx_vnni, "i16_avx_vnni", Arithmetic::i16, avx_vnni, 64},
    {Unit::i16_avx512_vnni, "i16_avx512_vnni", Arithmetic::i16, vnni, 128},
    {Unit::i8_avx2, "i8_avx2", Arithmetic::i8, levels::avx2, 62},
    {Unit::i8_avx512, "i8_avx512", Arithmetic::i8, levels::avx512, 124},
    {Unit::i8_avx_vnni, "i8_avx_vnni", Arithmetic::i8, avx_vnni, 128},
    {Unit::i8_avx512_vnni, "i8_avx512_vnni", Arithmetic::i8, vnni, 256},
    {Unit::bf16_amx, "bf16_amx", Arithmetic::bf16, amx | FeatureSet{Feature::amx_bf16}, 1024},
    {Unit::i8_amx, "i8_amx", Arithmetic::i8, amx | FeatureSet{Feature::amx_int8}, 2048},
}};

std::string_view to_string(Arithmetic arithmetic) noexcept {
    return arithmetic_names[static_cast<std::size_t>(arithmetic)];
}

std::string_view to_string(Unit unit) noexcept { return row_of(unit).name; }

std::optional<Unit> unit_of(Arithmetic arithmetic, FeatureSet needs) noexcept {
    const UnitInfo* most = nullptr;
    for (const UnitInfo& row : unit_table)
        if (row.arithmetic == arithmetic && needs.includes(row.needs) &&
            (most == nullptr || row.per_cycle > most->per_cycle))
            most = &row;
    return most == nullptr ? std::nullopt : std::optional(most->unit);
}

}  // namespace cairn::inline v0
