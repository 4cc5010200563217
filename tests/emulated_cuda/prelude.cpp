#include "tests/emulated_cuda/prelude.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cairn::emulated_cuda {

std::string prelude_file(const std::string& source_folder, const std::string& name) {
    const std::string path = source_folder + "/kernels/cuda/text/" + name;
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string with_prelude(const std::string& source_folder, const std::string& kernel) {
    std::string text;
    for (const char* name : {"prelude.cuh", "instructions.cuh", "async_copy.cuh", "cluster.cuh", "mma.cuh"})
        text += prelude_file(source_folder, name);
    return text + kernel;
}

}  // namespace cairn::emulated_cuda
