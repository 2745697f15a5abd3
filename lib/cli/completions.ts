/**
 * The text of `mm -completions`: scripts for bash, zsh and fish, made from the flag table.
 *
 * @module
 */
import { type Flag, FLAGS, type Shell } from "./flags.ts";

/** Returns the completion script for a shell, with its final newline. */
export function completionScript(shell: Shell): string {
  switch (shell) {
    case "bash":
      return bash();
    case "zsh":
      return zsh();
    case "fish":
      return fish();
  }
}

/** Both spellings of a flag, the one of the help first. */
function spellings(flag: Flag): [string, string] {
  return flag.twoDashes === true
    ? [`--${flag.name}`, `-${flag.name}`]
    : [`-${flag.name}`, `--${flag.name}`];
}

function bash(): string {
  const words = FLAGS.map((flag) => spellings(flag)[0]).join(" ");
  const cases = FLAGS.filter((flag) => flag.argument !== undefined).map((flag) => {
    const pattern = spellings(flag).join("|");
    if (flag.completes === "files") return `    ${pattern}) compopt -o default; return ;;`;
    if (flag.completes === "directories") {
      return `    ${pattern}) compopt -o dirnames; return ;;`;
    }
    const offered = flag.completes === undefined ? "" : flag.completes.join(" ");
    return `    ${pattern}) COMPREPLY=($(compgen -W '${offered}' -- "$cur")); return ;;`;
  });
  return `# bash completion of mm: eval "$(mm -completions bash)"
_mm() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  case $prev in
${cases.join("\n")}
  esac
  if [[ $cur == --* ]]; then
    COMPREPLY=($(compgen -W '${FLAGS.map((flag) => `--${flag.name}`).join(" ")}' -- "$cur"))
  else
    COMPREPLY=($(compgen -W '${words}' -- "$cur"))
  fi
}
complete -F _mm mm
`;
}

function zsh(): string {
  const specs = FLAGS.map((flag) => {
    const text = flag.text.replace(/[\[\]:\\]/gu, "\\$&").replaceAll("'", "'\\''");
    const [first, second] = spellings(flag);
    const action = flag.completes === "files"
      ? "_files"
      : flag.completes === "directories"
      ? "_files -/"
      : flag.completes === undefined
      ? " "
      : `(${flag.completes.join(" ")})`;
    const value = flag.argument === undefined
      ? ""
      : `${flag.optional === true ? "::" : ":"}${flag.argument.replace(/[<>[\]]/gu, "")}:${action}`;
    return `  '(${second})${first}[${text}]${value}' \\`;
  });
  return `#compdef mm
# zsh completion of mm: mm -completions zsh > "\${fpath[1]}/_mm"
_arguments \\
${specs.join("\n")}
  '*::words: '
`;
}

function fish(): string {
  const lines = FLAGS.map((flag) => {
    const text = flag.text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
    // -o is a long flag with one dash, -l one with two.
    const spelling = flag.name.length === 1
      ? `-s ${flag.name}`
      : flag.twoDashes === true
      ? `-l ${flag.name}`
      : `-o ${flag.name}`;
    const value = flag.argument === undefined || flag.optional === true
      ? ""
      : flag.completes === "files"
      ? " -r -F"
      : flag.completes === "directories"
      ? " -x -a '(__fish_complete_directories)'"
      : flag.completes === undefined
      ? " -x"
      : ` -x -a '${flag.completes.join(" ")}'`;
    return `complete -c mm ${spelling}${value} -d '${text}'`;
  });
  return `# fish completion of mm: mm -completions fish | source
complete -c mm -f
${lines.join("\n")}
`;
}
