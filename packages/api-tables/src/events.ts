import type { KubeObject } from '@podwright/kube-api';
import { age, type Column, type KindTables, kindTable, NAME, text, wide } from './column.ts';

type ObjectReference = { kind?: string; name?: string; fieldPath?: string };
type Source = { component?: string; host?: string };

/** An event of either v1 or events.k8s.io/v1, which name some fields differently. */
type Event = KubeObject & {
  type?: string;
  reason?: string;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string } | null;
  reportingInstance?: string;
  involvedObject?: ObjectReference;
  regarding?: ObjectReference;
  message?: string;
  note?: string;
  source?: Source;
  deprecatedSource?: Source;
  firstTimestamp?: string | null;
  deprecatedFirstTimestamp?: string | null;
  lastTimestamp?: string | null;
  deprecatedLastTimestamp?: string | null;
  count?: number;
  deprecatedCount?: number;
  reportingComponent?: string;
  reportingController?: string;
};

const objectOf = ({ involvedObject, regarding }: Event): ObjectReference => involvedObject ?? regarding ?? {};

const firstSeen = (event: Event): string | null | undefined =>
  event.firstTimestamp || event.deprecatedFirstTimestamp || event.eventTime;

const EVENT: Column<Event>[] = [
  text('Last Seen', 'Time since the last occurrence', (event, nowMs) => {
    if (event.series) return age(event.series.lastObservedTime, nowMs);
    return age(event.lastTimestamp || event.deprecatedLastTimestamp || firstSeen(event), nowMs);
  }),
  text('Type', 'Normal or Warning', ({ type }) => type ?? ''),
  text('Reason', 'What has happened, as a word', ({ reason }) => reason ?? ''),
  text('Object', 'Object to which it happened', (event) => {
    const { kind = '', name } = objectOf(event);
    return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
  }),
  wide(text('Subobject', 'Part of the object', (event) => objectOf(event).fieldPath ?? '')),
  wide(text('Source', 'Component that reports it, and where', sourceText)),
  text('Message', 'What has happened', ({ message, note }) => (message ?? note ?? '').trim()),
  wide(text('First Seen', 'Time since the first occurrence', (event, nowMs) => age(firstSeen(event), nowMs))),
  wide(
    text('Count', 'Occurrences', ({ series, count, deprecatedCount }) =>
      series ? (series.count ?? 0) : count || deprecatedCount || 1,
    ),
  ),
  wide(NAME),
];

function sourceText(event: Event): string {
  const source = event.source ?? event.deprecatedSource ?? {};
  const component = source.component || event.reportingComponent || event.reportingController || '';
  const instance = source.host || event.reportingInstance || '';
  return instance === '' ? component : `${component}, ${instance}`;
}

export const EVENTS: KindTables = { Event: kindTable(EVENT), 'Event.events.k8s.io': kindTable(EVENT) };
