#include "runtime/bound_values.hpp"

#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "device/cpu/pages.hpp"
#include "runtime/compiled_graph.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cairn::runtime {
namespace {

// In memory of its own, each value would end in a page, or in a huge page if it is large, that is half empty.
TEST(BoundValues, ValuesReadByRunsShareOneArena) {
    Graph g("g");
    Tensor h = g.input("x", DType::f32, {50, 64});
    for (const std::string name : {"a", "b", "c", "d"}) h = tanh(matmul(h, g.weight(name, DType::f32, {64, 64})));
    // The concatenation is an intermediate value, which is not kept.
    g.output("y", matmul(h, cast(concat({g.weight("e", DType::f16, {64, 9}), g.weight("f", DType::f16, {64, 8})}, 1),
                                 DType::f32)));
    const Context context;
    const ProgramSet set = parse_program_set(compile(g, context).program());
    const program::Program& program = set.buckets[0].program;
    CompiledCodes codes;
    const auto bound = std::make_shared<BoundProgram>(program, context, codes, std::stop_token());
    const std::vector<float> zeros(64 * 64);
    const WeightSource source = [&](std::string_view name) {
        const bool is_half = name == "e" || name == "f";
        InputView view;
        view.data = zeros.data();
        view.dtype = is_half ? DType::f16 : DType::f32;
        view.shape = {64, name == "e" ? 9 : name == "f" ? 8 : 64};
        return view;
    };
    BoundValues().bind({bound}, *context.impl(), {source, nullptr, {}, {}});

    std::map<std::string, std::int64_t> bytes_of;
    for (const program::Buffer& buffer : program.buffers)
        if (buffer.kind == program::BufferKind::bound) bytes_of[buffer.name] = buffer.bytes.constant();
    std::map<std::uintptr_t, std::int64_t> resident;
    for (const auto& [name, value] : bound->memory.values)
        resident[reinterpret_cast<std::uintptr_t>(value.get())] = bytes_of.at(name);
    ASSERT_EQ(resident.size(), 5U);
    EXPECT_GT(bytes_of.size(), resident.size()) << "something was only on its way";
    std::uintptr_t next = resident.begin()->first;
    for (const auto& [begin, bytes] : resident) {
        EXPECT_EQ(begin, next);
        next = begin + device::round_up(static_cast<std::size_t>(bytes), device::page_size());
    }
}

TEST(BoundValues, ValuesReadByOneProgramAreFreedWithIt) {
    const Context context;
    const std::vector<float> zeros(64 * 64);
    const WeightSource source = [&](std::string_view) {
        InputView view;
        view.data = zeros.data();
        view.shape = {64, 64};
        return view;
    };
    const auto program_of = [&](const std::vector<std::string>& weights) {
        Graph g("g");
        Tensor h = g.input("x", DType::f32, {50, 64});
        for (const std::string& name : weights) h = tanh(matmul(h, g.weight(name, DType::f32, {64, 64})));
        g.output("y", h);
        return parse_program_set(compile(g, context).program());
    };
    const ProgramSet first = program_of({"both"}), second = program_of({"both", "alone"});
    CompiledCodes codes;
    const auto kept = std::make_shared<BoundProgram>(first.buckets[0].program, context, codes, std::stop_token());
    auto released = std::make_shared<BoundProgram>(second.buckets[0].program, context, codes, std::stop_token());
    BoundValues().bind({kept, released}, *context.impl(), {source, nullptr, {}, {}});
    ASSERT_EQ(kept->memory.values.size(), 1U);
    ASSERT_EQ(released->memory.values.size(), 2U);
    std::map<std::string, std::weak_ptr<const std::byte>> watched;
    for (const auto& [name, value] : released->memory.values) watched[name] = value;
    released.reset();
    for (const auto& [name, value] : watched) EXPECT_EQ(value.expired(), !kept->memory.values.contains(name)) << name;
}

}  // namespace
}  // namespace cairn::runtime
