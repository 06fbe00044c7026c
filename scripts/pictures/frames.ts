import type { Frame } from './animated-svg.ts';
import { Screen } from './screen.ts';
import type { Output, TerminalSize } from './terminal-session.ts';

/** Nobody sees what is shown for less. */
const LEAST_FRAME_MS = 25;
/** Nobody waits to see nothing happen. */
const LONGEST_WAIT_MS = 1500;

/** What the screen shows as the output comes. Long waits are shortened. */
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
