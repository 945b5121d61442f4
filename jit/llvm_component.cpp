// Finding and checking the component. dlopen is the only call into the system.
#include "llvm_component.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace restride {
namespace {

constexpr const char* file_name = "restride_llvm.so";

using Found = Result<const LlvmComponent*>;

/// The stamp is compared before the table is looked at: it says whether the table is what it seems.
/// Otherwise the reason is added to `reasons`.
const LlvmComponent* open(const std::string& path, std::string& reasons) {
  if (!reasons.empty()) reasons += "; ";
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    reasons += reason != nullptr ? reason : path;
    return nullptr;
  }
  const auto* stamp = static_cast<const char*>(dlsym(handle, "restride_llvm_stamp"));
  if (stamp == nullptr || std::strcmp(stamp, RESTRIDE_LLVM_STAMP) != 0) {
    reasons += path + ": is of another build of this library";
    return nullptr;
  }
  return static_cast<const LlvmComponent*>(dlsym(handle, "restride_llvm_component"));
}

/// The folder of the file, executable or shared object, that holds this code; ends in a slash.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&llvm_component), &info) == 0 || !info.dli_fname)
    return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

std::vector<std::string> places() {
  const char* const forced = secure_getenv("RESTRIDE_LLVM_COMPONENT");
  if (forced != nullptr && *forced != '\0') return {forced};
  const std::string folder = own_folder();
  return {folder + file_name, folder + "../" RESTRIDE_LLVM_FOLDER "/" + file_name,
          RESTRIDE_LLVM_COMPONENT_PATH};
}

Found find() {
  std::string reasons;
  for (const std::string& path : places()) {
    if (const LlvmComponent* component = open(path, reasons)) return component;
  }
  return Error{ErrorCode::unsupported, "the LLVM component does not load: " + reasons};
}

}  // namespace

Result<const LlvmComponent*> llvm_component() {
  static const Found found = find();
  return found;
}

}  // namespace restride
