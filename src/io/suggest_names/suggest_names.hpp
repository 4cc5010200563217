#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::files {

/// The names that a misspelled one most likely refers to, the likeliest first, at most `most`: first those that differ
/// only at the start (a missing, superfluous or other prefix), then by edit distance. Ties keep the given order.
/// ("wte.weigth", {"ln_f.bias", "wte.weight"}, 1) -> {"wte.weight"}
std::vector<std::string_view> suggest_names(std::string_view wanted, const std::vector<std::string_view>& names,
                                            std::size_t most);

/// The text with which a message lists what there is in place of `wanted`; `what` is the plural noun: `it has no
/// tensors`, `its 2 tensors are 'a', 'b'`, `the nearest of its 148 tensors are 'a', 'b', 'c', 'd'`.
std::string suggestion_text(std::string_view wanted, const std::vector<std::string_view>& names, std::string_view what);

}  // namespace cairn::files
