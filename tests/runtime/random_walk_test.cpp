#include "cairn/cairn.hpp"
#include "tests/ir/random_source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <filesystem>
#include <optional>
#include <tuple>

namespace cairn::test {
namespace {

constexpr std::int64_t width = 4, capacity = 6, most_rows = 3;

using Row = std::array<float, width>;

/// total[j] = scale[j] * the sum of column j over all rows since the last rewind; next = x + 1. `runs` counts.
Graph running_total() {
    Graph g("total");
    const Dim t = g.symbol("T", 1, most_rows), past = g.symbol("P", 0, capacity);
    State rows = g.state("rows", DType::f32, {past, width}, 0, capacity);
    const Tensor x = g.input("x", DType::f32, {t, width});
    g.output("total", sum(rows.append(x) * g.weight("scale", DType::f32, {width}), {0}));
    g.output("next", x + 1);
    State runs = g.state("runs", DType::i64, {});
    runs.assign(runs.read() + 1);
    return g;
}

/// A CompiledGraph beside what its promises make of the same calls.
struct Pupil {
    CompiledGraph graph;
    std::shared_ptr<bool> bound;           ///< one for all instances
    std::vector<Row> x;                    ///< empty: not set
    std::int64_t rows = 0;                 ///< the value of T
    std::vector<Row> history;              ///< rows of the state
    std::int64_t runs = 0;                 ///< what the state of that name holds
    std::optional<std::vector<Row>> last;  ///< the x of the last good run, while its outputs may be read
    Row total{};                           ///< of that run
    std::vector<float>* own = nullptr;     ///< memory of the output `next`
};

class Walk {
public:
    explicit Walk(std::uint64_t seed, const Context& context)
        : random_(seed),
          context_(context),
          path_(std::filesystem::path(CAIRN_BINARY_DIR) / ("random_walk_" + std::to_string(seed) + ".cairn")),
          states_(std::filesystem::path(path_).replace_extension(".safetensors")) {
        add(compile(running_total(), context, {.splits = {{"T", {1}}}}), std::make_shared<bool>(false));
    }
    ~Walk() {
        std::filesystem::remove(path_);
        std::filesystem::remove(states_);
    }

    void step() {
        Pupil& pupil = pupils_[static_cast<std::size_t>(random_.below(static_cast<int>(pupils_.size())))];
        take(pupil);
        look_at_states(pupil);
    }
    int runs() const { return runs_; }
    int loads() const { return loads_; }

private:
    void take(Pupil& pupil) {
        switch (random_.below(20)) {
            case 0:
            case 1: return set_input(pupil);
            case 2: return set_symbol(pupil);
            case 3: return set_output(pupil);
            case 4:
            case 5:
            case 6: return run(pupil);
            case 7: return read(pupil);
            case 8: return rewind(pupil);
            case 9: return pupils_.size() < 5 ? add_instance(pupil) : void();
            case 10: return pupils_.size() < 5 ? save_and_load(pupil) : void();
            case 11: return ask(pupil);
            case 12: return bind(pupil);
            case 13: return set_state(pupil);
            case 14: return save_states(pupil);
            case 15: return load_states(pupil);
            case 16: return reset_states(pupil);
            case 17:
            case 18: return run(pupil);
            default: return move(pupil);
        }
    }

    void add(CompiledGraph graph, std::shared_ptr<bool> bound) {
        pupils_.push_back(Pupil{std::move(graph), std::move(bound), {}, 0, {}, 0, {}, {}, nullptr});
    }

    std::vector<Row> some_rows(std::int64_t count) {
        std::vector<Row> rows(static_cast<std::size_t>(count));
        for (Row& row : rows)
            for (float& value : row) value = static_cast<float>(random_.between(-8, 8)) / 4;
        return rows;
    }

    // True when `work` did what it should; an Error is the only other way out.
    template <typename F>
    bool succeeds(F work) {
        try {
            work();
            return true;
        } catch (const Error& error) {
            EXPECT_EQ(std::string_view(error.what()).substr(0, 1), "[");
            return false;
        }
    }

