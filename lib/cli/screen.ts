/**
 * The two places text goes to: the answer's stream and the side stream, which may be one screen.
 *
 * @module
 */
import { createTextColumn, type TextColumn } from "./text_column.ts";

/** Options of {@linkcode createScreen}. */
export interface ScreenOptions {
  /** Everything but the answer, and the answer too where `answer` is absent. */
  readonly side: (text: string) => void;
  /** The answer's own stream; its text carries no labels and no colours. */
  readonly answer?: (text: string) => void;
  /** Whether both are shown on one terminal, so that they share its lines. */
  readonly shared?: boolean;
}

/** The columns of a screen. */
export interface Screen {
  readonly side: TextColumn;
  readonly answer: TextColumn;
}

/** Creates the columns. Where they share a terminal, a line opened by one is ended by the other. */
export function createScreen(options: ScreenOptions): Screen {
  const side = createTextColumn(options.side);
  if (options.answer === undefined) return { side, answer: side };
  const answer = createTextColumn(options.answer);
  if (options.shared !== true) return { side, answer };
  const turned = (own: TextColumn, other: TextColumn): TextColumn => ({
    write(piece) {
      other.close();
      own.write(piece);
    },
    lines(text) {
      other.close();
      own.lines(text);
    },
    close: () => own.close(),
    broken() {
      own.broken();
      other.broken();
    },
  });
  return { side: turned(side, answer), answer: turned(answer, side) };
}
