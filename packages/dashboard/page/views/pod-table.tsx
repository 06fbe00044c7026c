import { PODS } from '../state/collections.ts';
import { objectHref } from '../state/route.ts';
import type { PodView } from '../state/trouble.ts';
import { type Column, GridTable } from '../widgets/grid-table.tsx';
import { Ago, Mark, Text, TONES } from '../widgets/marks.tsx';

const COLUMNS: readonly Column<PodView>[] = [
  {
    title: 'Pod',
    track: '3fr',
    cell: ({ pod: { metadata } }) => <a href={objectHref(PODS, metadata)}>{metadata.name}</a>,
  },
  { title: 'Namespace', track: '1.5fr', isMinor: true, cell: ({ pod }) => pod.metadata.namespace },
  {
    title: 'Status',
    track: '1.5fr',
    cell: ({ level, status }) => (
      <Mark tone={TONES[level]}>
        <Text>{status}</Text>
      </Mark>
    ),
  },
  { title: 'Ready', track: '4rem', isNumber: true, cell: ({ ready }) => ready },
  { title: 'Restarts', track: '5rem', isNumber: true, isMinor: true, cell: ({ restarts }) => restarts },
  { title: 'Age', track: '4rem', isNumber: true, cell: ({ pod }) => <Ago time={pod.metadata.creationTimestamp} /> },
];

/** A table with one row per pod. */
export const PodTable = ({ label, views }: { label: string; views: readonly PodView[] }) => (
  <GridTable label={label} columns={COLUMNS} rows={views} keyOf={({ pod }) => pod.metadata.uid} empty="No pods." />
);
