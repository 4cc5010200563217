#include "cairn/cairn.hpp"
#include "tests/ir/random_source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <filesystem>
#include <optional>

namespace cairn::test {
namespace {

constexpr std::int64_t width = 4, capacity = 6, most_rows = 3;

using Row = std::array<float, width>;

/// total[j] = scale[j] * the sum of column j over all rows since the last rewind; next = x + 1.
Graph running_total() {
    Graph g("total");
    const Dim t = g.symbol("T", 1, most_rows), past = g.symbol("P", 0, capacity);
    State rows = g.state("rows", DType::f32, {past, width}, 0, capacity);
    const Tensor x = g.input("x", DType::f32, {t, width});
    g.output("total", sum(rows.append(x) * g.weight("scale", DType::f32, {width}), {0}));
    g.output("next", x + 1);
    return g;
}

/// A CompiledGraph beside what its promises make of the same calls.
struct Pupil {
    CompiledGraph graph;
    std::shared_ptr<bool> bound;           ///< one for all instances
    std::vector<Row> x;                    ///< empty: not set
    std::int64_t rows = 0;                 ///< the value of T
    std::vector<Row> history;              ///< rows of the state
    std::optional<std::vector<Row>> last;  ///< the x of the last good run, while its outputs may be read
    Row total{};                           ///< of that run
    std::vector<float>* own = nullptr;     ///< memory of the output `next`
};

class Walk {
public:
    explicit Walk(std::uint64_t seed, const Context& context)
        : random_(seed),
          context_(context),
          path_(std::filesystem::path(CAIRN_BINARY_DIR) / ("random_walk_" + std::to_string(seed) + ".cairn")) {
        pupils_.push_back(Pupil{compile(running_total(), context, {.splits = {{"T", {1}}}}),
                                std::make_shared<bool>(false),
                                {},
                                0,
                                {},
                                {},
                                {},
                                nullptr});
    }
    ~Walk() { std::filesystem::remove(path_); }

    void step() {
        Pupil& pupil = pupils_[static_cast<std::size_t>(random_.below(static_cast<int>(pupils_.size())))];
        switch (random_.below(14)) {
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
            default: return move(pupil);
        }
    }
    int runs() const { return runs_; }

private:
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
        std::vector<Row>& data = data_.emplace_back(static_cast<std::size_t>(count + 1));
        data.resize(static_cast<std::size_t>(count));
        for (Row& row : data)
            for (float& value : row) value = static_cast<float>(random_.between(-8, 8)) / 4;
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
        if (!succeeds([&] { graph.emplace(pupil.graph.instance()); })) return;
        Pupil other{std::move(*graph), pupil.bound, {}, 0, {}, {}, {}, nullptr};
        pupils_.push_back(std::move(other));
    }

    void save_and_load(Pupil& pupil) {
        pupil.graph.save(path_);
        Pupil other{CompiledGraph::load(path_, context_), std::make_shared<bool>(false), {}, 0, {}, {}, {}, nullptr};
        pupils_.push_back(std::move(other));
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

    void move(Pupil& pupil) {
        CompiledGraph elsewhere = std::move(pupil.graph);
        pupil.graph = std::move(elsewhere);
    }

    RandomSource random_;
    const Context& context_;
    std::filesystem::path path_;
    std::deque<Pupil> pupils_;
    std::deque<std::vector<Row>> data_;
    std::deque<std::vector<float>> buffers_;
    const Row scale_ = {1, 2, 3, 4};
    int runs_ = 0;
};

// In every order: each call does what it promises or throws an Error, and results are right whenever there are some.
TEST(RandomWalk, OnlyErrorsComeOutAndResultsAreRight) {
    const Context one, two({.threads = 2});
    int runs = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Walk walk(seed, seed % 4 == 0 ? two : one);
        for (int i = 0; i < 200; ++i) walk.step();
        runs += walk.runs();
        if (HasFailure()) return;
    }
    EXPECT_GT(runs, 500) << "most walks must get somewhere";
}

}  // namespace
}  // namespace cairn::test