    void set_input(Pupil& pupil) {
        const std::int64_t count = random_.between(0, most_rows + 1);
        std::vector<Row>& data = data_.emplace_back(some_rows(count));
        data.reserve(1);  // so that there is an address
        const std::int64_t columns = random_.one_in(8) ? width - 1 : width;
        const bool fits = count >= 1 && count <= most_rows && columns == width;
        if (succeeds([&] { pupil.graph.set("x", data.data(), {count, columns}); })) {
            EXPECT_TRUE(fits);
            pupil.x = data;
            pupil.rows = count;
        } else {
            EXPECT_FALSE(fits);
        }
        pupil.last.reset();
    }

    // A size that is not that of x contradicts it until one of them is set again; the length of a
    // state can be set to what it is alone.
    void set_symbol(Pupil& pupil) {
        EXPECT_FALSE(succeeds([&] { pupil.graph.set(random_.one_in(2) ? "U" : "T", std::int64_t{9}); }));
        const std::int64_t length = random_.between(0, 3);
        EXPECT_EQ(succeeds([&] { pupil.graph.set("P", length); }),
                  length == static_cast<std::int64_t>(pupil.history.size()));
        const std::int64_t rows = random_.between(1, most_rows);
        EXPECT_TRUE(succeeds([&] { pupil.graph.set("T", rows); }));
        pupil.rows = rows;
        pupil.last.reset();
    }

    void set_output(Pupil& pupil) {
        pupil.last.reset();
        if (random_.one_in(3)) {
            EXPECT_TRUE(succeeds([&] { pupil.graph.set_output("next", nullptr, 0); }));
            pupil.own = nullptr;
            return;
        }
        pupil.own = &buffers_.emplace_back(static_cast<std::size_t>(random_.between(1, most_rows) * width), -99.0F);
        if (!succeeds([&] { pupil.graph.set_output("next", pupil.own->data(), pupil.own->size() * sizeof(float)); }))
            pupil.graph.set_output("next", nullptr, 0), pupil.own = nullptr;
    }

    void run(Pupil& pupil) {
        const bool room = pupil.own == nullptr || pupil.own->size() >= pupil.x.size() * width;
        const bool whole = !pupil.x.empty() && pupil.rows == static_cast<std::int64_t>(pupil.x.size());
        const bool can = *pupil.bound && whole && room && pupil.history.size() + pupil.x.size() <= capacity;
        const bool ran = succeeds([&] { pupil.graph.run(); });
        EXPECT_EQ(ran, can) << *pupil.bound << pupil.x.size() << room << pupil.history.size();
        pupil.last.reset();
        if (!ran) return;
        ++runs_;
        ++pupil.runs;
        pupil.history.insert(pupil.history.end(), pupil.x.begin(), pupil.x.end());
        pupil.total = {};
        for (const Row& row : pupil.history)
            for (std::size_t j = 0; j < row.size(); ++j) pupil.total[j] += row[j] * static_cast<float>(j + 1);
        pupil.last = pupil.x;
        read(pupil);
    }

    void read(Pupil& pupil) {
        std::vector<float> total, next;
        const auto copy = [&](const char* name) {
            const auto values = pupil.graph.output(name).as<float>();
            return std::vector<float>(values.begin(), values.end());
        };
        const bool there = succeeds([&] { total = copy("total"), next = copy("next"); });
        EXPECT_FALSE(succeeds([&] { copy("absent"); }));
        if (pupil.last) { EXPECT_TRUE(there); }
        if (!there || !pupil.last) return;
        EXPECT_EQ(total, std::vector<float>(pupil.total.begin(), pupil.total.end()));
        std::vector<float> expected;
        for (const Row& row : *pupil.last)
            for (const float value : row) expected.push_back(value + 1);
        EXPECT_EQ(next, expected);
        if (pupil.own != nullptr) {
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(), pupil.own->begin()));
            for (std::size_t i = expected.size(); i < pupil.own->size(); ++i) EXPECT_LE((*pupil.own)[i], 3.0F);
        }
    }

