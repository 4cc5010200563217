#include "cairn/cairn.hpp"
#include "runtime/packed_index.hpp"
#include "runtime/xxh64.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <thread>

/// Tests the file of packed weights that bind() keeps for the next process: only the time of bind() depends on it.
namespace cairn {
namespace {

using test::message, test::TempFolder;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

constexpr std::int64_t width = 70, weight_columns = 33;
// Width of a model with values of several blocks, of one block, and small ones.
constexpr std::int64_t large_width = 700;

Graph large_model() {
    Graph g("large");
    const Tensor x = g.input("x", DType::f32, {3, width});
    const Tensor y =
        linear(x, g.weight("w", DType::f32, {width, large_width}), g.weight("b", DType::f32, {large_width}));
    g.output("y", linear(y, g.weight("v", DType::f32, {large_width, large_width}),
                         g.weight("s", DType::f32, {large_width})));
    return g;
}

/// Weights that are packed, and some that are read as they are, of sizes that fill no cache lines.
Graph small_model() {
    Graph g("packed");
    const Dim n = g.symbol("N", 1, 40);
    const Tensor x = g.input("x", DType::f32, {n, width});
    const Tensor y =
        linear(x, g.weight("w", DType::f32, {width, weight_columns}), g.weight("b", DType::f32, {weight_columns}));
    g.output("y", exp(y * g.weight("s", DType::f32, {weight_columns})));
    return g;
}

class PackedWeights : public testing::Test {
protected:
    PackedWeights() : w_(width * weight_columns), b_(weight_columns), s_(weight_columns), x_(3 * width) {
        for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = static_cast<float>(i % 13) * 0.25f - 1;
        for (std::size_t i = 0; i < b_.size(); ++i)
            b_[i] = static_cast<float>(i), s_[i] = -0.01f * static_cast<float>(i);
        for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<float>(i % 7) - 3;
    }

    std::filesystem::path file() const { return folder_ / "m.packed"; }

    InputView view_of(std::string_view name) const {
        InputView view;
        view.data = (name == "w" ? w_ : name == "b" ? b_ : s_).data();
        view.shape =
            name == "w" ? std::vector<std::int64_t>{width, weight_columns} : std::vector<std::int64_t>{weight_columns};
        return view;
    }

    /// The results with the current weights. Records the names requested from the source in `asked_`, and log lines in
    /// `log_`.
    std::vector<float> run(const std::string& weights = "v1", const std::filesystem::path& path = {},
                           bool check_all = false) {
        requested_.clear();
        log_.clear();
        CompiledGraph model = compile(small_model(), context_);
        const WeightSource source = [this](std::string_view name) {
            requested_.emplace_back(name);
            return view_of(name);
        };
        model.bind(source, {path.empty() ? file() : path, weights, check_all});
        model.set("x", x_.data(), {3, width});
        model.run();
        const std::span<const float> y = model.output("y").as<float>();
        return {y.begin(), y.end()};
    }

