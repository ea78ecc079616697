#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "verbs.h"

namespace korch {
namespace {

std::vector<std::string> all_spellings(const VerbDescription& verb) {
  std::vector<std::string> words;
  for (const OptionDescription& option : verb.dashed)
    words.insert(words.end(), option.spellings.begin(), option.spellings.end());
  return words;
}

// A case per option that takes a value: one of its words, or what bash completes by itself, a file.
std::string value_cases(const VerbDescription& verb) {
  std::string text;
  for (const OptionDescription& option : verb.dashed) {
    if (option.is_flag) continue;
    std::string patterns;
    for (const std::string& name : option.spellings)
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", verb.name, name);
    text += fmt::format("    {}) words='{}';;\n", patterns, fmt::join(option.choices(), " "));
  }
  return text;
}

// What else can stand behind the verb.
std::string word_case(const VerbDescription& verb) {
  std::vector<std::string> arguments;
  for (const OptionDescription& positional : verb.positional)
    for (const std::string& word : positional.choices()) arguments.push_back(word);
  return fmt::format("    '{}') dashed='{}'; words='{}';;\n", verb.name, fmt::join(all_spellings(verb), " "),
                     fmt::join(arguments, " "));
}

std::string bash_script(const CommandLine& command_line) {
  std::string values, words, names;
  for (const VerbDescription& verb : command_line.verb_descriptions()) {
    values += value_cases(verb);
    words += word_case(verb);
    names += (names.empty() ? "" : " ") + verb.name;
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
                     fmt::join(all_spellings(command_line.description()), " "), names, words, values);
}

}  // namespace

void add_completion_verb(CommandLine& command_line) {
  auto shell = std::make_shared<std::string>();
  Options verb = command_line.verb("completion", "print a shell's completion of korch");
  verb.footer("In ~/.bashrc: source <(korch completion bash)");
  verb.option("shell", *shell, "whose completion").required().one_of({"bash"});
  verb.runs([shell, &command_line] { fmt::print("{}", bash_script(command_line)); });
}

}  // namespace korch
