#include "apps/cli/dataflow_chart.hpp"

#include "apps/cli/dataflow.hpp"
#include "apps/cli/output.hpp"
#include "apps/cli/report_style.hpp"
#include "apps/cli/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace cairn::cli {
namespace {

constexpr double row_height = 36, lane_width = 9, group_width = 304, call_width = 340, bar_width = 310, time_width = 70;
constexpr int max_lanes = 12;

/// The edges between instructions of the run, by their rows.
std::vector<RowSpan> spans_of(const ExplainedBucket& bucket) {
    std::vector<int> number(bucket.instructions.size(), -1);
    int next = 0;
    for (std::size_t i = 0; i < number.size(); ++i)
        if (!bucket.instructions[i].at_bind) number[i] = next++;
    std::vector<RowSpan> spans;
    for (const DataflowEdge& edge : dataflow_edges(bucket)) {
        const RowSpan span{number[static_cast<std::size_t>(edge.from)], number[static_cast<std::size_t>(edge.to)]};
        if (span.from >= 0 && span.to >= 0) spans.push_back(span);
    }
    return spans;
}

std::string abbreviated_names(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

/// `reads x, h.0.attn.weight; writes keys.0`
std::string ports_text(const ExplainedBucket& bucket, const ExplainedInstruction& each) {
    const std::string read = abbreviated_names(names_read(bucket, each)),
                      written = abbreviated_names(names_written(bucket, each));
    return fmt::format("{}{}{}{}{}", read.empty() ? "" : "reads ", read, read.empty() || written.empty() ? "" : "; ",
                       written.empty() ? "" : "writes ", written);
}

/// SVG path of an edge between rows that are not neighbours; `x` is the left edge of the boxes.
std::string edge_path(double x, double lane, double from, double to) {
    const double out = x - 8 - lane * lane_width;
    return fmt::format(
        "M {:.1f} {:.1f} C {:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f} L {:.1f} {:.1f} C {:.1f} {:.1f} {:.1f} "
        "{:.1f} {:.1f} {:.1f}",
        x, from, out, from, out, from, out, from + 9, out, to - 9, out, to, out, to, x, to);
}

class DataflowChart {
public:
    explicit DataflowChart(const ReportData& study)
        : bucket_(study.run_bucket()),
          groups_(study.groups),
          instructions_(study.instructions()),
          seconds_(study.seconds()),
          expected_scale_(study.expected_scale()),
          spans_(spans_of(bucket_)),
          lanes_(far_edge_columns()),
          left_(14 + lane_width *
                         std::min(max_lanes, lanes_.empty() ? 0 : 1 + *std::max_element(lanes_.begin(), lanes_.end()))),
          svg_(left_ + group_width + call_width + bar_width + time_width,
               20 + row_height * static_cast<double>(instructions_.size()), "the instructions of a run") {
        for (const double each : seconds_) longest_ = std::max(longest_, each);
        for (const ExplainedInstruction* each : instructions_)
            longest_ = std::max(longest_, each->chosen.seconds * expected_scale_);
    }

    std::string draw() && {
        svg_.text(left_ + group_width + 12, 12, "kernel", "small");
        svg_.text(left_ + group_width + call_width, 12, "time", "small");
        for (std::size_t i = 0; i < instructions_.size(); ++i) draw_row(i);
        std::size_t lane = 0;
        for (const RowSpan& span : spans_)
            if (span.to != span.from + 1)
                svg_.path(edge_path(left_, std::min(lanes_[lane++], max_lanes), middle(span.from), middle(span.to)),
                          "edge", fmt::format("{} to {}", span.from, span.to));
        return std::move(svg_).finish();
    }

private:
    std::vector<int> far_edge_columns() const {
        std::vector<RowSpan> far;
        for (const RowSpan& span : spans_)
            if (span.to != span.from + 1) far.push_back(span);
        return edge_columns(far);
    }

    static double top(int row) { return 20 + row_height * row; }
    static double middle(int row) { return top(row) + row_height / 2 - 2; }

    void draw_row(std::size_t i) {
        const ExplainedInstruction& each = *instructions_[i];
        const int row = static_cast<int>(i);
        const double y = top(row), call = left_ + group_width + 12;
        const std::string definition = definition_of(each.chosen.problem);
        if (i % 2 == 1) svg_.rect(left_, y - 2, group_width + call_width + bar_width + time_width, row_height, "band");
        svg_.rect(left_, y, 5, row_height - 5, style_of(definition), each.chosen.problem);
        svg_.text(left_ + 12, y + 13, fmt::format("{}  {}", i, shortened(definition, 38)), "strong",
                  each.chosen.problem);
        const std::string result = result_text(each);
        svg_.text(left_ + 12, y + 27, shortened(result, 46), "small", result);
        svg_.text(call, y + 13, shortened(each.chosen.kernel, 46), "", each.chosen.problem);
        const std::string named = ports_text(bucket_, each);
        svg_.text(call, y + 27, shortened(named, 54), "small", named);
        draw_time(i, y, definition);
        const auto hands_on = [&](const RowSpan& span) { return span.from == row && span.to == row + 1; };
        if (std::any_of(spans_.begin(), spans_.end(), hands_on))
            svg_.line(left_ + 2.5, y + row_height - 5, left_ + 2.5, y + row_height, "edge");
    }

    /// `f32[1,T,768] by matmul add`: the result of the instruction and its atomic ops.
    std::string result_text(const ExplainedInstruction& each) const {
        const std::string& problem = each.chosen.problem;
        const std::string& group = groups_.at(problem);
        const std::size_t arrow = problem.find("-> "),
                          end = std::min(problem.find(" where ", arrow), problem.find(" results ", arrow));
        const std::string made = arrow == std::string::npos ? "" : problem.substr(arrow + 3, end - arrow - 3);
        const bool adds_group = !group.empty() && group != definition_of(problem);
        return made + (adds_group ? " by " + group : "") + (each.where.empty() ? "" : ", " + each.where);
    }

    /// A bar for the measured time, and a tick at the expected time.
    void draw_time(std::size_t i, double y, const std::string& definition) {
        const double x = left_ + group_width + call_width, scale = longest_ > 0 ? (bar_width - 10) / longest_ : 0;
        const double took = seconds_[i], expected = instructions_[i]->chosen.seconds * expected_scale_;
        const std::string title = fmt::format("{} took {}, expected {}", i, time_text(took), time_text(expected));
        svg_.rect(x, y + 5, std::max(1.0, took * scale), 14, style_of(definition), title);
        svg_.line(x + expected * scale, y + 3, x + expected * scale, y + 21, "tick");
        svg_.text(x + bar_width + time_width - 4, y + 16, time_text(took), "end", title);
    }

    const ExplainedBucket& bucket_;
    const std::map<std::string, std::string>& groups_;
    const std::vector<const ExplainedInstruction*> instructions_;
    const std::vector<double> seconds_;
    const double expected_scale_;
    const std::vector<RowSpan> spans_;
    const std::vector<int> lanes_;  // of the spans between rows that are not neighbours
    const double left_;
    double longest_ = 0;
    Svg svg_;
};

}  // namespace

std::vector<int> edge_columns(const std::vector<RowSpan>& spans) {
    std::vector<std::size_t> order(spans.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Short spans get the inner columns.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return spans[a].to - spans[a].from < spans[b].to - spans[b].from;
    });
    std::vector<int> lanes(spans.size(), -1);
    for (const std::size_t i : order) {
        const auto is_free = [&](int lane) {
            return std::none_of(order.begin(), order.end(), [&](std::size_t j) {
                return lanes[j] == lane && spans[j].from != spans[i].from && spans[j].from < spans[i].to &&
                       spans[i].from < spans[j].to;
            });
        };
        int lane = 0;
        while (!is_free(lane)) ++lane;
        lanes[i] = lane;
    }
    return lanes;
}

std::string dataflow_chart(const ReportData& study) { return DataflowChart(study).draw(); }

}  // namespace cairn::cli