    void rewind(Pupil& pupil) {
        const std::int64_t length = random_.between(-1, capacity + 1);
        const bool fits = length >= 0 && length <= static_cast<std::int64_t>(pupil.history.size());
        EXPECT_EQ(succeeds([&] { pupil.graph.rewind("P", length); }), fits);
        EXPECT_FALSE(succeeds([&] { pupil.graph.rewind("T", 0); }));
        if (fits) pupil.history.resize(static_cast<std::size_t>(length));
        pupil.last.reset();
    }

    void add_instance(Pupil& pupil) {
        std::optional<CompiledGraph> graph;
        if (succeeds([&] { graph.emplace(pupil.graph.instance()); })) add(std::move(*graph), pupil.bound);
    }

    void save_and_load(Pupil& pupil) {
        pupil.graph.save(path_);
        add(CompiledGraph::load(path_, context_), std::make_shared<bool>(false));
        EXPECT_FALSE(succeeds([&] { CompiledGraph::load(path_.parent_path() / "absent.cairn", context_); }));
    }

    void ask(Pupil& pupil) {
        const std::pair<std::string_view, std::int64_t> sizes[] = {{"T", random_.between(1, most_rows)}};
        EXPECT_GE(pupil.graph.memory().states, capacity * width * 4);
        EXPECT_GE(pupil.graph.memory({{"T", sizes[0].second}}).states, width * 4);
        const bool room = static_cast<std::int64_t>(pupil.history.size()) + sizes[0].second <= capacity;
        EXPECT_EQ(succeeds([&] { pupil.graph.reserve(sizes); }), room);
        EXPECT_FALSE(succeeds([&] { pupil.graph.memory({{"T", 99}}); }));
        EXPECT_FALSE(pupil.graph.program().empty());
        EXPECT_FALSE(pupil.graph.explain().empty());
    }

    void bind(Pupil& pupil) {
        const bool wrong = random_.one_in(3), before = *pupil.bound;
        const bool ok = succeeds([&] {
            pupil.graph.bind([&](std::string_view) {
                InputView view;
                view.data = scale_.data();
                view.shape = {wrong ? width - 1 : width};
                return view;
            });
        });
        EXPECT_EQ(ok, !before && !wrong);
        *pupil.bound = before || ok;
        pupil.last.reset();
    }

