#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "verbs.h"

namespace korch {
namespace {

// As roff reads it: no escapes, a dash that can be copied, no requests.
std::string escaped(const std::string& text) {
  std::string result;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) result += "\\&";
    is_line_start = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

// "{strict,standard}", or the kind of value.
std::string value_text(const OptionDescription& option) {
  const std::string& type = option.type;
  if (type.starts_with('{')) return type;
  const size_t list = type.find(":{");
  return list == std::string::npos ? type.substr(0, type.find(':')) : type.substr(list + 1);
}

std::string entry(const std::string& head, const OptionDescription& option) {
  std::string text = ".TP\n" + head + "\n" + escaped(option.text);
  if (!option.default_text.empty()) text += escaped(fmt::format(" [{}]", option.default_text));
  return text + "\n";
}

std::string verb_text(const std::string& program, const VerbDescription& verb) {
  std::string usage = bold(program + " " + verb.name) + " [" + italic("options") + "]";
  std::string entries;
  for (const OptionDescription& option : verb.positional) {
    const std::string name = italic(option.name);
    usage += option.is_required ? " " + name : " [" + name + "]";
    if (option.is_repeatable) usage += " ...";
    entries += entry(name, option);
  }
  std::vector<std::string> groups = {""};
  for (const OptionDescription& option : verb.dashed)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  for (const std::string& group : groups) {
    if (!group.empty()) entries += ".PP\n" + escaped(group) + ":\n";
    for (const OptionDescription& option : verb.dashed) {
      if (option.group != group) continue;
      std::string head;
      for (const std::string& name : option.spellings) head += (head.empty() ? "" : ", ") + bold(name);
      if (!option.is_flag) head += " " + italic(value_text(option));
      entries += entry(head, option);
    }
  }
  return fmt::format(".SS {}\n{}\n.PP\n{}\n{}", escaped(verb.name), usage, escaped(verb.text), entries);
}

std::string manual(const CommandLine& command_line, const ManualTexts& texts) {
  std::string verbs;
  for (const VerbDescription& verb : command_line.verb_descriptions())
    verbs += verb_text(command_line.description().name, verb);
  return fmt::format(
      ".TH KORCH 1 \"\" \"korch {}\" \"User Commands\"\n"
      ".SH NAME\nkorch \\- {}\n"
      ".SH SYNOPSIS\n{} {} [{}]\n"
      ".SH VERBS\n{}"
      ".SH EXAMPLES\n.nf\n{}\n.fi\n"
      ".SH EXIT STATUS\n{}\n",
      escaped(texts.version), escaped(texts.purpose), bold("korch"), italic("verb"), italic("options"), verbs,
      escaped(texts.examples), escaped(texts.exit_status));
}

}  // namespace

void add_manual_verb(CommandLine& command_line, const ManualTexts& texts) {
  Options verb = command_line.verb("manual", "print the manual page: korch manual | man -l -");
  verb.runs([&command_line, texts] { fmt::print("{}", manual(command_line, texts)); });
}

}  // namespace korch
