#include "device/cuda/executable_graph.hpp"

#include "device/cuda/stream_capture.hpp"
#include "tests/device/cuda/expect_error.hpp"
#include "tests/device/cuda/stand_in_driver.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Graphs of work that notes a number.
class ExecutableGraphTest : public ::testing::Test {
protected:
    void TearDown() override {
        current.reset();
        device.reset();
        EXPECT_THAT(driver.violations(), IsEmpty());
        EXPECT_THAT(driver.leaks(), IsEmpty());
    }
    /// A graph that notes these numbers, one after another.
    GraphHandle captured(const std::vector<int>& numbers) {
        StreamCapture capture(*device);
        for (const int number : numbers) driver.submit(capture.stream(), [this, number] { noted.push_back(number); });
        return capture.end();
    }
    void launch(ExecutableGraph& graph) {
        graph.launch(device->stream());
        device->synchronize();
    }

    StandInDriver driver;
    std::shared_ptr<CudaDevice> device = std::make_shared<CudaDevice>(driver.table(), 0);
    std::optional<CurrentContext> current{std::in_place, *device};
    std::vector<int> noted;
};

TEST_F(ExecutableGraphTest, AnUpdateChangesWhatLaterLaunchesDo) {
    ExecutableGraph graph(device, captured({1, 2}), device->stream());
    launch(graph);
    EXPECT_TRUE(graph.update(captured({3, 4})));
    launch(graph);
    EXPECT_THAT(noted, ElementsAre(1, 2, 3, 4));
}

TEST_F(ExecutableGraphTest, ARefusedUpdateChangesNothingAndLeavesTheGraphToTheCaller) {
    ExecutableGraph graph(device, captured({1, 2}), device->stream());
    const GraphHandle longer = captured({3, 4, 5});
    EXPECT_FALSE(graph.update(longer));
    launch(graph);
    EXPECT_THAT(noted, ElementsAre(1, 2));
    ExecutableGraph anew(device, longer, device->stream());
    graph = std::move(anew);
    launch(graph);
    EXPECT_THAT(noted, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(ExecutableGraphTest, AnUpdateThatFailsOwnsTheGraph) {
    ExecutableGraph graph(device, captured({1}), device->stream());
    driver.fail("cuGraphExecUpdate_v2", 1, Result::invalid_value);
    EXPECT_THROW(graph.update(captured({2})), InternalError);
}

}  // namespace
}  // namespace cairn::device::cuda
