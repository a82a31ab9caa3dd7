#include "stage_words.hpp"

namespace tandem::apps {

const std::map<std::string, std::string>& stage_words() {
  static const std::map<std::string, std::string> words{{"back-project", "back-projecting"},
                                                        {"backproject", "back-projecting"},
                                                        {"check", "checking"},
                                                        {"filter", "filtering"},
                                                        {"find axis", "finding the axis"},
                                                        {"finish", "closing the file"},
                                                        {"follow", "adding views"},
                                                        {"iterate", "solving"},
                                                        {"look ahead", "finding the weight"},
                                                        {"preprocess", "cleaning the counts"},
                                                        {"read", "reading"},
                                                        {"read rows", "reading rows"},
                                                        {"search", "finding the weight"},
                                                        {"simulate", "simulating"},
                                                        {"start", "starting"},
                                                        {"transfer", "to and from the GPU"},
                                                        {"truth", "drawing the truth"},
                                                        {"try axes", "trying axes"},
                                                        {"wait", "waiting for views"},
                                                        {"weigh again", "weighing views again"},
                                                        {"weight", "finding the weight"},
                                                        {"write", "writing the volume"}};
  return words;
}

std::string words_of_stage(std::string_view name) {
  if (const std::size_t comma = name.rfind(", "); comma != name.npos)
    return std::string(name.substr(0, comma + 2)) + words_of_stage(name.substr(comma + 2));
  const auto found = stage_words().find(std::string(name));
  return found == stage_words().end() ? std::string(name) : found->second;
}

}  // namespace tandem::apps
