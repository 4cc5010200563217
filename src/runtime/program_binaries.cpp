#include "runtime/program_binaries.hpp"

#include <algorithm>
#include <utility>

namespace cairn::runtime {

ProgramBinaries::ProgramBinaries(std::vector<Binary> saved, bool is_damaged)
    : saved_(std::move(saved)), is_damaged_(is_damaged) {}

bool ProgramBinaries::is_saved(const Binary& binary) const {
    return std::any_of(saved_.begin(), saved_.end(),
                       [&](const Binary& other) { return other == binary || *other == *binary; });
}

void ProgramBinaries::add(Binary binary) {
    if (binary == nullptr || std::find(used_.begin(), used_.end(), binary) != used_.end()) return;
    if (!is_saved(binary)) missing_ += binary->keys.size();
    used_.push_back(std::move(binary));
}

void ProgramBinaries::finish() {
    saved_.clear();
    std::sort(used_.begin(), used_.end(), [](const Binary& a, const Binary& b) { return a->keys < b->keys; });
}

}  // namespace cairn::runtime
