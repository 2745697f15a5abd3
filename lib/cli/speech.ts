/**
 * What models say in pieces, several at once, as lines of a terminal: each speaker has its own mark,
 * and escapes are taken out even where they are cut in two.
 *
 * @module
 */
import { safeStream } from "./safe_text.ts";
import type { TextColumn } from "./text_column.ts";

/** How a speaker's words are shown. */
export interface Voice {
  /** Where the words go. */
  readonly column: TextColumn;
  /** Another message of the same speaker begins on a new line. */
  readonly messageId: string;
  /** Written at the start of each line. */
  readonly mark: string;
  readonly style: (text: string) => string;
  /** Whether the words pass unchanged: for a stream that is no terminal. */
  readonly raw?: boolean;
  /** Whether only whole lines are shown now: words of several agents would alternate in a line. */
  readonly wholeLines: boolean;
}

/** The speakers of a session. */
export interface Speech {
  /** Shows a piece of what the speaker `key` says. */
  say(key: string, text: string, voice: Voice): void;
  /** Ends what the speaker said: shows what was held back and ends its line. */
  end(key: string): void;
  /** Ends what every speaker said. */
  endAll(): void;
}

interface Speaker {
  voice: Voice;
  readonly filter: { push(text: string): string; flush(): string };
  started: boolean;
  held: string;
}

/** Creates the speakers of a session. */
export function createSpeech(): Speech {
  const speakers = new Map<string, Speaker>();

  function show(key: string, { voice }: Speaker, text: string): void {
    voice.column.write({ owner: key, text, mark: voice.mark, style: voice.style });
  }

  function end(key: string): void {
    const speaker = speakers.get(key);
    if (speaker === undefined) return;
    speakers.delete(key);
    const rest = speaker.held + speaker.filter.flush();
    if (rest !== "") show(key, speaker, rest);
    if (speaker.started) speaker.voice.column.close();
  }

  return {
    say(key, text, voice) {
      let speaker = speakers.get(key);
      if (speaker !== undefined && speaker.voice.messageId !== voice.messageId) {
        end(key);
        speaker = undefined;
      }
      if (speaker === undefined) {
        const filter = voice.raw === true
          ? { push: (piece: string) => piece, flush: () => "" }
          : safeStream();
        speaker = { voice, filter, started: false, held: "" };
        speakers.set(key, speaker);
      }
      speaker.voice = voice;
      let clean = speaker.filter.push(text);
      // Many models begin with empty lines.
      if (!speaker.started) clean = clean.replace(/^\n+/u, "");
      if (clean === "") return;
      speaker.started = true;
      const held = speaker.held + clean;
      const whole = voice.wholeLines ? held.lastIndexOf("\n") + 1 : held.length;
      speaker.held = held.slice(whole);
      if (whole > 0) show(key, speaker, held.slice(0, whole));
    },
    end,
    endAll() {
      for (const key of [...speakers.keys()]) end(key);
    },
  };
}
