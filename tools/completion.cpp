#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
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

// A case per option that takes a value: one of its words, or what the shell completes by itself, a file. For
// bash and zsh.
std::string value_cases(const VerbDescription& verb) {
  std::string text;
  for (const OptionDescription& option : verb.dashed) {
    if (option.is_flag) continue;
    std::string patterns;
    for (const std::string& name : option.spellings)
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", verb.name, name);
    text += fmt::format("    {}) offers='{}';;\n", patterns, fmt::join(option.choices(), " "));
  }
  return text;
}

// What else can stand behind the verb.
std::string word_case(const VerbDescription& verb) {
  std::vector<std::string> arguments;
  for (const OptionDescription& positional : verb.positional)
    for (const std::string& word : positional.choices()) arguments.push_back(word);
  return fmt::format("    '{}') dashed='{}'; offers='{}';;\n", verb.name, fmt::join(all_spellings(verb), " "),
                     fmt::join(arguments, " "));
}

// "case"s that choose what is offered, by $verb, $word and $before.
struct Cases {
  std::string by_verb, by_option;
};

Cases cases(const CommandLine& command_line) {
  Cases result;
  std::string verbs, names;
  for (const VerbDescription& verb : command_line.verb_descriptions()) {
    result.by_option += value_cases(verb);
    verbs += word_case(verb);
    names += (names.empty() ? "" : " ") + verb.name;
  }
  result.by_verb = fmt::format("    '') dashed='{}'; offers='{}';;\n{}",
                               fmt::join(all_spellings(command_line.description()), " "), names, verbs);
  return result;
}

std::string bash_script(const CommandLine& command_line) {
  const Cases choose = cases(command_line);
  return fmt::format(R"(# bash completion of korch, printed by: korch completion bash
_korch() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb= dashed= offers= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${{COMP_WORDS[i]}} != -* ]]; then verb=${{COMP_WORDS[i]}}; break; fi
  done
  # --option=value comes as three words.
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  case $verb in
{}  esac
  [[ $word != -* ]] || offers=$dashed
  case "$verb $before" in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$offers" -- "$word")
}}
complete -o default -F _korch korch
)",
                     choose.by_verb, choose.by_option);
}

std::string zsh_script(const CommandLine& command_line) {
  const Cases choose = cases(command_line);
  return fmt::format(R"(#compdef korch
# zsh completion of korch, printed by: korch completion zsh
_korch() {{
  local word=${{words[CURRENT]}} before=${{words[CURRENT-1]}} verb= dashed= offers= i
  for ((i = 2; i < CURRENT; ++i)); do
    if [[ ${{words[i]}} != -* ]]; then verb=${{words[i]}}; break; fi
  done
  if [[ $word == --*=* ]]; then before=${{word%%=*}}; word=${{word#*=}}; compset -P '*='; fi
  case $verb in
{}  esac
  [[ $word != -* ]] || offers=$dashed
  case "$verb $before" in
{}  esac
  if [[ -n $offers ]]; then compadd -- ${{=offers}}; else _files; fi
}}
# A file of $fpath is the function itself.
if [[ ${{funcstack[1]}} == _korch ]]; then _korch "$@"; else compdef _korch korch; fi
)",
                     choose.by_verb, choose.by_option);
}

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return result + "'";
}

// Where `condition` holds: the options of a verb, or the program's own.
std::string fish_options(const VerbDescription& verb, const std::string& condition) {
  std::string text;
  for (const OptionDescription& option : verb.dashed) {
    text += fmt::format("complete -c korch -n {}", fish_quoted(condition));
    for (const std::string& name : option.spellings)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    const std::vector<std::string> choices = option.choices();
    if (!choices.empty())
      text += fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(choices, " "))));
    else if (!option.is_flag)
      text += " -r";
    text += fmt::format(" -d {}\n", fish_quoted(option.text));
  }
  return text;
}

std::string fish_script(const CommandLine& command_line) {
  const std::string no_verb = "__fish_use_subcommand";
  std::string text = "# fish completion of korch, printed by: korch completion fish\n";
  text += fish_options(command_line.description(), no_verb);
  for (const VerbDescription& verb : command_line.verb_descriptions()) {
    const std::string this_verb = "__fish_seen_subcommand_from " + verb.name;
    text +=
        fmt::format("complete -c korch -f -n {} -a {} -d {}\n", no_verb, verb.name, fish_quoted(verb.text));
    text += fish_options(verb, this_verb);
    for (const OptionDescription& positional : verb.positional)
      if (const std::vector<std::string> choices = positional.choices(); !choices.empty())
        text += fmt::format("complete -c korch -f -n {} -a {}\n", fish_quoted(this_verb),
                            fish_quoted(fmt::format("{}", fmt::join(choices, " "))));
  }
  return text;
}

using Script = std::string (*)(const CommandLine&);
const std::map<std::string, Script> kScripts = {
    {"bash", bash_script}, {"fish", fish_script}, {"zsh", zsh_script}};

}  // namespace

void add_completion_verb(CommandLine& command_line) {
  auto shell = std::make_shared<std::string>();
  Options verb = command_line.verb("completion", "print a shell's completion of korch");
  verb.footer(
      "In ~/.bashrc: source <(korch completion bash)\n"
      "In ~/.zshrc, behind compinit: source <(korch completion zsh)\n"
      "In ~/.config/fish/config.fish: korch completion fish | source");
  std::vector<std::string> shells;
  for (const auto& [name, script] : kScripts) shells.push_back(name);
  verb.option("shell", *shell, "whose completion").required().one_of(shells);
  verb.runs([shell, &command_line] { fmt::print("{}", kScripts.at(*shell)(command_line)); });
}

}  // namespace korch
