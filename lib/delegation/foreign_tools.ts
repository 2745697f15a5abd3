/**
 * The names that tools have in definitions written for other programs, and mm's tool for each.
 *
 * @module
 */

/** Names in lower case. A tool that mm has not is `null`. */
const FOREIGN: Readonly<Record<string, string | null>> = {
  // Claude Code.
  multiedit: "edit",
  webfetch: "fetch",
  task: "agent",
  todowrite: "todo",
  askuserquestion: "ask_user",
  sendmessage: "send_message",
  taskstop: "task_stop",
  notebookedit: null,
  notebookread: null,
  websearch: null,
  skill: null,
  slashcommand: null,
  toolsearch: null,
  lsp: null,
  monitor: null,
  powershell: null,
  bashoutput: null,
  killshell: null,
  killbash: null,
  taskoutput: null,
  exitplanmode: null,
  enterplanmode: null,
  enterworktree: null,
  exitworktree: null,
  listmcpresourcestool: null,
  readmcpresourcetool: null,
  // Qwen Code, by their names and by those it shows.
  read_file: "read",
  readfile: "read",
  read_many_files: "read",
  readmanyfiles: "read",
  write_file: "write",
  writefile: "write",
  replace: "edit",
  run_shell_command: "bash",
  shell: "bash",
  grep_search: "grep",
  search_file_content: "grep",
  searchfiles: "grep",
  findfiles: "glob",
  list_directory: "ls",
  listfiles: "ls",
  readfolder: "ls",
  web_fetch: "fetch",
  todo_write: "todo",
  ask_user_question: "ask_user",
  listagents: "list_agents",
  save_memory: null,
  savememory: null,
  web_search: null,
  exit_plan_mode: null,
  tool_search: null,
  tool_call: null,
};

/**
 * Returns mm's tool for the name of another program's, in any case; `null` for one that mm knows
 * and has not, `undefined` for a name that it does not know.
 */
export function foreignTool(name: string): string | null | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(FOREIGN, key) ? FOREIGN[key] : undefined;
}
