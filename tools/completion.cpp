#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "description.h"
#include "verbs.h"

namespace korch {
namespace {

std::vector<std::string> all_spellings(const CLI::App& verb) {
  std::vector<std::string> words;
  for (const CLI::Option* option : dashed_options(verb))
    for (const std::string& name : spellings(*option)) words.push_back(name);
  return words;
}

// A case per option that takes a value: one of its words, or what bash completes by itself, a file.
std::string value_cases(const CLI::App& verb) {
  std::string text;
  for (const CLI::Option* option : dashed_options(verb)) {
    if (is_flag(*option)) continue;
    std::string patterns;
    for (const std::string& name : spellings(*option))
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", verb.get_name(), name);
    text += fmt::format("    {}) words='{}';;\n", patterns, fmt::join(choices(*option), " "));
  }
  return text;
}

// What else can stand behind the verb.
std::string word_case(const CLI::App& verb) {
  std::vector<std::string> arguments;
  for (const CLI::Option* positional : positionals(verb))
    for (const std::string& word : choices(*positional)) arguments.push_back(word);
  return fmt::format("    '{}') dashed='{}'; words='{}';;\n", verb.get_name(),
                     fmt::join(all_spellings(verb), " "), fmt::join(arguments, " "));
}

std::string bash_script(const CLI::App& app) {
  std::string values, words, names;
  for (const CLI::App* verb : visible_verbs(app)) {
    values += value_cases(*verb);
    words += word_case(*verb);
    names += (names.empty() ? "" : " ") + verb->get_name();
  }
  return fmt::format(R"(# bash completion of korch, printed by: korch completion bash
_korch() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb= dashed= words= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${{COMP_WORDS[i]}} != -* ]]; then verb=${{COMP_WORDS[i]}}; break; fi
  done
  # --option=value comes as three words.
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  case $verb in
    '') dashed='{}'; words='{}';;
{}  esac
  [[ $word != -* ]] || words=$dashed
  case "$verb $before" in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -F _korch korch
)",
                     fmt::join(all_spellings(app), " "), names, words, values);
}

}  // namespace

void add_completion_verb(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "print a shell's completion of korch");
  verb->footer("In ~/.bashrc: source <(korch completion bash)");
  verb->add_option("shell", *shell, "whose completion")->required()->check(CLI::IsMember({"bash"}));
  verb->callback([shell, &app] { fmt::print("{}", bash_script(app)); });
}

}  // namespace korch
