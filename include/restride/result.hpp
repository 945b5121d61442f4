// Errors are values. `Result<T>` has the member names of std::expected (C++23), so that code
// written against it moves there unchanged. Nothing here throws; reading the wrong side is a
// precondition.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace restride {

enum class ErrorCode : int {
  invalid_argument = 1,  ///< the caller's fault: the message names the field and the value
  unsupported,           ///< well-formed, but not something this build, target or backend does
  compile_failed,        ///< a backend could not turn a valid program into code
  resource_exhausted,    ///< memory, code space or a limit set by the caller
};

/// What went wrong, in one line without a trailing newline: `target.minor_to_major[0] = 5: must be
/// 0..2`.
struct Error {
  ErrorCode code;
  std::string message;

  bool operator==(const Error&) const = default;
};

/// A value of type T, or the Error that kept it from being made.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit, like std::expected
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit, like std::unexpected

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  /// Precondition of all four: has_value().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  /// Precondition: !has_value().
  const Error& error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_{};
};

/// Success, or the Error that happened.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit, like std::unexpected

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  /// Precondition: !has_value().
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace restride
