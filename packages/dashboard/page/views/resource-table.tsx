/** The list of a resource, with the columns of the server's Table, and a filter. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { Resource } from '../api/objects.ts';
import { rowKey, type TableColumn, type TableRow } from '../api/table.ts';
import { plainText } from '../logs/ansi.ts';
import { useApp } from '../state/app.ts';
import { LiveTable } from '../state/live-table.ts';
import { objectHref } from '../state/route.ts';
import { compareText, countText } from '../state/text.ts';
import { type Column, GridTable } from '../widgets/grid-table.tsx';
import { Ago, Mark, Problem, Text, type Tone, Waiting } from '../widgets/marks.tsx';

function useLiveTable(resource: Resource, namespace: string): LiveTable {
  const table = useMemo(() => new LiveTable({ resource, namespace }), [resource, namespace]);
  // not useEffect, as in useCollection
  useLayoutEffect(() => () => table.close(), [table]);
  return table;
}

/** `extra`: a column after the name and the namespace, in addition to the server's. */
export function ResourceTable({ resource, extra }: { resource: Resource; extra?: Column<TableRow> }) {
  const { namespace } = useApp();
  const table = useLiveTable(resource, resource.namespaced ? namespace : '');
  const [filter, setFilter] = useState('');
  const { columns, rows, isLoaded, problem } = table.current.value;
  const shown = useMemo(() => filtered(rows, filter), [rows, filter]);
  const drawn = useMemo(() => columnsOf(resource, columns, extra), [resource, columns, extra]);
  if (!isLoaded && problem !== undefined)
    return <Problem what={`${resource.plural} cannot be listed`}>{problem}</Problem>;
  if (!isLoaded) return <Waiting what={`Reading ${resource.plural}`} />;
  return (
    <>
      <div class="list-head">
        <input
          type="search"
          aria-label={`Filter ${resource.plural}`}
          placeholder="Filter"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <span class="faint" role="status">
          {shown.length === rows.length ? '' : `${shown.length} of `}
          {countText(rows.length, 'object')}
        </span>
        {problem === undefined ? null : <span class="faint">not current: {problem}</span>}
      </div>
      <GridTable
        label={resource.plural}
        columns={drawn}
        rows={shown}
        keyOf={rowKey}
        empty={rows.length === 0 ? `There are no ${resource.plural}.` : 'No object contains this text.'}
        minPx={drawn.length * 70}
      />
    </>
  );
}

function filtered(rows: readonly TableRow[], filter: string): readonly TableRow[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const textOf = ({ cells, object }: TableRow) =>
    `${object?.metadata.namespace ?? ''} ${cells.join(' ')}`.toLowerCase();
  const found = words.length === 0 ? rows : rows.filter((row) => words.every((word) => textOf(row).includes(word)));
  return found.toSorted((a, b) => compareText(sortKeyOf(a), sortKeyOf(b)));
}

const sortKeyOf = ({ object, cells }: TableRow): string =>
  `${object?.metadata.namespace ?? ''}/${object?.metadata.name ?? String(cells[0])}`;

/** Returns the columns with priority 0, which `kubectl get` shows without `-o wide`. */
function columnsOf(
  resource: Resource,
  columns: readonly TableColumn[],
  extra: Column<TableRow> | undefined,
): Column<TableRow>[] {
  const place: Column<TableRow>[] = resource.namespaced
    ? [{ title: 'Namespace', track: '1fr', isMinor: true, cell: ({ object }) => object?.metadata.namespace }]
    : [];
  const readyIndex = columns.findIndex(({ name }) => name === 'Ready');
  const drawn = columns.flatMap((column, index) =>
    (column.priority ?? 0) > 0
      ? []
      : [{ ...columnOf(resource, column, { index, readyIndex }), isMinor: index > 1 && !ALWAYS.has(column.name) }],
  );
  return [...drawn.slice(0, 1), ...place, ...(extra === undefined ? [] : [extra]), ...drawn.slice(1)];
}

/** Columns that are shown even on narrow screens. */
const ALWAYS = new Set(['Status', 'Age']);

type Places = { index: number; readyIndex: number };

function columnOf(resource: Resource, { name, type }: TableColumn, { index, readyIndex }: Places): Column<TableRow> {
  if (index === 0)
    return {
      title: name,
      track: '2.5fr',
      cell: (row) => <a href={hrefOf(resource, row)}>{plainText(String(row.cells[0] ?? ''))}</a>,
    };
  if (name === 'Age' || name === 'Created At' || type === 'date')
    return {
      title: 'Age',
      track: '4rem',
      isNumber: true,
      cell: ({ object }) => <Ago time={object?.metadata.creationTimestamp} />,
    };
  const isNumber = type === 'integer' || type === 'number';
  return {
    title: name,
    track: name === 'Ready' ? '4rem' : isNumber ? '0.6fr' : '1.2fr',
    isNumber,
    cell: ({ cells }) => {
      const text = String(cells[index] ?? '');
      return <Cell text={text} tone={name === 'Status' ? toneOf(text, String(cells[readyIndex] ?? '')) : undefined} />;
    },
  };
}

const hrefOf = (resource: Resource, { object, cells }: TableRow): string =>
  objectHref(resource, {
    namespace: object?.metadata.namespace ?? '',
    name: object?.metadata.name ?? String(cells[0]),
  });

function Cell({ text, tone }: { text: string; tone: Tone | undefined }) {
  if (tone === undefined)
    return (
      <span title={text}>
        <Text>{text}</Text>
      </span>
    );
  return (
    <Mark tone={tone}>
      <Text>{text}</Text>
    </Mark>
  );
}

/**
 * Returns the tone of a cell in the Status column. `ready`: the row's cell in the Ready column, such as `0/1`, or '' if there is no such
 * column.
 */
function toneOf(text: string, ready: string): Tone | undefined {
  const [, up, all] = /^(\d+)\/(\d+)$/.exec(ready) ?? [];
  if (/NotReady|Err|BackOff|Fail|Evicted|OOM|Invalid|Lost|Unknown|ExitCode|Signal/.test(text)) return 'bad';
  if (/Disabled/.test(text)) return 'warn';
  if (text === 'Running' && up !== all) return 'warn';
  if (/^(?:Running|Active|Bound|Ready|Available)/.test(text)) return 'good';
  if (/^(?:Complete|Succeeded|Suspended)/.test(text)) return 'calm';
  return /Pending|Creating|Init|Terminating|Released/.test(text) ? 'busy' : undefined;
}
