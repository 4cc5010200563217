#include "apps/cli/report_style.hpp"

#include <algorithm>
#include <initializer_list>

namespace cairn::cli {
namespace {

bool names_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

std::string_view style_of(std::string_view definition) {
    if (names_any(definition, {"attention"})) return "attention";
    if (names_any(definition, {"pack", "copy", "gather", "scatter", "concat", "state", "embedding", "take", "iota",
                               "reshape", "transpose", "slice", "broadcast", "pad", "window"}))
        return "moves";
    if (names_any(definition, {"norm", "softmax", "sum", "reduce", "argmax", "mean", "prod", "sort", "pool"}))
        return "rows";
    if (names_any(definition, {"matmul", "fused", "linear", "conv", "gated", "swiglu", "product"})) return "product";
    return "pointwise";
}

std::string_view report_style() {
    return R"css(
:root { color-scheme: light dark;
  --page: #fbfbf9; --ink: #1d1f23; --soft: #5d636e; --rule: #d9dbe0; --panel: #ffffff; --accent: #0b5cad;
  --product: #3b77c2; --attention: #b0578d; --rows: #2f8f6b; --pointwise: #c27a1a; --moves: #7d8490;
  --new: #2f7d4f; --old: #b4452f; --on: #ffffff; }
@media (prefers-color-scheme: dark) { :root {
  --page: #15171b; --ink: #e8e9ec; --soft: #a3a9b5; --rule: #343943; --panel: #1d2026; --accent: #7ab8ff;
  --product: #6ea6ec; --attention: #e08fbe; --rows: #5fc49d; --pointwise: #e8ab55; --moves: #a1a8b5;
  --new: #74c994; --old: #f08d76; --on: #101215; } }
body { margin: 0 auto; padding: 28px 24px 60px; max-width: 1140px; background: var(--page); color: var(--ink);
  font: 14px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 17px; margin: 36px 0 6px; }
p { margin: 4px 0 12px; color: var(--soft); max-width: 80ch; }
code, td.call { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 16px 0 4px; }
.tile { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 14px; }
.tile b { display: block; font-size: 20px; font-weight: 600; } .tile span { color: var(--soft); font-size: 12px; }
.panel { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; overflow-x: auto; }
.panel svg { display: block; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; font-weight: 600; color: var(--soft); } th, td { padding: 4px 10px 4px 0; vertical-align: top; }
tr + tr td { border-top: 1px solid var(--rule); } td.number, th.number { text-align: right; white-space: nowrap; padding-right: 22px; }
td.call { overflow-wrap: anywhere; } td.half { width: 50%; } td.gone { color: var(--old); } td.come { color: var(--new); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 8px; font-size: 12px; color: var(--soft); }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; vertical-align: -1px; }
i.product { background: var(--product); } i.attention { background: var(--attention); } i.rows { background: var(--rows); }
i.pointwise { background: var(--pointwise); } i.moves { background: var(--moves); } i.tick { background: var(--ink); width: 2px; }
svg text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
svg text.small { font-size: 11px; fill: var(--soft); } svg text.soft { fill: var(--soft); } svg text.strong { font-weight: 600; }
svg text.end { text-anchor: end; } svg text.small.end { text-anchor: end; } svg text.small.middle { text-anchor: middle; }
svg text.inside { font-size: 11px; fill: var(--on); }
svg .product { fill: var(--product); } svg .attention { fill: var(--attention); } svg .rows { fill: var(--rows); }
svg .pointwise { fill: var(--pointwise); } svg .moves { fill: var(--moves); }
svg .edge { stroke: var(--soft); stroke-width: 1.2; fill: none; } svg .rule { stroke: var(--rule); stroke-width: 1; }
svg .tick { stroke: var(--ink); stroke-width: 2; } svg .curve { stroke: var(--accent); stroke-width: 2; fill: none; }
svg .dot { fill: var(--accent); } svg .memory { stroke: var(--panel); stroke-width: 0.8; }
svg .band { fill: var(--ink); opacity: 0.035; }
)css";
}

}  // namespace cairn::cli
