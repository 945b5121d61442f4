// restride emit: a problem as a relocatable object for any machine, and the C header that goes with
// it.
#include <cstdio>
#include <span>

#include "atomic_file.hpp"
#include "commands.hpp"
#include "restride/object.hpp"

namespace restride::tools {
namespace {

/// `kernel` of `path/kernel.o`.
std::string symbol_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
  return file.substr(0, file.find('.'));
}

Result<void> write(const std::string& path, std::span<const std::byte> bytes) {
  return write_atomically(path, {}, bytes);
}

}  // namespace

ExitCode emit_command(const EmitRequest& request) {
  const Result<Problem> problem = parse_problem(request.problem);
  if (!problem) return refuse(problem.error().message);
  const std::string symbol = request.symbol.empty() ? symbol_of(request.output) : request.symbol;
  const Result<Object> object = emit_object(*problem, {request.target, symbol});
  if (!object) return refuse(object.error().message);
  if (!request.header.empty()) {
    const Result<void> written = write(request.header, std::as_bytes(std::span(object->header)));
    if (!written) return refuse(written.error().message);
  }
  const Result<void> written = write(request.output, std::as_bytes(std::span(object->bytes)));
  if (!written) return refuse(written.error().message);
  std::printf("%s: %zu bytes for %s, which needs %s\n", request.output.c_str(),
              object->bytes.size(), object->target.c_str(), object->required_features.c_str());
  return ExitCode::success;
}

}  // namespace restride::tools
