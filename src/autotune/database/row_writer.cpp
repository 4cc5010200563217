#include "autotune/database/row_writer.hpp"

namespace cairn::autotune {

RowWriter::RowWriter(SqliteFile& file)
    : file_(file),
      problem_(file.prepare("INSERT OR IGNORE INTO problem VALUES(?1,?2)")),
      candidate_(file.prepare("INSERT OR IGNORE INTO candidate VALUES(?1,?2)")),
      environment_(file.prepare("INSERT OR IGNORE INTO environment VALUES(?1,?2,?3)")),
      policy_(file.prepare("INSERT OR IGNORE INTO policy VALUES(?1,?2)")),
      session_(file.prepare("INSERT OR IGNORE INTO session VALUES(?1,?2,?3,?4,?5)")),
      time_(file.prepare("INSERT OR IGNORE INTO measurement VALUES"
                         "(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)")),
      error_(file.prepare("INSERT OR IGNORE INTO accuracy VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)")),
      choice_(file.prepare("INSERT OR IGNORE INTO choice VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)")),
      rule_(file.prepare("INSERT OR IGNORE INTO rule VALUES(?1,?2,?3,?4,?5,?6,?7)")) {}

bool RowWriter::run(Statement& statement) {
    statement.step();
    statement.reset();
    return file_.changes() > 0;
}

void RowWriter::put_text(Statement& statement, const std::string& id, const std::string& text) {
    run(statement.bind_blob(1, id).bind(2, text));
}

std::string RowWriter::put_environment(const std::string& hard, const std::string& soft) {
    std::string id = id_of(hard + "\n" + soft);
    run(environment_.bind_blob(1, id).bind(2, hard).bind(3, soft));
    return id;
}

RowWriter::Parents RowWriter::put_parents(const Key& key) {
    Parents ids{id_of(key.problem), id_of(key.kernel), put_environment(key.hard, key.soft), {}};
    put_text(problem_, ids.problem, key.problem);
    put_text(candidate_, ids.candidate, key.kernel);
    if (key.policy.empty()) return ids;
    ids.policy = id_of(key.policy);
    put_text(policy_, ids.policy, key.policy);
    return ids;
}

bool RowWriter::insert(const std::string& id, const SessionRow& row) {
    const std::string environment = put_environment(row.hard, row.soft);
    session_.bind_blob(1, id).bind_blob(2, environment).bind(3, row.version).bind(4, row.program).bind(5, row.time);
    return run(session_);
}

bool RowWriter::insert(const std::string& id, const TimeRow& row) {
    const Parents parents = put_parents(row.key);
    const std::string key = row.key.id();
    const Timing& timing = row.timing;
    time_.bind_blob(1, id).bind_blob(2, key).bind_blob(3, parents.problem).bind_blob(4, parents.candidate);
    time_.bind_blob(5, parents.environment).bind_blob(6, parents.policy);
    time_.bind(7, static_cast<int>(timing.status)).bind(8, timing.samples).bind(9, timing.inner);
    time_.bind(10, timing.min).bind(11, timing.p10).bind(12, timing.median).bind(13, timing.p90);
    time_.bind(14, timing.mad).bind(15, timing.bound).bind(16, timing.quality).bind(17, timing.note);
    time_.bind(18, row.time).bind_blob(19, row.session);
    return run(time_);
}

bool RowWriter::insert(const std::string& id, const ErrorRow& row) {
    const Parents parents = put_parents(row.key);
    const std::string key = row.key.id(), class_id = Key{row.class_text, row.key.kernel, row.key.hard, {}, {}}.id();
    error_.bind_blob(1, id).bind_blob(2, key).bind_blob(3, class_id).bind(4, row.class_text);
    error_.bind_blob(5, parents.problem).bind_blob(6, parents.candidate).bind_blob(7, parents.environment);
    error_.bind(8, row.figures.counted()).bind(9, row.figures.relative).bind(10, row.figures.largest);
    error_.bind(11, row.figures.promised).bind(12, row.figures.inputs).bind(13, row.figures.compared);
    error_.bind(14, row.time).bind_blob(15, row.session);
    return run(error_);
}

bool RowWriter::insert(const std::string& id, const ChoiceRow& row) {
    const std::string key = row.key_id(), environment = put_environment(row.hard, row.soft), policy = id_of(row.policy);
    put_text(policy_, policy, row.policy);
    choice_.bind_blob(1, id).bind_blob(2, key).bind(3, row.question).bind(4, row.choice.answer);
    choice_.bind_blob(5, environment).bind_blob(6, policy);
    choice_.bind(7, row.choice.ratio).bind(8, row.choice.low).bind(9, row.choice.high).bind(10, row.choice.samples);
    choice_.bind(11, row.time).bind_blob(12, row.session);
    return run(choice_);
}

bool RowWriter::insert(const std::string& id, const RuleRow& row) {
    rule_.bind_blob(1, id).bind(2, row.rule.kernel).bind(3, row.rule.problem);
    rule_.bind(4, static_cast<int>(row.rule.action) + (row.is_lifted ? lifted : 0)).bind(5, row.rule.reason);
    rule_.bind(6, row.time).bind_blob(7, row.session);
    return run(rule_);
}

bool RowWriter::insert(const Row& row) {
    const std::string id = id_of_row(row);
    return std::visit([&](const auto& one) { return insert(id, one); }, row);
}

}  // namespace cairn::autotune
