import { humanDuration } from '@podwright/kube-api';
import type { Lines } from '../text/aligned.ts';

/** The fields of a core/v1 event, and the events.k8s.io fields that newer recorders set instead. */
export type ShownEvent = {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { count: number; lastObservedTime?: string } | null;
  source?: { component?: string };
  reportingComponent?: string;
  metadata?: { creationTimestamp?: string };
};

/** Adds an object's events to the description, oldest first, or `<none>`, or why they cannot be read. */
export function describeEvents(lines: Lines, events: readonly ShownEvent[] | Error, nowMs: number): void {
  if (events instanceof Error) return lines.field('Events', `error in fetching events: ${events.message}`);
  if (events.length === 0) return lines.add(0, 'Events:\t<none>');
  lines.add(0, 'Events:\n  Type\tReason\tAge\tFrom\tMessage\n  ----\t------\t----\t----\t-------');
  const sorted = events.toSorted((a, b) => firstMs(a) - firstMs(b) || lastMs(a) - lastMs(b));
  for (const event of sorted) {
    const { type = '', reason = '', source, reportingComponent, message = '' } = event;
    const from = source?.component || reportingComponent || '';
    const shown = message.trim().replaceAll('\n', '\\n');
    lines.add(1, [type, reason, ageOf(event, nowMs), from, shown].join('\t'));
  }
}

function ageOf(event: ShownEvent, nowMs: number): string {
  const count = event.series?.count ?? event.count ?? 1;
  const last = humanDuration(nowMs - lastMs(event));
  return count > 1
    ? `${last} (x${count} over ${humanDuration(nowMs - firstMs(event))})`
    : humanDuration(nowMs - firstMs(event));
}

const firstMs = ({ firstTimestamp, eventTime, metadata }: ShownEvent): number =>
  Date.parse(firstTimestamp || eventTime || metadata?.creationTimestamp || '');
const lastMs = (event: ShownEvent): number =>
  Date.parse(event.series?.lastObservedTime || event.lastTimestamp || '') || firstMs(event);
