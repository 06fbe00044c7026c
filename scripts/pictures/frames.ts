import type { Frame } from './animated-svg.ts';
import { Screen } from './screen.ts';
import type { Output, TerminalSize } from './terminal-session.ts';

/** Frames visible for less than this are merged. */
const LEAST_FRAME_MS = 25;
/** Longer pauses in the output are shortened to this. */
const LONGEST_WAIT_MS = 1500;

/** Returns the frames of a terminal with this output, with long pauses shortened. */
export function framesOf(outputs: Output[], size: TerminalSize): Frame[] {
  const screen = new Screen(size);
  const frames: Frame[] = [];
  let [cutMs, lastMs] = [0, 0];
  for (const { atMs, text } of outputs) {
    cutMs += Math.max(0, atMs - lastMs - LONGEST_WAIT_MS);
    lastMs = atMs;
    screen.write(text);
    const frame = { atMs: atMs - cutMs, lines: screen.lines };
    const last = frames.at(-1);
    if (last !== undefined && frame.atMs - last.atMs < LEAST_FRAME_MS) last.lines = frame.lines;
    else frames.push(frame);
  }
  return frames;
}
