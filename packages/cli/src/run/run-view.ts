import { type Event, type Pod, podSummary } from '@podwright/kube-api';
import type { ImageTransfer } from '@podwright/node-api';
import { renderTable } from '../output/table.ts';
import { formatDuration } from '../output/units.ts';
import { podLabel } from './pod-rows.ts';

/** Shows pods as they come up, and what happens to them afterwards. */
export interface RunView {
  pod(pod: Pod): void;
  transfer(transfer: ImageTransfer): void;
  event(event: Event): void;
  /** A line that is to be shown as it is, such as one of a log. */
  log(line: string): void;
  /** The pods are ready, or nothing more is shown of them; `table` then takes the place of what showed them coming up. */
  settle(table?: string): void;
  /** Lines about the run itself, such as where its ports are. */
  note(lines: string[]): void;
}

/** The table that ends the start-up. `tookMs` tells how long each pod needed, by UID. */
export function podTable(pods: Pod[], tookMs: Map<string, number>, width?: number): string {
  const rows = pods.map((pod) => {
    const { ready, status, restarts } = podSummary(pod);
    const took = tookMs.get(pod.metadata.uid);
    const shownTook = took === undefined ? '-' : formatDuration(took);
    return [podLabel(pod), ready, status, String(restarts), pod.status?.podIP ?? '-', shownTook];
  });
  return renderTable(['POD', 'READY', 'STATUS', 'RESTARTS', 'IP', 'TOOK'], rows, width);
}