    // Rows of any number, of which too many are refused, and a count; each also in ways that are wrong.
    void set_state(Pupil& pupil) {
        const std::vector<Row> rows =
            some_rows(random_.one_in(4) ? random_.between(3, capacity + 1) : random_.between(0, 2));
        std::vector<float> elements;
        for (const Row& row : rows) elements.insert(elements.end(), row.begin(), row.end());
        const auto count = static_cast<std::int64_t>(rows.size());
        const std::int64_t columns = random_.one_in(8) ? width - 1 : width;
        const bool by_shape = random_.one_in(2), fits = count <= capacity && (columns == width || !by_shape);
        const bool done = succeeds([&] {
            if (by_shape)
                pupil.graph.set_state("rows", elements.data(), {count, columns});
            else
                pupil.graph.set_state("rows", elements);
        });
        EXPECT_EQ(done, fits) << count << " x " << columns;
        if (done) pupil.history = rows, pupil.last.reset();
        elements.push_back(0);
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("rows", elements); })) << "a part of a row";
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("rows", std::vector<double>(width)); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("absent", elements); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("rows", nullptr, {1, width}); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("runs", std::vector<std::int64_t>(2)); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("runs", elements.data(), {1}); }));
        if (random_.one_in(2)) return;
        pupil.runs = random_.between(-1000, 1000);
        EXPECT_TRUE(succeeds([&] { pupil.graph.set_state("runs", std::array{pupil.runs}); }));
        pupil.last.reset();
    }

    void save_states(Pupil& pupil) {
        if (saved_ && !random_.one_in(4)) return;  // a disk takes its time
        EXPECT_FALSE(succeeds([&] { pupil.graph.save_states(states_ / "below" / "a file"); }));
        EXPECT_TRUE(succeeds([&] { pupil.graph.save_states(states_); }));
        saved_ = {{pupil.history, pupil.runs}};
    }

    // Files of other states are refused whole.
    void load_wrong_states(Pupil& pupil) {
        const std::filesystem::path wrong = std::filesystem::path(states_) += ".wrong";
        const std::vector<float> rows((capacity + 1) * width);
        const std::int64_t runs = 77;
        NamedTensor good{"runs", {.data = &runs, .dtype = DType::i64}};
        NamedTensor bad{"rows", {.data = rows.data(), .shape = {1, width}}};
        switch (random_.below(4)) {
            case 0: bad.name = "columns"; break;
            case 1: bad.view.shape = {1, width + 1}; break;
            case 2: bad.view.shape = {capacity + 1, width}; break;
            default: bad.view.dtype = DType::i32;
        }
        write_safetensors(wrong, {good, bad});
        EXPECT_FALSE(succeeds([&] { pupil.graph.load_states(wrong); }));
        std::filesystem::remove(wrong);
        EXPECT_FALSE(succeeds([&] { pupil.graph.load_states(wrong); }));
    }

    // What any pupil saved, when there is something.
    void load_states(Pupil& pupil) {
        if (random_.one_in(4)) load_wrong_states(pupil);
        EXPECT_EQ(succeeds([&] { pupil.graph.load_states(states_); }), saved_.has_value());
        if (!saved_) return;
        ++loads_;
        std::tie(pupil.history, pupil.runs) = *saved_;
        pupil.last.reset();
    }

    void reset_states(Pupil& pupil) {
        EXPECT_TRUE(succeeds([&] { pupil.graph.reset_states(); }));
        pupil.history.clear();
        pupil.runs = 0;
        pupil.last.reset();
    }

    // After each call, whether it did something or was refused.
    void look_at_states(const Pupil& pupil) {
        const OutputView rows = pupil.graph.state("rows");
        EXPECT_EQ((std::vector<std::int64_t>(rows.shape.begin(), rows.shape.end())),
                  (std::vector<std::int64_t>{static_cast<std::int64_t>(pupil.history.size()), width}));
        std::vector<float> expected;
        for (const Row& row : pupil.history) expected.insert(expected.end(), row.begin(), row.end());
        const auto held = rows.as<float>();
        EXPECT_EQ(std::vector<float>(held.begin(), held.end()), expected);
        EXPECT_EQ(pupil.graph.state("runs").as<std::int64_t>()[0], pupil.runs);
        EXPECT_FALSE(succeeds([&] { (void)pupil.graph.state("runs").as<double>(); }));
        EXPECT_FALSE(succeeds([&] { (void)pupil.graph.state("absent"); }));
    }

    void move(Pupil& pupil) {
        CompiledGraph elsewhere = std::move(pupil.graph);
        pupil.graph = std::move(elsewhere);
    }

    RandomSource random_;
    const Context& context_;
    std::filesystem::path path_, states_;
    std::deque<Pupil> pupils_;
    std::optional<std::pair<std::vector<Row>, std::int64_t>> saved_;  ///< in the file of states
    std::deque<std::vector<Row>> data_;
    std::deque<std::vector<float>> buffers_;
    const Row scale_ = {1, 2, 3, 4};
    int runs_ = 0, loads_ = 0;
};

// In every order: each call does what it promises or throws an Error, and results are right whenever there are some.
TEST(RandomWalk, OnlyErrorsComeOutAndResultsAreRight) {
    const Context one, two({.threads = 2});
    int runs = 0, loads = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Walk walk(seed, seed % 4 == 0 ? two : one);
        for (int i = 0; i < 300; ++i) walk.step();
        runs += walk.runs();
        loads += walk.loads();
        if (HasFailure()) return;
    }
    EXPECT_GT(runs, 500) << "most walks must get somewhere";
    EXPECT_GT(loads, 100);
}

}  // namespace
}  // namespace cairn::test
