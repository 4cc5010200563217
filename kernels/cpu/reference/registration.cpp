#include "kernels/cpu/reference/registration.hpp"

namespace cairn::kernels::cpu::reference {

Kernel reference_kernel(std::string_view definition, Refusal (*accepts)(const Problem& problem),
                        void (*run)(const Args& args, Team& team),
                        std::shared_ptr<const void> (*prepare)(const Problem& problem, int threads),
                        std::vector<std::string> samples) {
    Kernel made;
    made.id = "cpu.reference." + std::string(definition) + "@1";
    made.definition = definition;
    made.accepts = accepts;
    made.run = run;
    made.prepare = prepare;
    made.samples = std::move(samples);
    return made;
}

Cost scalar_cost(double operations, double bytes) {
    constexpr double of_bandwidth = 0.8;
    return {operations, bytes / of_bandwidth, efficiency};
}

double size_in_bytes(const TensorDesc& tensor) {
    return static_cast<double>(element_count(tensor.shape).constant()) * static_cast<double>(size_of(tensor.dtype));
}

}  // namespace cairn::kernels::cpu::reference
