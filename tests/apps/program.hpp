#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "../support/temporary_folder.hpp"

namespace tandem::test {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ended {
  int code;
  std::string out, err;
};

/// Runs the program in a folder of its own. Rates are kept there too, unless TANDEM_CACHE says where.
class Program {
 public:
  /// `arguments` go through the shell, with the folder as working directory.
  Ended operator()(const std::string& arguments, const std::string& before = "") const {
    const std::string folder = folder_.path().string();
    const std::string command = "cd '" + folder + "' || exit 1; export TANDEM_CACHE=\"${TANDEM_CACHE:-" +
                                folder + "/.rates}\"; " + before + " '" TANDEM_PROGRAM "' " + arguments +
                                " > .out 2> .err < /dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / ".out"),
            text_of(folder_ / ".err")};
  }
  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(text_of(folder_ / name));
  }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  bool has(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  /// Files in the folder that start with a name, hidden ones too: what a failed run may have left.
  int left_of(const std::string& name) const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      count += entry.path().filename().string().find(name) != std::string::npos;
    return count;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace tandem::test
