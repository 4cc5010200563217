#include "cairn/weights.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <cstring>

/// `cairn import` and `cairn run`.
namespace cairn::test {
namespace {

using testing::ElementsAre, testing::HasSubstr;

std::string elements_as_text(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// y = op(x) * w + scale with w f32[3] in the file and a `scale` that is an input.
std::string scaled_model(std::string_view op = "Relu") {
    Message graph;
    graph.message(1, node(op, {"x"}, {"r"})).message(1, node("Mul", {"r", "w"}, {"s"}));
    graph.message(1, node("Add", {"s", "scale"}, {"y"}));
    graph.message(5, tensor("w", onnx::ElementType::f32, {3}, elements_as_text({1, 2, 3})));
    graph.message(11, value("x", {"N.rows", "3"})).message(11, value("scale", {}));
    graph.message(12, value("y", {"N.rows", "3"}));
    return model(graph).bytes();
}

class ImportCommand : public testing::Test {
protected:
    Outcome import(std::vector<std::string> arguments, std::string_view bytes = scaled_model()) const {
        arguments.insert(arguments.begin(), {"import", temp.write("m.onnx", bytes).string(), "--json"});
        return run(CAIRN_COMMAND, arguments);
    }
    std::string path(std::string_view name) const { return (temp / name).string(); }
    TempFolder temp;
};

TEST_F(ImportCommand, WritesAGraphThatRunsWithItsWeights) {
    const Outcome outcome = import({"--output", path("made/here"), "--size", "N.rows=2..64/2", "--value", "scale=0.5"});
    ASSERT_TRUE(succeeds(outcome));
    ASSERT_EQ(rows_of(outcome, "input").size(), 1U);
    EXPECT_EQ(rows_of(outcome, "input")[0]["type"], "f32[2*N_rows_by_2,3]");
    EXPECT_EQ(rows_of(outcome, "output")[0]["name"], "y");
    EXPECT_EQ(rows_of(outcome, "size")[0]["name"], "N.rows");
    EXPECT_EQ(rows_of(outcome, "import")[0]["weights"], "1");

    const std::vector<float> x{1, -1, 2, -2, 3, -3};
    write_safetensors(temp / "in.safetensors", {{"x", {.data = x.data(), .shape = {2, 3}}}});
    const std::vector<std::string> run_it{
        "run",      path("made/here/graph.cairn"), "--weights", path("made/here/weights.safetensors"),
        "--inputs", path("in.safetensors"),        "--outputs", path("out.safetensors"),
        "--json"};
    const Outcome ran = cairn_command(run_it);
    ASSERT_TRUE(succeeds(ran));
    EXPECT_EQ(rows_of(ran, "output")[0]["dtype"], "f32");
    EXPECT_EQ(rows_of(ran, "output")[0]["shape"], nlohmann::json({2, 3}));
    const Safetensors results = Safetensors::open(temp / "out.safetensors");
    const InputView y = results.view("y");
    std::vector<float> values(6);
    std::memcpy(values.data(), y.data, 24);
    if (y.release != nullptr) y.release(y.owner);
    EXPECT_THAT(values, ElementsAre(1.5F, 0.5F, 6.5F, 0.5F, 6.5F, 0.5F));
}

TEST_F(ImportCommand, TellsWhatItCannotImport) {
    const Outcome outcome = import({"--output", path("made")}, scaled_model("Grow"));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "");
    const auto rows = rows_of(outcome, "unsupported");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0]["op"], "Grow");
    EXPECT_EQ(rows[0]["opset"], "17");
    EXPECT_EQ(rows[0]["node"], "#0");
    EXPECT_EQ(rows[0]["count"], "1");
    EXPECT_FALSE(std::filesystem::exists(path("made")));
}

TEST_F(ImportCommand, RefusesWrongArgumentsInOneSentence) {
    const auto refuses = [&](std::vector<std::string> arguments, const std::string& reason) {
        const Outcome outcome = import(std::move(arguments));
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_THAT(outcome.err, HasSubstr(reason));
    };
    refuses({"--size", "N.rows"}, "expected NAME=VALUE");
    refuses({"--size", "N.rows=2..x"}, "expected a size, its bounds, multiples or the name");
    refuses({"--size", "M=2"}, "the inputs have no size 'M'; they have 'N.rows'");
    refuses({"--size", "N.rows=1", "--size", "N.rows=2"}, "is given twice");
    refuses({"--value", "rate=1"}, "the model has no input rate");
    refuses({"--value", "scale=x"}, "x is no element of f32 for the input scale");
    refuses({"--value", "scale=1,2"}, "the input scale is a single number");
    refuses({"--value", "x=1"}, "it is neither a number nor a list");
    const Outcome damaged = import({}, scaled_model().substr(0, 60));
    EXPECT_EQ(damaged.exit_code, 2);
    EXPECT_THAT(damaged.err, HasSubstr("m.onnx"));
}

TEST_F(ImportCommand, RunNamesWhatIsMissing) {
    const std::string graph = temp.write("g.cairn", layer_text()).string();
    const auto refuses = [&](std::vector<std::string> arguments, const std::string& reason) {
        arguments.insert(arguments.begin(), {"run", graph});
        const Outcome outcome = cairn_command(arguments);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_THAT(outcome.err, HasSubstr(reason));
    };
    const std::vector<float> w(256, 1.0F), b(16, 0.0F);
    write_safetensors(temp / "w.safetensors",
                      {{"w", {.data = w.data(), .shape = {16, 16}}}, {"b", {.data = b.data(), .shape = {16}}}});
    refuses({}, "--weights is missing");
    refuses({"--weights", path("w.safetensors")}, "--inputs is missing: the graph has the inputs x f32[N,16]");
    refuses({"--weights", path("w.safetensors"), "--inputs", path("w.safetensors")}, "has no x f32[N,16]");
    refuses({"--weights", path("none")}, "none");
}

}  // namespace
}  // namespace cairn::test
