#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::weights {

/// The names that a misspelled one most likely stands for, the likeliest first, at most `most`: first those that differ
/// in what they begin with alone (a missing, superfluous or other prefix), then by edit distance. Equal ones stay in
/// the order given. ("wte.weigth", {"ln_f.bias", "wte.weight"}, 1) -> {"wte.weight"}
std::vector<std::string_view> suggest_names(std::string_view wanted, const std::vector<std::string_view>& names,
                                            std::size_t most);

/// What a message says is there in place of `wanted`, `what` being the plural noun: `it has no tensors`,
/// `its 2 tensors are 'a', 'b'`, `the nearest of its 148 tensors are 'a', 'b', 'c', 'd'`.
std::string suggestion_text(std::string_view wanted, const std::vector<std::string_view>& names, std::string_view what);

}  // namespace cairn::weights
