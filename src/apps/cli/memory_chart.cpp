#include "apps/cli/memory_chart.hpp"

#include "apps/cli/dataflow.hpp"
#include "apps/cli/output.hpp"
#include "apps/cli/report_style.hpp"
#include "apps/cli/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::cli {
namespace {

constexpr double width = 1090, height = 380, left = 74, bottom = 30, top = 8;

/// Grid step: 1, 2 or 5 times a power of ten, about a sixth of `whole`.
double step_of(double whole) {
    const double rough = std::max(whole / 6, 1e-300), power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (power * factor >= rough) return power * factor;
    return power * 10;
}

/// Grid step in bytes: a power of two.
double byte_step_of(double whole) { return std::exp2(std::max(0.0, std::ceil(std::log2(std::max(whole / 6, 1.0))))); }

}  // namespace

std::vector<ArenaBlock> arena_blocks(const MemoryReport& memory) {
    std::vector<ArenaBlock> pieces;
    for (const BufferMemory& buffer : memory.buffers) {
        if (buffer.offset < 0 || buffer.peak_bytes == 0) continue;
        const auto same = std::find_if(pieces.begin(), pieces.end(), [&](const ArenaBlock& piece) {
            return piece.offset == buffer.offset && piece.first == buffer.first && piece.last == buffer.last;
        });
        if (same == pieces.end()) {
            pieces.push_back({buffer.first, buffer.last, buffer.offset, buffer.peak_bytes, buffer.name});
            continue;
        }
        same->bytes = std::max(same->bytes, buffer.peak_bytes);
        same->names += ", then " + buffer.name;
    }
    return pieces;
}

std::string memory_chart(const ReportData& study) {
    const auto instructions = study.instructions();
    const double count = std::max<double>(1, static_cast<double>(instructions.size()));
    const double arena = std::max<double>(1, static_cast<double>(study.memory.arena));
    const double across = (width - left - 6) / count, up = (height - bottom - top) / arena;
    const auto x_of = [&](double instruction) { return left + instruction * across; };
    const auto y_of = [&](double bytes) { return height - bottom - bytes * up; };
    Svg svg(width, height, "arena memory by instruction");
    const double bytes_step = byte_step_of(arena), count_step = std::max(1.0, step_of(count));
    for (double bytes = 0; bytes <= arena; bytes += bytes_step) {
        svg.line(left, y_of(bytes), width - 6, y_of(bytes), "rule");
        svg.text(left - 8, y_of(bytes) + 4, bytes_text(bytes), "small end");
    }
    for (double i = 0; i < count; i += count_step)
        svg.text(x_of(i + 0.5), height - bottom + 18, fmt::format("{}", i), "small middle");
    for (const ArenaBlock& piece : arena_blocks(study.memory)) {
        const double x = x_of(piece.first), w = x_of(piece.last + 1) - x, h = static_cast<double>(piece.bytes) * up;
        const double y = y_of(static_cast<double>(piece.offset)) - h;
        const std::string definition =
            definition_of(instructions[static_cast<std::size_t>(piece.first)]->chosen.problem);
        const std::string title =
            fmt::format("{}: {} from {} on, needed by instructions {} to {}, {}", definition,
                        bytes_text(static_cast<double>(piece.bytes)), bytes_text(static_cast<double>(piece.offset)),
                        piece.first, piece.last, piece.names);
        svg.rect(x, y, w, std::max(h, 1.0), fmt::format("memory {}", style_of(definition)), title);
        const auto letters = static_cast<std::size_t>(std::max(0.0, (w - 8) / 6.6));
        if (h >= 14 && letters >= 4) svg.text(x + 4, y + h / 2 + 4, shortened(definition, letters), "inside", title);
    }
    return std::move(svg).finish();
}

}  // namespace cairn::cli
