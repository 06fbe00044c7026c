import { type Event, type Pod, podSummary } from '@podwright/kube-api';
import type { ImageTransfer } from '@podwright/node-api';
import { renderTable } from '../output/table.ts';
import { formatDuration } from '../output/units.ts';
import { podLabel } from './pod-rows.ts';

/** Shows a run's pods while they start up, and what happens to them afterwards. */
export interface RunView {
  pod(pod: Pod): void;
  transfer(transfer: ImageTransfer): void;
  event(event: Event): void;
  /** Prints a log line or other text verbatim. */
  log(line: string): void;
  /** Must be called once the pods are ready or no longer watched. `table` replaces the startup progress. */
  settle(table?: string): void;
  /** Shows lines that do not belong to the progress of a container, such as published ports. */
  note(lines: string[]): void;
}

/** Returns the table of pods shown once they have started. `tookMs` is how long each pod took to start, by UID. */
export function podTable(pods: Pod[], tookMs: Map<string, number>, width?: number): string {
  const rows = pods.map((pod) => {
    const { ready, status, restarts } = podSummary(pod);
    const took = tookMs.get(pod.metadata.uid);
    const shownTook = took === undefined ? '-' : formatDuration(took);
    return [podLabel(pod), ready, status, String(restarts), pod.status?.podIP ?? '-', shownTook];
  });
  return renderTable(['POD', 'READY', 'STATUS', 'RESTARTS', 'IP', 'TOOK'], rows, width);
}
