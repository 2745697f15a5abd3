/**
 * Relative links in Markdown files: each must lead to a file, and to a heading where it names one.
 *
 * @module
 */
import { posix } from "node:path";

/** What the check needs to know of the tree; paths are relative to its root, with `/`. */
export interface DocsTree {
  /** The Markdown files and their texts. */
  readonly pages: ReadonlyMap<string, string>;
  /** Whether a file or folder exists. */
  readonly exists: (path: string) => boolean;
}

const LINK = /!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/gu;
const REFERENCE = /^\s{0,3}\[[^\]]+\]:\s+<?(\S+?)>?\s*$/gmu;

/** Returns one line for each link that leads nowhere: page, line, target. */
export function checkDocsLinks(tree: DocsTree): string[] {
  const faults: string[] = [];
  for (const [page, text] of tree.pages) {
    const prose = withoutCode(text);
    for (const match of [...prose.matchAll(LINK), ...prose.matchAll(REFERENCE)]) {
      const target = match[1] ?? "";
      if (/^[a-z][a-z0-9+.-]*:/iu.test(target)) continue;
      const line = prose.slice(0, match.index).split("\n").length;
      const fault = linkFault(tree, page, target);
      if (fault !== undefined) faults.push(`${page}:${line}: link "${target}" ${fault}`);
    }
  }
  return faults;
}

function linkFault(tree: DocsTree, page: string, target: string): string | undefined {
  const [path = "", heading] = target.split("#", 2);
  let file = page;
  if (path !== "") {
    file = posix.normalize(posix.join(posix.dirname(page), decodeURI(path)));
    if (file.startsWith("..")) return "leaves the repository";
    if (!tree.exists(file)) return "leads to no file";
  }
  const text = tree.pages.get(file);
  if (heading === undefined || heading === "" || text === undefined) return undefined;
  return anchorsOf(text).has(heading) ? undefined : `names no heading of ${file}`;
}

/** The anchors of a page's headings, made as code hosts make them. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const match of withoutFences(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gmu)) {
    const base = (match[1] ?? "")
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/gu, "$1")
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/gu, "-");
    let anchor = base;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${base}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(text: string): string {
  return withoutFences(text).replace(/`[^`\n]*`/gu, (code) => " ".repeat(code.length));
}

function withoutFences(text: string): string {
  return text.replace(
    /^( {0,3})(```+|~~~+)[^\n]*\n[\s\S]*?^ {0,3}\2[^\n]*$/gmu,
    (block) => block.replace(/[^\n]/gu, " "),
  );
}