    const TempFolder folder_;
    std::vector<float> w_, b_, s_, x_;
    std::vector<std::string> requested_, log_;
    const Context context_{{.log = [this](LogLevel level, std::string_view line) {
        log_.push_back((level == LogLevel::warning ? "warning: " : "") + std::string(line));
    }}};
};

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(PackedWeights, TheSecondStartReadsNoWeights) {
    const std::vector<float> first = run();
    EXPECT_FALSE(requested_.empty());
    const std::string bytes = bytes_of(file());
    EXPECT_GE(bytes.size(), static_cast<std::size_t>(width * weight_columns * 4));
    EXPECT_EQ(run(), first);
    EXPECT_THAT(requested_, IsEmpty());
    EXPECT_THAT(log_, IsEmpty());
    EXPECT_EQ(bytes_of(file()), bytes);
    w_.assign(w_.size(), 0.0f);
    EXPECT_EQ(run(), first) << "what the file says is used";
}

TEST_F(PackedWeights, OtherWeightsRebuildTheFile) {
    const std::vector<float> first = run();
    w_[5] += 1;
    const std::vector<float> second = run("v2");
    EXPECT_NE(second, first);
    EXPECT_FALSE(requested_.empty());
    EXPECT_THAT(log_, ElementsAre(HasSubstr("was made from other weights")));
    EXPECT_EQ(run("v2"), second);
    EXPECT_THAT(requested_, IsEmpty());
}

// The file is refused if truncated at any size, or with any byte of the header changed.
TEST_F(PackedWeights, ADamagedFileIsRebuilt) {
    const std::vector<float> expected = run();
    const std::string whole = bytes_of(file());
    std::uint64_t header = 0;
    std::memcpy(&header, whole.data(), sizeof header);
    int refused = 0;
    for (std::size_t size = 0; size < whole.size(); size += size < header + 16 ? 37 : 1999) {
        write(file(), whole.substr(0, size));
        EXPECT_EQ(run(), expected) << "cut to " << size;
        EXPECT_THAT(log_, ElementsAre(HasSubstr("computed again"))) << size;
        EXPECT_EQ(bytes_of(file()), whole) << size;
    }
    for (std::size_t at = 0; at < header + 8; at += 3) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
        write(file(), damaged);
        EXPECT_EQ(run(), expected) << "byte " << at;
        refused += log_.empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 100);
    for (const std::string& other : {std::string("no such format"), std::string(5000, '\0')}) {
        write(file(), other);
        EXPECT_EQ(run(), expected);
        EXPECT_EQ(bytes_of(file()), whole);
    }
}

/// Two threads: checksums are computed by all of a pool.
class LargePackedWeights : public PackedWeights {
protected:
    std::vector<float> run_large(bool check_all) {
        requested_.clear();
        log_.clear();
        CompiledGraph model = compile(large_model(), threads_);
        model.bind(
            [this](std::string_view name) {
                requested_.emplace_back(name);
                InputView view;
                view.data = values_.data() + (name == "w" ? 1 : name == "v" ? 2 : name == "b" ? 3 : 4);
                if (name == "w") view.shape = {width, large_width};
                if (name == "v") view.shape = {large_width, large_width};
                if (name == "b" || name == "s") view.shape = {large_width};
                return view;
            },
            {file(), "v1", check_all});
        model.set("x", x_.data(), {3, width});
        model.run();
        const std::span<const float> y = model.output("y").as<float>();
        return {y.begin(), y.end()};
    }

    const std::vector<float> values_ = [] {
        std::vector<float> values(large_width * large_width + 4);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 1000) * 1e-3F - 0.5F;
        return values;
    }();
    const Context threads_{{.threads = 2, .log = [this](LogLevel, std::string_view line) { log_.emplace_back(line); }}};
};

// Bytes changed anywhere: with every byte checked, the results are right and the file is rewritten. Otherwise that
// holds, as documented, for changes of the header, the index or a small value.
TEST_F(LargePackedWeights, ChangedBytesAreDetected) {
    const std::vector<float> expected = run_large(false);
    const std::string whole = bytes_of(file());
    EXPECT_THAT(verify_checksums(file()), IsEmpty());
    std::uint64_t header = 0;
    std::memcpy(&header, whole.data(), sizeof header);
    ASSERT_GT(whole.size(), header + (std::size_t{2} << 20)) << "no value has more blocks than one";
    std::vector<std::pair<std::size_t, std::size_t>> small;  // of the values checked at each start
    {
        const Safetensors packed = Safetensors::open(file());
        const std::byte* base = nullptr;
        for (const Safetensors::Tensor& tensor : packed.tensors()) {
            const auto* data = static_cast<const std::byte*>(packed.view(tensor.name).data);
            if (base == nullptr || data < base) base = data;
        }
        for (const Safetensors::Tensor& tensor : packed.tensors())
            if (tensor.shape[0] <= 65536) {
                const auto* data = static_cast<const std::byte*>(packed.view(tensor.name).data);
                const std::size_t at = 8 + header + static_cast<std::size_t>(data - base);
                small.emplace_back(at, at + static_cast<std::size_t>(tensor.shape[0]));
            }
    }
    ASSERT_EQ(small.size(), 2U);
    std::mt19937 random(3);
    int found = 0, promised = 0;
    for (int round = 0; round < 120; ++round) {
        std::string damaged = whole;
        const std::size_t first = round % 3 == 0   ? random() % (header + 8 - 64)  // behind it there may be spaces
                                  : round % 3 == 1 ? small[random() % 2].first + random() % 64
                                                   : random() % whole.size();
        const std::size_t length = round % 5 == 0 ? 1 + random() % 5000 : 1;
        for (std::size_t at = first; at < std::min(first + length, whole.size()); ++at)
            damaged[at] = round % 7 == 0 ? '\0' : static_cast<char>(damaged[at] ^ (1 + random() % 255));
        if (damaged == whole) continue;
        const bool is_small = std::any_of(small.begin(), small.end(), [&](const auto& value) {
            return first >= value.first && first < value.second;
        });
        write(file(), damaged);
        EXPECT_THAT(verify_checksums(file()), testing::Not(IsEmpty())) << "byte " << first;
        if (first < header + 8 || is_small) {
            ++promised;
            EXPECT_EQ(run_large(false), expected) << "byte " << first;
            EXPECT_EQ(bytes_of(file()), whole) << "byte " << first;
            write(file(), damaged);
        }
        EXPECT_EQ(run_large(true), expected) << "byte " << first;
        EXPECT_THAT(log_, ElementsAre(HasSubstr("computed again"))) << "byte " << first;
        EXPECT_FALSE(requested_.empty());
        EXPECT_EQ(bytes_of(file()), whole) << "byte " << first;
        ++found;
    }
    EXPECT_GT(found, 100);
    EXPECT_GT(promised, 60);
    EXPECT_EQ(run_large(true), expected);
    EXPECT_THAT(log_, IsEmpty());
    EXPECT_THAT(requested_, IsEmpty());
}

