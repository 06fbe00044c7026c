import type { Event, Pod } from '@podwright/kube-api';
import type { ImageTransfer } from '@podwright/node-api';
import { escapeLine, escapeTerminal } from '../output/terminal-text.ts';
import { containerRows, firstLine, podLabel } from './pod-rows.ts';
import type { RunView } from './run-view.ts';
import { describeTransfer } from './transfer-text.ts';

/**
 * The output streams of a view. Log lines are written to `out` and everything else to `status`; if `status` is unset, only log lines are
 * written.
 */
export type PlainOutput = { out: NodeJS.WritableStream; status?: NodeJS.WritableStream | undefined };

/** Prints one line per change. Used for files, pipes and CI logs, and on a terminal once all pods are ready. */
export class PlainView implements RunView {
  readonly #shown = new Map<string, string>();
  readonly #startedAtMs = Date.now();
  readonly #output: PlainOutput;
  #isHeld: boolean;

  /** If `held` is set, no changes are printed until `settle` is called. */
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
   * Prints one line for each phase and for each quarter downloaded, once per image even if the pull is retried. Failures are not printed,
   * because the container's state includes the reason.
   */
  transfer(transfer: ImageTransfer): void {
    const { reference, phase, doneBytes, totalBytes } = transfer;
    if (phase === 'failed') return;
    const quarter = totalBytes > 0 ? Math.floor((doneBytes * 4) / totalBytes) : 0;
    const key = `image ${reference} ${phase} ${phase === 'downloading' ? quarter : ''}`;
    if (!this.#shown.has(key))
      this.#show(key, describeTransfer(transfer).slice(reference.length + 1), `image ${reference}`);
  }

  /** Prints a warning event, unless the same warning has already been printed. Ignores other events. */
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
