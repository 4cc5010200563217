#include "driver/port_devices.hpp"

#include "cairn/error.hpp"
#include "device/context_impl.hpp"
#include "driver/stage_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace cairn::driver {
namespace {

using DevicesByName = std::map<std::string, Device, std::less<>>;

bool has_input(const ir::GraphData& graph, std::string_view name) {
    return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                       [&](const ir::Node& node) { return node.op == ir::Op::input && node.name == name; });
}

bool has_output(const ir::GraphData& graph, std::string_view name) {
    return std::any_of(graph.outputs().begin(), graph.outputs().end(),
                       [&](const ir::Output& output) { return output.name == name; });
}

[[noreturn]] void refuse(ErrorKind kind, std::string_view port, std::string_view name, Device device,
                         std::string_view reason) {
    throw Error(kind, "compile", fmt::format("{} \"{}\" is to be on {}, {}", port, name, to_string(device), reason));
}

std::string text_of(std::string_view port, const DevicesByName& devices) {
    std::string text;
    for (const auto& [name, device] : devices)
        if (device != Device::cpu) text += fmt::format("{} {} on {}\n", port, name, to_string(device));
    return text;
}

}  // namespace

void check_port_devices(const ir::GraphData& graph, std::span<const DeviceRates> devices,
                        const CompileOptions& options) {
    const bool searches = StageDriver(options, "").enabled("search");
    const auto check = [&](std::string_view port, const DevicesByName& by_name, const auto& has) {
        for (const auto& [name, device] : by_name) {
            if (!has(graph, name))
                throw Error(ErrorKind::argument, "compile", fmt::format("there is no {} called \"{}\"", port, name));
            if (!has_device(devices, device))
                refuse(ErrorKind::unsupported, port, name, device, "but this Context has no such device");
            if (!searches && device != Device::cpu)
                refuse(ErrorKind::argument, port, name, device, "which needs the stage search");
        }
    };
    check("input", options.input_devices, has_input);
    check("output", options.output_devices, has_output);
}

std::string port_devices_text(const CompileOptions& options) {
    return text_of("input", options.input_devices) + text_of("output", options.output_devices);
}

}  // namespace cairn::driver
