import type { Event, ImageTransfer, Pod } from '@podwright/kubelet';
import { escapeLine } from '../output/terminal-text.ts';
import { containerRows, firstLine, podLabel } from './pod-rows.ts';
import type { RunView } from './run-view.ts';
import { describeTransfer } from './transfer-text.ts';

/** A line a change, for files, pipes and CI logs, and on a terminal for what happens once all pods are ready. */
export class PlainView implements RunView {
  readonly #shown = new Map<string, string>();
  readonly #startedAtMs = Date.now();
  readonly #out: NodeJS.WritableStream;
  #quiet: boolean;

  /** One that is `quiet` only takes notice until it is settled. */
  constructor(out: NodeJS.WritableStream, { quiet }: { quiet: boolean }) {
    this.#out = out;
    this.#quiet = quiet;
  }

  pod(pod: Pod): void {
    if (pod.status?.podIP) this.#show(`${podLabel(pod)}`, `sandbox ready, IP ${pod.status.podIP}`);
    for (const row of containerRows(pod)) {
      if (row.state !== 'Waiting')
        this.#show(`${row.pod}/${row.container}`, `${row.role === '' ? '' : `${row.role}: `}${row.state}`);
    }
  }

  /** One line a phase and a quarter of the bytes, once an image: a container that is tried again pulls again. */
  transfer(transfer: ImageTransfer): void {
    const { reference, phase, doneBytes, totalBytes } = transfer;
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
    this.#out.write(`${line}\n`);
  }

  settle(): void {
    this.#quiet = false;
  }

  #show(key: string, line: string, label = key): void {
    if (this.#shown.get(key) === line) return;
    this.#shown.set(key, line);
    if (this.#quiet) return;
    const seconds = ((Date.now() - this.#startedAtMs) / 1000).toFixed(2).padStart(7);
    this.#out.write(`${seconds}s  ${escapeLine(`${label}: ${line}`)}\n`);
  }
}
