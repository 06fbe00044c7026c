import type { KubeMetadata } from '@podwright/kube-api';

/** Media types for requesting tables (apimachinery, meta/v1 Table). Servers without Table support respond with plain objects. */
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** A column of a server's table; `wide` columns are shown only with `-o wide`. */
export type TableColumn = { title: string; wide: boolean };
/** A row of a server's table. */
export type TableRow = { metadata: KubeMetadata & { name: string }; cells: string[]; object: object };
export type ServerTable = { columns: TableColumn[]; rows: TableRow[]; resourceVersion: string };

type WireTable = {
  kind?: string;
  metadata?: { resourceVersion?: string };
  columnDefinitions?: { name: string; priority?: number }[] | null;
  rows?: { cells: unknown[]; object?: { metadata?: KubeMetadata } | null }[] | null;
};

/** Decodes a table. Later events of a watch have no column definitions, so their tables have no columns. */
export function tableOf(answer: unknown): ServerTable {
  const { kind, metadata, columnDefinitions, rows } = answer as WireTable;
  if (kind !== 'Table') return tableOf(withoutTable(answer));
  return {
    columns: (columnDefinitions ?? []).map(({ name, priority = 0 }) => ({
      title: name.toUpperCase(),
      wide: priority > 0,
    })),
    rows: (rows ?? []).map(({ cells, object }) => ({
      metadata: { name: String(cells[0]), ...object?.metadata },
      cells: cells.map(cellText),
      object: object ?? {},
    })),
    resourceVersion: metadata?.resourceVersion ?? '',
  };
}

/** Builds a fallback table (name and creation time) from the response of a server without Table support. */
function withoutTable(answer: unknown): WireTable {
  const { items, metadata } = answer as { items?: { metadata: KubeMetadata }[] | null; metadata?: KubeMetadata };
  const objects = items === undefined ? [{ metadata: metadata ?? {} }] : (items ?? []);
  const rows = objects.map((object) => ({ cells: [object.metadata.name, object.metadata.creationTimestamp], object }));
  return { kind: 'Table', metadata, columnDefinitions: [{ name: 'Name' }, { name: 'Created At' }], rows };
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '<none>';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}
