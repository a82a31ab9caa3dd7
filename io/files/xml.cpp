#include "xml.hpp"

#include <algorithm>
#include <utility>

#include "../../core/error.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

bool is_element(const pugi::xml_node& node) { return node.type() == pugi::node_element; }

struct Innermost final : pugi::xml_tree_walker {
  std::vector<pugi::xml_node> found;
  bool for_each(pugi::xml_node& node) override {
    if (is_element(node) && std::ranges::none_of(node.children(), is_element)) found.push_back(node);
    return true;
  }
};

}  // namespace

pugi::xml_document xml_in(std::string_view text, const std::string& where) {
  pugi::xml_document tree;
  const pugi::xml_parse_result result = tree.load_buffer(text.data(), text.size());
  const auto read =
      std::min(text.size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)));
  require<FileError>(static_cast<bool>(result), where, ": is no XML: line ",
                     1 + std::count(text.begin(), text.begin() + read, '\n'), ": ", result.description());
  return tree;
}

std::vector<pugi::xml_node> innermost_elements(pugi::xml_document& tree) {
  Innermost walker;
  tree.traverse(walker);
  return std::move(walker.found);
}

std::string text_of(const pugi::xml_node& element) {
  std::string text;
  for (const pugi::xml_node& each : element.children()) text += each.value();
  return std::string(trimmed(text));
}

}  // namespace tandem::io
