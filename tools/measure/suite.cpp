#include "suite.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "program_files.hpp"

namespace restride::tools {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr int64_t largest_suite_bytes = 16 << 20;

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

bool is_name(std::string_view text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !text.empty() && text.size() <= 100 &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

Result<Case> parse_case(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = trim(line.substr(0, colon));
  if (colon == std::string_view::npos || !is_name(name)) {
    return Error{ErrorCode::invalid_argument,
                 "not of the form `name: problem`, a name being letters, digits, `_`, `.` and `-`"};
  }
  Result<Problem> problem = parse_problem(trim(line.substr(colon + 1)));
  if (!problem) return problem.error();
  return Case{std::string(name), *std::move(problem)};
}

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > largest_suite_bytes) {
    return Error{ErrorCode::invalid_argument,
                 path.string() + ": cannot be read as a suite: " +
                     (error ? error.message() : std::to_string(size) + " bytes")};
  }
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string list_of_names() {
  std::set<std::string> names;
  for (const auto& folder : suite_folders()) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().extension() == ".txt") names.insert(entry.path().stem().string());
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

}  // namespace

Result<Suite> parse_suite(std::string_view name, std::string_view text) {
  Suite suite = {.name = std::string(name)};
  std::set<std::string> names;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.starts_with('#') && suite.about.empty()) suite.about = trim(line.substr(1));
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = suite.name + ":" + std::to_string(number) + ": ";
    Result<Case> parsed = parse_case(line);
    if (!parsed) return Error{parsed.error().code, where + parsed.error().message};
    if (!names.insert(parsed->name).second)
      return Error{ErrorCode::invalid_argument,
                   where + "the name " + parsed->name + " comes twice"};
    suite.cases.push_back(*std::move(parsed));
  }
  if (suite.cases.empty())
    return Error{ErrorCode::invalid_argument, suite.name + ": a suite without cases"};
  return suite;
}

Result<Suite> load_suite(const std::string& name_or_path) {
  std::filesystem::path path = name_or_path;
  std::error_code ignored;
  if (is_name(name_or_path) && !std::filesystem::is_regular_file(path, ignored)) {
    for (const auto& folder : suite_folders()) {
      path = folder / (name_or_path + ".txt");
      if (std::filesystem::is_regular_file(path, ignored)) break;
    }
  }
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error{ErrorCode::invalid_argument,
                 name_or_path + ": no such suite and no such file; suites: " + list_of_names()};
  }
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_suite(path.stem().string(), *text);
}

Result<void> keep_matching(Suite& suite, const std::string& expression) {
  try {
    const std::regex regex(expression);
    std::erase_if(suite.cases, [&](const Case& candidate) {
      return !std::regex_search(candidate.name, regex) &&
             !std::regex_search(to_string(candidate.problem), regex);
    });
  } catch (const std::regex_error&) {
    return Error{ErrorCode::invalid_argument, expression + ": not a regular expression"};
  }
  return {};
}

}  // namespace restride::tools
