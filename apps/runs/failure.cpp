#include "failure.hpp"

#include <filesystem>
#include <new>
#include <stdexcept>

#include "../../core/error.hpp"
#include "signals.hpp"

namespace tandem::apps {

namespace {

/// The message for what the standard library or oneTBB throws if memory or threads do not suffice.
std::string shortage(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) || dynamic_cast<const std::length_error*>(&e))
    return "memory: the host has no more; give --memory GIB below what is free, or --binning";
  return std::string("the system: ") + e.what() + "; free threads or memory, or give --threads N";
}

}  // namespace

std::optional<Failure> failure_of(const std::function<void()>& work) {
  const std::size_t before = io::published().size();
  // the failure of a command that ended early says what was written; after a signal, the signal is the cause
  const auto early = [&](const std::string& what, int code) {
    return Failure{caught_signal() != 0 ? 128 + caught_signal() : code, what + words_on_published(before)};
  };
  try {
    work();
    return std::nullopt;
  } catch (const CheckFailed& e) {
    return Failure{1, e.what()};
  } catch (const UsageError& e) {
    return Failure{2, e.what()};
  } catch (const ScansFailed& e) {
    return Failure{e.code, e.what()};
  } catch (const Interrupted& e) {
    return early(e.what(), 0);
  } catch (const FileError& e) {
    return early(e.what(), 3);
  } catch (const GeometryError& e) {
    return early(e.what(), 4);
  } catch (const DeviceError& e) {
    return early(e.what(), 5);
  } catch (const SpaceError& e) {
    return early(e.what(), 4);
  } catch (const std::filesystem::filesystem_error& e) {
    return early(e.what(), 3);
  } catch (const std::exception& e) {
    return early(shortage(e), 5);
  }
}

}  // namespace tandem::apps
