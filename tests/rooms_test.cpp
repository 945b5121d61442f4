// The folders of the tree lie one above the other, as src/README.md draws them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path tree = RESTRIDE_TREE;

/// What a file includes in quotes.
std::vector<std::string> quoted_includes(const fs::path& file) {
  const std::string before = "#include \"";
  std::vector<std::string> included;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(before)) continue;
    included.push_back(line.substr(before.size(), line.rfind('"') - before.size()));
  }
  return included;
}

std::vector<fs::path> sources(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string kind = entry.path().extension();
    if (kind == ".cpp" || kind == ".hpp" || kind == ".h") files.push_back(entry.path());
  }
  return files;
}

/// The rooms of src that a room includes, by name: `microkernel/permute`.
std::map<std::string, std::set<std::string>> rooms() {
  std::map<std::string, std::set<std::string>> below;
  for (const fs::path& file : sources(tree / "src")) {
    const std::string room = fs::relative(file.parent_path(), tree / "src");
    for (const std::string& name : quoted_includes(file)) {
      const std::string other = fs::path(name).parent_path();
      if (other != room && fs::exists(tree / "src" / name)) below[room].insert(other);
    }
    below[room];
  }
  return below;
}

TEST(Rooms, LieOneAboveTheOther) {
  auto left = rooms();
  ASSERT_GT(left.size(), 10U);
  // The lowest room goes as long as there is one that includes none of those left.
  for (bool lower = true; lower;) {
    const auto lowest = std::find_if(left.begin(), left.end(), [&](const auto& room) {
      return std::none_of(room.second.begin(), room.second.end(),
                          [&](const std::string& other) { return left.contains(other); });
    });
    lower = lowest != left.end();
    if (lower) left.erase(lowest);
  }
  for (const auto& [room, others] : left)
    ADD_FAILURE() << room << " is part of a circle, or above one";
}

TEST(Rooms, EachFileOfTheLibraryIsInARoom) {
  for (const auto& [room, others] : rooms()) EXPECT_NE(room, ".");
}

TEST(Rooms, LibraryIncludesNothingOfItsBackendsAndInterfacesNothingOfTheLibrary) {
  for (const fs::path& file : sources(tree / "src")) {
    for (const std::string& name : quoted_includes(file))
      EXPECT_TRUE(fs::exists(tree / "src" / name) || fs::exists(tree / "include" / name))
          << file << " includes " << name;
  }
  for (const fs::path& file : sources(tree / "include")) {
    for (const std::string& name : quoted_includes(file))
      EXPECT_TRUE(fs::exists(tree / "include" / name)) << file << " includes " << name;
  }
}

}  // namespace
