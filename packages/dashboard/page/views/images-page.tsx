import type { NodeObject } from '../api/objects.ts';
import { builtIn } from '../api/resources.ts';
import { plainText } from '../logs/ansi.ts';
import { useCollection } from '../state/app.ts';
import { bytesText, countText } from '../state/text.ts';
import { type Column, GridTable } from '../widgets/grid-table.tsx';
import { Problem } from '../widgets/marks.tsx';

type ImageRow = { node: string; names: string[]; sizeBytes: number };

const NODES = builtIn('Node');

const COLUMNS: readonly Column<ImageRow>[] = [
  {
    title: 'Image',
    track: '4fr',
    cell: ({ names }) => <span title={names.join('\n')}>{plainText(shortest(names))}</span>,
  },
  { title: 'Other names', track: '6rem', isNumber: true, isMinor: true, cell: ({ names }) => names.length - 1 },
  { title: 'Node', track: '1fr', isMinor: true, cell: ({ node }) => node },
  { title: 'Size', track: '6rem', isNumber: true, cell: ({ sizeBytes }) => bytesText(sizeBytes) },
];

/** Returns an image's shortest name with a tag or, if no name has one, its first name. */
const shortest = (names: readonly string[]): string =>
  names.filter((name) => !name.includes('@')).sort((a, b) => a.length - b.length)[0] ?? names[0] ?? '(no name)';

/** The images reported in the status of all nodes, largest first. */
export function ImagesPage() {
  const nodes = useCollection<NodeObject>(NODES);
  const state = nodes.state.value;
  const rows = nodes.list.flatMap(({ metadata, status }) =>
    (status?.images ?? []).map(({ names, sizeBytes = 0 }) => ({
      node: metadata.name ?? '',
      names: names ?? [],
      sizeBytes,
    })),
  );
  rows.sort((a, b) => b.sizeBytes - a.sizeBytes);
  const total = rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (state.kind === 'refused') return <Problem what="Nodes cannot be listed">{state.message}</Problem>;
  return (
    <>
      <h1>Images</h1>
      <p class="faint">
        {countText(rows.length, 'image')} in the status of the nodes, {bytesText(total)}. A node reports only its
        largest images.
      </p>
      <GridTable
        label="Images"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ node, names }) => `${node} ${names[0]}`}
        empty="The nodes report no images."
      />
    </>
  );
}
