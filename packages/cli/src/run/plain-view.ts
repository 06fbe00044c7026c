import type { Event, Pod } from '@podwright/kube-api';
import type { ImageTransfer } from '@podwright/node-api';
import { escapeLine, escapeTerminal } from '../output/terminal-text.ts';
import { containerRows, firstLine, podLabel } from './pod-rows.ts';
import type { RunView } from './run-view.ts';
import { describeTransfer } from './transfer-text.ts';

/** Where a view writes: `out` takes the lines of logs, `status` everything else, nothing if it is left out. */
export type PlainOutput = { out: NodeJS.WritableStream; status?: NodeJS.WritableStream | undefined };

/** A line a change, for files, pipes and CI logs, and on a terminal for what happens once all pods are ready. */
export class PlainView implements RunView {
  readonly #shown = new Map<string, string>();
  readonly #startedAtMs = Date.now();
  readonly #output: PlainOutput;
  #isHeld: boolean;

  /** One that is `held` writes no changes until it is settled. */
  constructor(output: PlainOutput, { held = false } = {}) {
    this.#output = output;
    this.#isHeld = held;
  }

  pod(pod: Pod): void {
    if (pod.status?.podIP) this.#show(`${podLabel(pod)}`, `sandbox ready, IP ${pod.status.podIP}`);
    for (const row of containerRows(pod)) {
      if (row.state === 'Waiting') continue;
      const [name, role] = [`${row.pod}/${row.container}`, row.role === '' ? '' : `${row.role}: `];
      if (row.failure === undefined) this.#show(name, role + row.state);
      else this.#show(`failure of ${name}`, role + row.failure, name);
    }
  }

  /**
   * One line a phase and a quarter of the bytes, once an image: a container that is tried again pulls again. The state of the
   * container says why a transfer failed.
   */
  transfer(transfer: ImageTransfer): void {
    const { reference, phase, doneBytes, totalBytes } = transfer;
    if (phase === 'failed') return;
    const quarter = totalBytes > 0 ? Math.floor((doneBytes * 4) / totalBytes) : 0;
    const key = `image ${reference} ${phase} ${phase === 'downloading' ? quarter : ''}`;
    if (!this.#shown.has(key))
      this.#show(key, describeTransfer(transfer).slice(reference.length + 1), `image ${reference}`);
  }

  /** Each warning once. */
  event({ type, reason, message, involvedObject: { uid, name } }: Event): void {
    if (type !== 'Warning') return;
    const line = `${reason}: ${firstLine(message)}`;
    this.#show(`${uid} ${line}`, line, name);
  }

  log(line: string): void {
    this.#output.out.write(`${line}\n`);
  }

  settle(table?: string): void {
    this.#isHeld = false;
    if (table !== undefined) this.note([table]);
  }

  note(lines: string[]): void {
    for (const line of lines) this.#output.status?.write(`${escapeTerminal(line)}\n`);
  }

  #show(key: string, line: string, label = key): void {
    if (this.#shown.get(key) === line) return;
    this.#shown.set(key, line);
    if (this.#isHeld) return;
    const seconds = ((Date.now() - this.#startedAtMs) / 1000).toFixed(2).padStart(7);
    this.#output.status?.write(`${seconds}s  ${escapeLine(`${label}: ${line}`)}\n`);
  }
}