TEST_F(LargePackedWeights, ChangedBlocksAreNamed) {
    run_large(false);
    std::string bytes = bytes_of(file());
    bytes[bytes.size() - 1] = static_cast<char>(bytes.back() ^ 1);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write(file(), bytes);
    const std::vector<std::string> faults = verify_checksums(file());
    EXPECT_EQ(faults.size(), 2U);
    for (const std::string& fault : faults) EXPECT_THAT(fault, HasSubstr("of the file's data have changed"));
    write(file(), "cairn");
    EXPECT_EQ(verify_checksums(file()).size(), 1U);
    EXPECT_THROW(verify_checksums(folder_.path()), Error);
    EXPECT_THROW(verify_checksums(folder_ / "none"), Error);
}

// A file is replaced by renaming: mapped contents stay unchanged, and each start sees one file or the other.
TEST_F(PackedWeights, AFileReplacedWhileMappedServesBothReaders) {
    const std::vector<float> first = run();
    CompiledGraph model = compile(small_model(), context_);
    model.bind([this](std::string_view name) { return view_of(name); }, {file(), "v1"});
    w_[5] += 1;
    const std::vector<float> second = run("v2");
    EXPECT_NE(second, first);
    model.set("x", x_.data(), {3, width});
    model.run();
    const std::span<const float> y = model.output("y").as<float>();
    EXPECT_EQ(std::vector<float>(y.begin(), y.end()), first);
}

