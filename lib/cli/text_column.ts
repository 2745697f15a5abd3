/**
 * Where the cursor of a scrolling terminal stands: at the start of a line, or in a line that
 * belongs to somebody.
 *
 * @module
 */

/** A piece of text with the marks of its lines. */
export interface MarkedText {
  /** Whose line it is: text of somebody else begins a new line. */
  readonly owner: string;
  readonly text: string;
  /** Written at the start of each line. */
  readonly mark: string;
  readonly style: (text: string) => string;
}

/** A scrolling output that several sources write to. */
export interface TextColumn {
  /** Writes text that may end in the middle of a line. */
  write(piece: MarkedText): void;
  /** Writes whole lines, without the final newline. */
  lines(text: string): void;
  /** Ends an open line. */
  close(): void;
  /** Tells that something else has begun a new line: the echo of a typed one. */
  broken(): void;
}

/** Creates a column that stands at the start of a line. */
export function createTextColumn(write: (text: string) => void): TextColumn {
  let open: string | undefined;
  const close = () => {
    if (open === undefined) return;
    open = undefined;
    write("\n");
  };
  return {
    write({ owner, text, mark, style }) {
      if (open !== owner) close();
      let out = "";
      const parts = text.split("\n");
      parts.forEach((part, index) => {
        const last = index === parts.length - 1;
        if (last && part === "") return;
        if (open === undefined) out += part === "" ? mark.trimEnd() : mark;
        out += style(part);
        open = last ? owner : undefined;
        if (!last) out += "\n";
      });
      if (out !== "") write(out);
    },
    lines(text) {
      close();
      write(`${text}\n`);
    },
    close,
    broken() {
      open = undefined;
    },
  };
}
