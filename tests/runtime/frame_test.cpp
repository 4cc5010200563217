#include "runtime/frame.hpp"

#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "device/cpu/cpu_command_buffer.hpp"
#include "program/plan_memory.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn::runtime {
namespace {

/// A graph compiled without fusion, linked, and a frame of it.
struct Framed {
    explicit Framed(const Graph& graph)
        : set(parse_program_set(
              compile(graph, context, {.disable = {"simplify", "fuse", "elementwise", "search"}}).program())),
          linked(set.buckets[0].program, context, codes),
          frame(linked, *context.impl()) {}

    const program::Program& program() const { return linked.program(); }
    /// Address of a buffer in the arena.
    const std::byte* in_arena(int buffer) const {
        return arena.data() + frame.offset(program().buffers[static_cast<std::size_t>(buffer)].storage);
    }
    /// Points every buffer that is not in the arena at memory of `size` bytes of its own, all in one piece.
    void set_pointers(std::size_t size = 1 << 16) {
        memory.assign(program().buffers.size() * size, std::byte{});
        arena.assign(static_cast<std::size_t>(frame.arena_bytes().value_of(Device::cpu)), std::byte{});
        bases.assign(program().buffers.size(), nullptr);
        for (std::size_t b = 0; b < bases.size(); ++b)
            if (program().buffers[b].storage < 0) bases[b] = memory.data() + b * size;
        frame.set_pointers(bases, arenas());
    }
    types::PerDevice<std::byte*> arenas() {
        types::PerDevice<std::byte*> bases_of_arenas;
        bases_of_arenas[Device::cpu] = arena.data();
        return bases_of_arenas;
    }

    Context context{{.threads = 2}};
    ProgramSet set;
    CompiledCodes codes;
    LinkedProgram linked;
    Frame frame;
    std::vector<std::byte> memory, arena;
    std::vector<std::byte*> bases;
};

std::vector<std::int64_t> serial_launches(Frame& frame) {
    const auto serial = dynamic_cast<const device::CpuCommandBuffer&>(frame.commands().segment(0)).serial_launches();
    return {serial.begin(), serial.end()};
}

using Sequences = std::vector<std::int64_t>;

TEST(Frame, OffsetsAreThoseOfThePlanAtEverySize) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Framed framed(test::random_graph(seed));
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        for (int round = 0; round < 4; ++round) {
            std::vector<std::int64_t> sizes;
            for (const Symbols::Symbol& symbol : framed.program().symbols->list())
                sizes.push_back(round == 0 ? symbol.high
                                : round == 1
                                    ? symbol.low
                                    : symbol.low + static_cast<std::int64_t>(
                                                       random() % static_cast<unsigned>(symbol.high - symbol.low + 1)));
            framed.frame.resize(sizes);
            const program::PlacedStorages expected = program::evaluate_plan(framed.program(), sizes);
            std::vector<std::int64_t> offsets;
            for (std::size_t s = 0; s < framed.program().plan.storages.size(); ++s)
                offsets.push_back(framed.frame.offset(static_cast<int>(s)));
            EXPECT_EQ(offsets, expected.offsets) << "seed " << seed;
            EXPECT_EQ(framed.frame.arena_bytes().value_of(Device::cpu), expected.arena_bytes.value_of(Device::cpu))
                << "seed " << seed;
        }
    }
}