TEST_F(PackedWeights, ConcurrentWritersLeaveACompleteFile) {
    const std::vector<float> expected = run();
    const std::string whole = bytes_of(file());
    const Context quiet;
    for (int round = 0; round < 8; ++round) {
        std::filesystem::remove(file());
        std::vector<std::thread> threads;
        std::atomic<int> right = 0;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                CompiledGraph model = compile(small_model(), quiet);
                model.bind([this](std::string_view name) { return view_of(name); }, {file(), "v1", true});
                model.set("x", x_.data(), {3, width});
                model.run();
                const std::span<const float> y = model.output("y").as<float>();
                right += std::equal(y.begin(), y.end(), expected.begin(), expected.end());
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(right, 4);
        EXPECT_EQ(bytes_of(file()), whole);
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "partial files are left";
}

TEST_F(PackedWeights, AFileOfAnotherFormatIsRebuilt) {
    const std::vector<float> expected = run();
    const std::string whole = bytes_of(file());
    write_safetensors(file(), {});
    EXPECT_EQ(run(), expected);
    EXPECT_THAT(log_, ElementsAre(HasSubstr("holds no packed weights")));
    write_safetensors(file(), {}, {{"cairn.packed_weights", "v1"}});
    EXPECT_EQ(run(), expected);
    EXPECT_THAT(log_, ElementsAre(HasSubstr("has no checksums")));
    const auto write_values = [&](const std::vector<NamedTensor>& tensors, const runtime::PackedIndex& index) {
        write_safetensors(file(), tensors,
                          {{"cairn.packed_weights", "v1"}, {"cairn.packed_index", to_string(index, "v1")}});
    };
    write_values({}, {});
    EXPECT_EQ(run(), expected);
    EXPECT_THAT(log_, ElementsAre(HasSubstr("was made for other programs")));
    // The right names, wrong sizes.
    std::vector<NamedTensor> tensors;
    runtime::PackedIndex index;
    const std::byte value{1};
    {
        const Safetensors packed = Safetensors::open(file());
        for (const Safetensors::Tensor& tensor : packed.tensors()) {
            InputView view;
            view.data = &value;
            view.dtype = DType::u8;
            view.shape = {1};
            index.values[tensor.name] = {tensors.size(), 1, {runtime::xxh64({&value, 1})}};
            tensors.push_back({tensor.name, view});
        }
    }
    write_values(tensors, index);
    EXPECT_EQ(run(), expected);
    EXPECT_THAT(log_, ElementsAre(HasSubstr("another size")));
    index.values.begin()->second.offset += 1;
    write_values(tensors, index);
    EXPECT_EQ(run(), expected);
    EXPECT_THAT(log_, ElementsAre(HasSubstr("its index has other values")));
    EXPECT_EQ(bytes_of(file()), whole);
}

TEST_F(PackedWeights, WithoutAWritableFileAllValuesAreComputed) {
    const std::vector<float> expected = run();
    for (const std::filesystem::path& path : {folder_ / "missing" / "m.packed", folder_.path()}) {
        EXPECT_EQ(run("v1", path), expected);
        EXPECT_FALSE(requested_.empty());
        ASSERT_FALSE(log_.empty());
        EXPECT_THAT(log_.back(), HasSubstr("warning: packed weights are not stored"));
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "missing"));
}

// The system refuses to make a file longer, as on a full disk.
TEST_F(PackedWeights, AFullDiskLeavesNothingBehind) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::vector<float> full = run();
    const std::vector<std::string> messages = log_;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, old);
    EXPECT_THAT(messages, ElementsAre(HasSubstr("not stored")));
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
    EXPECT_EQ(run(), full);
    EXPECT_THAT(log_, IsEmpty());
}

TEST_F(PackedWeights, TheHeaderIsChecked) {
    CompiledGraph model = compile(small_model(), Context());
    const WeightSource none;
    EXPECT_THAT(message([&] { model.bind(none, PackedFile{}); }), HasSubstr("needs a path"));
    EXPECT_THAT(message([&] { model.bind(none, PackedFile{file(), ""}); }), HasSubstr("needs a path"));
    EXPECT_THAT(message([&] { model.bind(none, PackedFile{file(), "v1"}); }), HasSubstr("no source of weights"));
    EXPECT_FALSE(std::filesystem::exists(file()));
}

// Instances and other graphs of the same weights read one file; a graph that needs another packed form rewrites it.
TEST_F(PackedWeights, ProgramsThatNeedOtherLayoutsDoNotUseTheFile) {
    const std::vector<float> expected = run();
    std::vector<std::string> log;
    ContextOptions options;
    options.reference_only = true;
    options.log = [&](LogLevel, std::string_view line) { log.emplace_back(line); };
    CompiledGraph plain = compile(small_model(), Context(options));
    plain.bind([this](std::string_view name) { return view_of(name); }, {file(), "v1"});
    plain.set("x", x_.data(), {3, width});
    plain.run();
    EXPECT_THAT(log, ElementsAre(HasSubstr("was made for other programs")));
    const std::span<const float> y = plain.output("y").as<float>();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-4) << i;
}

