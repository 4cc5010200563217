#include "tests/house/arrows.hpp"

#include "tests/house/source.hpp"

#include <sstream>

namespace cairn::house {
namespace {

/// The words of a build file without comments; each bracket is a word.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (std::string line : lines_of(text)) {
        line = line.substr(0, line.find('#'));
        std::string spaced;
        for (char c : line) spaced += c == '(' || c == ')' ? std::string{' ', c, ' '} : std::string(1, c);
        std::istringstream stream(spaced);
        for (std::string word; stream >> word;) words.push_back(word);
    }
    return words;
}

struct Room {
    std::string name;
    std::set<std::string> sees;
    std::set<std::string> uses;
};

/// The cairn_room(...) calls of a build file.
std::vector<Room> rooms_in(std::string_view text) {
    std::vector<Room> rooms;
    const auto words = words_of(text);
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
        if (words[i] != "cairn_room" || words[i + 1] != "(") continue;
        Room room{words[i + 2], {}, {}};
        std::string list;
        for (i += 3; i < words.size() && words[i] != ")"; ++i) {
            if (words[i] == "SOURCES" || words[i] == "SEES" || words[i] == "USES" || words[i] == "APART")
                list = words[i];
            else if (list == "SEES")
                room.sees.insert(words[i]);
            else if (list == "USES")
                room.uses.insert(words[i]);
        }
        rooms.push_back(room);
    }
    return rooms;
}

/// The rooms of src/ whose headers the files of `room` include, each with an including file. Public headers are not
/// counted, since `face` is not a target.
std::map<std::string, std::string> rooms_included_by(const Tree& tree, const std::string& room) {
    std::map<std::string, std::string> found;
    for (const File& file : tree) {
        if (!is_source(file.path) || room_of(file.path) != room) continue;
        for (const Include& include : includes_of(file.text)) {
            const std::string target = resolve(tree, include.name, folder_of(file.path));
            if (is_under(target, "src") && room_of(target) != room) found.emplace(room_of(target), file.path);
        }
    }
    return found;
}

void check_room(const Tree& tree, const File& file, const Room& room, Faults& faults) {
    const std::string location = file.path + ": ";
    const std::string folder = room_of(file.path);
    if (room.name != folder) faults.push_back(location + "cairn_room(" + room.name + ") is in the folder of " + folder);
    const auto allowed = permitted_includes().find(folder);
    for (const auto& seen : room.sees)
        if (allowed == permitted_includes().end() || !allowed->second.contains(seen))
            faults.push_back(location + folder + " may not see " + seen);
    for (const auto& [seen, by] : rooms_included_by(tree, folder))
        if (!room.sees.contains(seen))
            faults.push_back(location + "SEES lacks " + seen + ", which " + by + " includes");
    if (room.uses.contains("sqlite") && folder != "database")
        faults.push_back(location + "only database may use sqlite");
    if (room.uses.contains("eigen")) faults.push_back(location + "Eigen belongs to cairn_isa_sources alone");
}

}  // namespace

Faults wrong_room_declarations(const Tree& tree) {
    Faults faults;
    for (const File& file : tree) {
        if (name_of(file.path) != "CMakeLists.txt") continue;
        if (!is_under(file.path, "src") && !is_under(file.path, "kernels")) continue;
        const auto rooms = rooms_in(file.text);
        if (rooms.empty()) faults.push_back(file.path + ": declares no cairn_room");
        for (const Room& room : rooms) check_room(tree, file, room, faults);
        for (const auto& word : words_of(file.text))
            if (word == "target_link_libraries" || word == "add_library" || word == "GLOB" || word == "GLOB_RECURSE")
                faults.push_back(file.path + ": " + word + " bypasses cairn_room and its list of sources");
    }
    return faults;
}

}  // namespace cairn::house
