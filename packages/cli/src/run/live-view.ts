import { styleText } from 'node:util';
import type { Event, ImageTransfer, Pod } from '@podwright/kubelet';
import { fit, renderTable } from '../output/table.ts';
import { escapeLine, escapeTerminal } from '../output/terminal-text.ts';
import { formatBytes, formatDuration } from '../output/units.ts';
import { type ContainerRow, containerRows, podLabel, podStatusReason, readyCount, restartCount } from './pod-rows.ts';

/** Shows pods as they come up. `close` leaves the terminal as a person wants to read on. */
export interface RunView {
  pod(pod: Pod): void;
  transfer(progress: ImageTransfer): void;
  event(event: Event): void;
  close(): void;
}

const TONES = { waiting: 'yellow', good: 'green', bad: 'red', done: 'dim' } as const;

/** One line a container, drawn over and over in place. */
export class TerminalView implements RunView {
  readonly #pods = new Map<string, Pod>();
  readonly #transfers = new Map<string, ImageTransfer>();
  readonly #startedAtMs = Date.now();
  readonly #out: NodeJS.WriteStream;
  #drawnLines = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  pod(pod: Pod): void {
    this.#pods.set(pod.metadata.uid, pod);
    this.#schedule();
  }

  transfer(progress: ImageTransfer): void {
    this.#transfers.set(progress.reference, progress);
    this.#schedule();
  }

  /** Warnings stay above the picture. */
  event(event: Event): void {
    if (event.type !== 'Warning') return;
    this.#erase();
    const line = escapeLine(`${event.involvedObject.name}: ${event.reason}: ${event.message.split('\n')[0]}`);
    this.#out.write(`${styleText('red', line, { stream: this.#out })}\n`);
    this.#draw();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#erase();
    this.#draw();
    this.#drawnLines = 0;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#erase();
      this.#draw();
    }, 50);
  }

  #erase(): void {
    if (this.#drawnLines > 0) this.#out.write(`\x1b[${this.#drawnLines}A\x1b[0J`);
    this.#drawnLines = 0;
  }

  #draw(): void {
    const width = this.#out.columns || 80;
    const lines = [...this.#pods.values()].flatMap((pod) => this.#podLines(pod, width));
    for (const progress of this.#transfers.values()) {
      if (progress.phase !== 'done') lines.push(fit(escapeLine(`  image ${describeTransfer(progress)}`), width));
    }
    const shown = lines.slice(0, Math.max(1, (this.#out.rows || 24) - 2));
    if (shown.length === 0) return;
    this.#out.write(`${shown.join('\n')}\n`);
    this.#drawnLines = shown.length;
  }

  #podLines(pod: Pod, width: number): string[] {
    const rows = containerRows(pod);
    const nameWidth = Math.max(...rows.map(({ container }) => container.length));
    const head = `${podLabel(pod)}  ${podStatusReason(pod)}  ${pod.status?.podIP ?? ''}  ${formatDuration(Date.now() - this.#startedAtMs)}`;
    const line = (row: ContainerRow) => {
      const text = fit(escapeLine(`  ${row.container.padEnd(nameWidth)}  ${row.role.padEnd(7)}  ${row.state}`), width);
      return styleText(TONES[row.tone], text, { stream: this.#out });
    };
    return [styleText('bold', fit(escapeLine(head), width), { stream: this.#out }), ...rows.map(line)];
  }
}

/** A line a change, for files, pipes and CI logs. */
export class PlainView implements RunView {
  readonly #shown = new Map<string, string>();
  readonly #startedAtMs = Date.now();
  readonly #out: NodeJS.WritableStream;

  constructor(out: NodeJS.WritableStream) {
    this.#out = out;
  }

  pod(pod: Pod): void {
    if (pod.status?.podIP) this.#show(`${podLabel(pod)}`, `sandbox ready, IP ${pod.status.podIP}`);
    for (const row of containerRows(pod)) {
      if (row.state !== 'Waiting')
        this.#show(`${row.pod}/${row.container}`, `${row.role === '' ? '' : `${row.role}: `}${row.state}`);
    }
  }

  transfer(progress: ImageTransfer): void {
    // One line a phase and a quarter of the bytes.
    const quarter = progress.totalBytes > 0 ? Math.floor((progress.doneBytes * 4) / progress.totalBytes) : 0;
    const key = `image ${progress.reference} ${progress.phase} ${progress.phase === 'downloading' ? quarter : ''}`;
    this.#show(key, describeTransfer(progress).slice(progress.reference.length + 1), `image ${progress.reference}`);
  }

  event(event: Event): void {
    if (event.type === 'Warning')
      this.#show(`${event.metadata.name}`, `${event.reason}: ${event.message}`, event.involvedObject.name);
  }

  close(): void {}

  #show(key: string, line: string, label = key): void {
    if (this.#shown.get(key) === line) return;
    this.#shown.set(key, line);
    const seconds = ((Date.now() - this.#startedAtMs) / 1000).toFixed(2).padStart(7);
    this.#out.write(escapeTerminal(`${seconds}s  ${label}: ${line}\n`));
  }
}

/** A transfer as the node or the runtime tells it. */
type ShownTransfer = Omit<ImageTransfer, 'doneBytes' | 'totalBytes'> &
  Record<'doneBytes' | 'totalBytes', number | bigint>;

/** `name downloading 12 MiB of 45 MiB (3 of 5 layers)`. */
export function describeTransfer(progress: ShownTransfer): string {
  const { reference, phase, doneBytes, totalBytes, layersDone, layersTotal, error } = progress;
  if (phase === 'failed') return `${reference} failed: ${error}`;
  const bytes = totalBytes > 0 ? ` ${formatBytes(Number(doneBytes))} of ${formatBytes(Number(totalBytes))}` : '';
  return `${reference} ${phase}${bytes}${layersTotal > 0 ? ` (${layersDone} of ${layersTotal} layers)` : ''}`;
}

/** The table that ends the start-up. `tookMs` tells how long each pod needed, by UID. */
export function podTable(pods: Pod[], tookMs: Map<string, number>, width?: number): string {
  const rows = pods.map((pod) => [
    podLabel(pod),
    readyCount(pod),
    podStatusReason(pod),
    String(restartCount(pod)),
    pod.status?.podIP ?? '-',
    tookMs.has(pod.metadata.uid) ? formatDuration(tookMs.get(pod.metadata.uid)!) : '-',
  ]);
  return renderTable(['POD', 'READY', 'STATUS', 'RESTARTS', 'IP', 'TOOK'], rows, width);
}
