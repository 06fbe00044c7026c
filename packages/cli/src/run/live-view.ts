import { styleText } from 'node:util';
import { type Event, type Pod, podSummary } from '@podwright/kube-api';
import type { ImageTransfer } from '@podwright/node-api';
import { Picture } from '../output/picture.ts';
import { escapeLine, escapeTerminal } from '../output/terminal-text.ts';
import { fit } from '../output/text-width.ts';
import { formatDuration } from '../output/units.ts';
import { PlainView } from './plain-view.ts';
import { type ContainerRow, containerRows, firstLine, podLabel } from './pod-rows.ts';
import type { RunView } from './run-view.ts';
import { describeTransfer } from './transfer-text.ts';

/** Colors for container states. Yellow is not used, because it is unreadable on a white background. */
const TONES = { waiting: 'cyan', good: 'green', bad: 'red', done: 'dim' } as const;

const DRAW_INTERVAL_MS = 50;
/** The view is redrawn immediately if more log characters than this are pending. */
const MAX_HELD_CHARACTERS = 64 << 10;

/** Shows one line per container, redrawn in place, with warnings and logs above them. After `settle`, prints one line per change. */
export class TerminalView implements RunView {
  readonly #pods = new Map<string, Pod>();
  readonly #transfers = new Map<string, ImageTransfer>();
  readonly #warned = new Set<string>();
  readonly #startedAtMs = Date.now();
  readonly #out: NodeJS.WriteStream;
  readonly #after: PlainView;
  #held: string[] = [];
  #heldCharacters = 0;
  readonly #picture: Picture;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#after = new PlainView({ out, status: out }, { held: true });
    this.#picture = new Picture(out, () => this.#schedule());
  }

  pod(pod: Pod): void {
    this.#after.pod(pod);
    this.#pods.set(pod.metadata.uid, pod);
    this.#schedule();
    if (this.#settled) return;
    // container lines are truncated to the terminal's width, so print the full failure above them
    for (const row of containerRows(pod)) if (row.failure) this.#warn(`${row.pod}/${row.container}: ${row.failure}`);
  }

  transfer(transfer: ImageTransfer): void {
    this.#transfers.set(transfer.reference, transfer);
    this.#schedule();
  }

  /** Shows a warning event, unless the same warning has already been shown. Ignores other events until `settle` has been called. */
  event(event: Event): void {
    const { type, reason, message, involvedObject } = event;
    if (this.#settled || type !== 'Warning') return this.#after.event(event);
    this.#warn(`${involvedObject.name}: ${reason}: ${firstLine(message)}`);
  }

  #warn(line: string): void {
    if (this.#warned.has(line)) return;
    this.#warned.add(line);
    this.log(styleText('red', escapeLine(line), { stream: this.#out }));
  }

  log(line: string): void {
    if (this.#settled) return this.#after.log(line);
    this.#held.push(line);
    this.#heldCharacters += line.length;
    if (this.#heldCharacters > MAX_HELD_CHARACTERS) this.#draw();
    else this.#schedule();
  }

  settle(table?: string): void {
    if (this.#settled) return;
    clearTimeout(this.#timer);
    this.#draw(table === undefined ? undefined : []);
    this.#settled = true;
    this.#picture[Symbol.dispose]();
    this.#after.settle(table);
  }

  note(lines: string[]): void {
    if (this.#settled) return this.#after.note(lines);
    for (const line of lines) this.log(escapeTerminal(line));
  }

  #schedule(): void {
    if (this.#settled) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#draw();
    }, DRAW_INTERVAL_MS);
  }

  #draw(lines = this.#lines(this.#out.columns || 80)): void {
    this.#picture.draw(lines, this.#held.map((line) => `${line}\n`).join(''));
    this.#held = [];
    this.#heldCharacters = 0;
  }

  #lines(width: number): string[] {
    const lines: { text: string; tone: 'bold' | (typeof TONES)[ContainerRow['tone']] | 'reset' }[] = [];
    for (const pod of this.#pods.values()) lines.push(...this.#podLines(pod));
    for (const transfer of this.#transfers.values()) {
      if (transfer.phase !== 'done' && transfer.phase !== 'failed')
        lines.push({ text: `  image ${describeTransfer(transfer)}`, tone: 'reset' });
    }
    return lines
      .slice(0, Math.max(1, (this.#out.rows || 24) - 2))
      .map(({ text, tone }) => styleText(tone, fit(escapeLine(text), width), { stream: this.#out }));
  }

  #podLines(pod: Pod) {
    const rows = containerRows(pod);
    const nameWidth = Math.max(...rows.map(({ container }) => container.length));
    const head = `${podLabel(pod)}  ${podSummary(pod).status}  ${pod.status?.podIP ?? ''}  ${formatDuration(Date.now() - this.#startedAtMs)}`;
    const line = (row: ContainerRow) => ({
      text: `  ${row.container.padEnd(nameWidth)}  ${row.role.padEnd(7)}  ${row.state}`,
      tone: TONES[row.tone],
    });
    return [{ text: head, tone: 'bold' as const }, ...rows.map(line)];
  }
}
