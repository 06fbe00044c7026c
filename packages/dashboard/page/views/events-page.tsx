/** Events of all objects or of one, newest first. */
import { useMemo, useState } from 'preact/hooks';
import { type EventObject, eventContainer, eventCount, eventTimeMs, type ObjectName } from '../api/objects.ts';
import { useApp, useScoped } from '../state/app.ts';
import { EVENTS } from '../state/collections.ts';
import { countText } from '../state/text.ts';
import { type Column, GridTable } from '../widgets/grid-table.tsx';
import { Ago, Mark, ObjectLink, Problem, Text } from '../widgets/marks.tsx';

const objectOf = ({ involvedObject = {} }: EventObject): ObjectName => {
  const { kind = '', namespace = '', name = '' } = involvedObject;
  return { kind, namespace: kind === 'Node' ? '' : namespace, name };
};

const COLUMNS: readonly Column<EventObject>[] = [
  { title: 'Last', track: '3.5rem', isNumber: true, cell: (event) => <Ago time={eventTimeMs(event)} /> },
  {
    title: 'Type',
    track: '6.5rem',
    isMinor: true,
    cell: ({ type }) => (
      <Mark tone={type === 'Warning' ? 'warn' : 'calm'}>{type === 'Warning' ? 'Warning' : 'Normal'}</Mark>
    ),
  },
  { title: 'Reason', track: '1fr', cell: ({ reason }) => <Text>{reason}</Text> },
  { title: 'Object', track: '1.6fr', cell: (event) => <ObjectLink object={objectOf(event)} withKind /> },
  {
    title: 'Message',
    track: '3fr',
    cell: ({ message }) => (
      <span title={message}>
        <Text>{message}</Text>
      </span>
    ),
  },
  { title: 'Count', track: '3.5rem', isNumber: true, isMinor: true, cell: (event) => eventCount(event) },
];

const keyOf = ({ metadata }: EventObject): string => metadata.uid ?? metadata.name ?? '';

export function EventsPage() {
  const events = useScoped<EventObject>(EVENTS);
  const { namespace } = useApp();
  const [isWarnings, setWarnings] = useState(false);
  const [list, wanted, state] = [events.list, namespace, events.state.value];
  const rows = useMemo(() => {
    const shown = list.filter(
      ({ type, metadata }) => (!isWarnings || type === 'Warning') && (wanted === '' || metadata.namespace === wanted),
    );
    return newestFirst(shown);
  }, [list, wanted, isWarnings]);
  if (state.kind === 'refused') return <Problem what="Events cannot be listed">{state.message}</Problem>;
  return (
    <>
      <h1>Events</h1>
      <div class="list-head">
        <label>
          <input
            type="checkbox"
            checked={isWarnings}
            onChange={({ currentTarget }) => setWarnings(currentTarget.checked)}
          />
          Warnings only
        </label>
        <span class="faint" role="status">
          {countText(rows.length, 'event')}
        </span>
      </div>
      <GridTable label="Events" columns={COLUMNS} rows={rows} keyOf={keyOf} empty="There are no events." minPx={360} />
    </>
  );
}

const newestFirst = (events: readonly EventObject[]): EventObject[] => {
  const times = new Map(events.map((event) => [event, eventTimeMs(event)]));
  return events.toSorted((a, b) => times.get(b)! - times.get(a)!);
};

/** Maximum number of events shown per object. */
const SHOWN = 50;

/** The events of one object, newest first. */
export function EventList({ events }: { events: readonly EventObject[] }) {
  if (events.length === 0) return <p class="faint">No events. The API keeps them for an hour.</p>;
  return (
    <ul class="events">
      {newestFirst(events)
        .slice(0, SHOWN)
        .map((event) => (
          <li key={keyOf(event)}>
            <span class="number">
              <Ago time={eventTimeMs(event)} />
            </span>
            <Mark tone={event.type === 'Warning' ? 'warn' : 'calm'}>
              <Text>{event.reason}</Text>
            </Mark>
            <span>
              <ContainerName event={event} />
              <Text>{event.message}</Text>
              {eventCount(event) > 1 ? <span class="faint"> ×{eventCount(event)}</span> : null}
            </span>
          </li>
        ))}
    </ul>
  );
}

function ContainerName({ event }: { event: EventObject }) {
  const name = eventContainer(event);
  if (name === undefined) return null;
  return (
    <span class="faint">
      <Text>{name}</Text>:{' '}
    </span>
  );
}