// Two versions of a kernel compute different bytes: neither their results nor values derived from them are mixed up.
// `Value` is what a version computes.
template <int Value>
Kernel floor_that_gives(const char* id) {
    Kernel kernel;
    kernel.id = id;
    kernel.definition = "floor";
    kernel.accepts = [](const Problem&) { return Refusal(); };
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.run = [](const Args& args, Team& team) {
        if (team.rank() != 0) return;
        auto* y = reinterpret_cast<float*>(args.outputs[0].data);
        for (std::int64_t i = 0; i < weight_columns; ++i) y[i] = Value;
    };
    return kernel;
}

TEST_F(PackedWeights, KernelsOfAnotherVersionRebuildTheFile) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {weight_columns});
    const Tensor made = floor(g.weight("s", DType::f32, {weight_columns}));
    g.output("itself", x + made);
    g.output("behind", x * (-made));
    const auto first_of = [&](const Kernel& kernel) {
        requested_.clear();
        ContextOptions options;
        options.extra.kernels = {kernel};
        CompiledGraph model = compile(g, Context(options), {.disable = {"elementwise", "simplify"}});
        model.bind(
            [this](std::string_view name) {
                requested_.emplace_back(name);
                return view_of(name);
            },
            {file(), "v1"});
        model.set("x", std::vector<float>(weight_columns, 1.0f));
        model.run();
        return std::pair(model.output("itself").as<float>()[0], model.output("behind").as<float>()[0]);
    };
    EXPECT_EQ(first_of(floor_that_gives<3>("own.floor@1")), std::pair(4.0f, -3.0f));
    EXPECT_THAT(requested_, ElementsAre("s"));
    EXPECT_EQ(first_of(floor_that_gives<5>("own.floor@1")), std::pair(4.0f, -3.0f))
        << "an id identifies what is computed";
    EXPECT_THAT(requested_, IsEmpty());
    EXPECT_EQ(first_of(floor_that_gives<5>("own.floor@2")), std::pair(6.0f, -5.0f));
    EXPECT_THAT(requested_, ElementsAre("s"));
}

TEST(FileFingerprint, DistinguishesContents) {
    const TempFolder folder;
    std::vector<float> values(100'000, 1.0f);
    const auto write_at = [&](const std::string& name, std::vector<std::int64_t> shape) {
        InputView view;
        view.data = values.data();
        view.shape = std::move(shape);
        write_safetensors(folder / "m.safetensors", {{name, view}});
    };
    const auto time = std::filesystem::file_time_type::clock::now();
    const auto fingerprint = [&] {
        std::filesystem::last_write_time(folder / "m.safetensors", time);
        return Safetensors::open(folder / "m.safetensors").fingerprint();
    };
    std::map<std::string, std::string> seen;
    const auto expect_new = [&](const std::string& what) {
        const auto [it, is_new] = seen.emplace(fingerprint(), what);
        EXPECT_TRUE(is_new) << what << " is as " << it->second;
        EXPECT_EQ(it->first.size(), 32U);
    };
    write_at("w", {100'000});
    expect_new("the first");
    const std::string first = fingerprint();
    write_at("w", {100'000});
    EXPECT_EQ(fingerprint(), first) << "the same again";
    write_at("v", {100'000});
    expect_new("another name");
    write_at("w", {1000, 100});
    expect_new("another shape");
    for (const std::size_t at : {std::size_t{0}, values.size() - 1}) {
        values[at] = 2;
        write_at("w", {100'000});
        expect_new("another element");
    }
    for (float& value : values) value *= 1.5f;
    write_at("w", {100'000});
    expect_new("other elements");
    std::filesystem::last_write_time(folder / "m.safetensors", time + std::chrono::nanoseconds(1000));
    EXPECT_TRUE(seen.emplace(Safetensors::open(folder / "m.safetensors").fingerprint(), "").second) << "another time";

    // The fingerprint is of the file that was opened, even if another one has its name now.
    const Safetensors opened = Safetensors::open(folder / "m.safetensors");
    const std::string of_opened = opened.fingerprint();
    std::filesystem::remove(folder / "m.safetensors");
    EXPECT_EQ(opened.fingerprint(), of_opened) << "nothing has its name";
    for (float& value : values) value += 1;
    write_at("w", {100'000});
    EXPECT_EQ(opened.fingerprint(), of_opened) << "another file has its name";
}

}  // namespace
}  // namespace cairn