TEST(Frame, OperandsHaveTheirSizesAndAddresses) {
    Graph g;
    const Dim n = g.symbol("N", 0, 64);
    const Tensor x = g.input("x", DType::f32, {n, 4});
    g.output("y", exp(transpose(slice(x, 1, 1, 3), {1, 0})));
    Framed framed(g);
    const TensorArg* input = nullptr;
    for (const std::int64_t size : {5, 0, 1, 64}) {
        framed.frame.resize({&size, 1});
        framed.set_pointers();
        const device::KernelLaunch& step = framed.frame.launches().back();
        EXPECT_TRUE(input == nullptr || input == step.args.inputs) << "nothing is computed again";
        input = step.args.inputs;
        EXPECT_EQ(std::vector<std::int64_t>(input->shape, input->shape + 2), (std::vector<std::int64_t>{2, size}));
        const TensorArg out = framed.frame.output(0);
        EXPECT_EQ(std::vector<std::int64_t>(out.shape, out.shape + 2), (std::vector<std::int64_t>{2, size}));
        EXPECT_EQ(std::vector<std::int64_t>(out.strides, out.strides + 2), (std::vector<std::int64_t>{size, 1}));
        EXPECT_EQ(out.data, step.args.outputs[0].data);
        const int workspace = framed.linked.run().back().workspace;
        EXPECT_EQ(step.args.workspace, workspace < 0 ? nullptr : framed.in_arena(workspace));
    }
}

TEST(Frame, AViewBeginsAtItsElement) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {8, 4});
    g.output("y", exp(slice(x, 0, 3, 8)));
    Framed framed(g);
    framed.frame.resize({});
    framed.set_pointers();
    const LinkedOperand& operand = framed.linked.operands()[0];
    EXPECT_EQ(framed.frame.launches()[0].args.inputs[0].data,
              framed.bases[static_cast<std::size_t>(operand.buffer)] + std::ptrdiff_t{3 * 4 * 4});
}

TEST(Frame, AnOutputIsRedirectedToTheCallersMemoryAndBack) {
    Graph g;
    g.output("y", exp(g.input("x", DType::f32, {16})));
    Framed framed(g);
    framed.frame.resize({});
    framed.set_pointers();
    const int port = framed.linked.outputs()[0].buffer;
    const auto buffer = static_cast<std::size_t>(port);
    EXPECT_EQ(framed.frame.output(0).data, framed.in_arena(port));
    std::byte own[64];
    framed.bases[buffer] = own;
    framed.frame.set_pointers(framed.bases, framed.arenas());
    EXPECT_EQ(framed.frame.output(0).data, own);
    EXPECT_EQ(framed.frame.launches()[0].args.outputs[0].data, own);
    framed.bases[buffer] = nullptr;
    framed.frame.set_pointers(framed.bases, framed.arenas());
    EXPECT_EQ(framed.frame.output(0).data, framed.in_arena(port));
}

TEST(Frame, SmallInstructionsFormSerialSequences) {
    Graph g;
    const Dim n = g.symbol("N", 0, 4096);
    const Tensor x = g.input("x", DType::f32, {n}), first = exp(x), total = sum(first, {0}), last = sqrt(total);
    g.output("y", last);
    Framed framed(g);
    ASSERT_EQ(framed.frame.launches().size(), 3U);
    const auto at = [&](std::int64_t size) {
        framed.frame.resize({&size, 1});
        return serial_launches(framed.frame);
    };
    EXPECT_EQ(at(0), (Sequences{3, 2, 1}));
    EXPECT_EQ(at(1024), (Sequences{3, 2, 1})) << "8192 bytes in and out";
    EXPECT_EQ(framed.frame.commands().threads(), 1);
    EXPECT_EQ(at(1025), (Sequences{0, 2, 1}));
    EXPECT_EQ(framed.frame.commands().threads(), 2);
    EXPECT_EQ(at(2048), (Sequences{0, 0, 1})) << "with the sum's four bytes";
    EXPECT_EQ(at(1), (Sequences{3, 2, 1})) << "and small again";
}

TEST(Frame, AnEmptyProgramNeedsOneThreadAndNoMemory) {
    Graph g;
    g.output("y", g.input("x", DType::f32, {4}));
    Framed framed(g);
    framed.frame.resize({});
    EXPECT_EQ(framed.frame.commands().threads(), 1);
    EXPECT_EQ(framed.frame.arena_bytes().value_of(Device::cpu), 0);
    framed.set_pointers();
    EXPECT_EQ(framed.frame.output(0).data, framed.bases[static_cast<std::size_t>(framed.linked.outputs()[0].buffer)]);
}

}  // namespace
}  // namespace cairn::runtime
