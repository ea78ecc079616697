#include <fmt/format.h>

#include <memory>

#include "description.h"
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
std::string value_text(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.starts_with('{')) return type;
  const size_t list = type.find(":{");
  return list == std::string::npos ? type.substr(0, type.find(':')) : type.substr(list + 1);
}

std::string entry(const std::string& head, const CLI::Option& option) {
  std::string text = ".TP\n" + head + "\n" + escaped(option.get_description());
  if (!option.get_default_str().empty()) text += escaped(fmt::format(" [{}]", option.get_default_str()));
  return text + "\n";
}

std::string verb_text(const CLI::App& app, const CLI::App& verb) {
  std::string usage = bold(app.get_name() + " " + verb.get_name()) + " [" + italic("options") + "]";
  std::string entries;
  for (const CLI::Option* option : positionals(verb)) {
    const std::string name = italic(option->get_name(/*positional=*/true));
    usage += option->get_required() ? " " + name : " [" + name + "]";
    if (option->get_items_expected_max() > 1) usage += " ...";
    entries += entry(name, *option);
  }
  for (const CLI::Option* option : dashed_options(verb)) {
    std::string head;
    for (const std::string& name : spellings(*option)) head += (head.empty() ? "" : ", ") + bold(name);
    if (!is_flag(*option)) head += " " + italic(value_text(*option));
    entries += entry(head, *option);
  }
  return fmt::format(".SS {}\n{}\n.PP\n{}\n{}", escaped(verb.get_name()), usage,
                     escaped(verb.get_description()), entries);
}

std::string manual(const CLI::App& app, const ManualTexts& texts) {
  std::string verbs;
  for (const CLI::App* verb : visible_verbs(app)) verbs += verb_text(app, *verb);
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

void add_manual_verb(CLI::App& app, const ManualTexts& texts) {
  CLI::App* verb = app.add_subcommand("manual", "print the manual page: korch manual | man -l -");
  verb->callback([&app, texts] { fmt::print("{}", manual(app, texts)); });
}

}  // namespace korch
