import type { Resource } from '@podwright/kube-api';
import type { ApiObject } from '@podwright/kube-kinds';
import { ACCESS } from './access.ts';
import { ADMISSION } from './admission.ts';
import { API_MACHINERY } from './api-machinery.ts';
import { AUTOSCALING } from './autoscaling.ts';
import {
  type Cell,
  type ColumnDefinition,
  CREATED_AT,
  type KindTable,
  type KindTables,
  kindTable,
  NAME,
  type RowCondition,
} from './column.ts';
import { CONFIGURATION } from './configuration.ts';
import { CSI } from './csi.ts';
import { DEVICES } from './devices.ts';
import { EVENTS } from './events.ts';
import { JOBS } from './jobs.ts';
import { NETWORKING } from './networking.ts';
import { NODES } from './nodes.ts';
import { PODS } from './pods.ts';
import { RESOURCE_USAGE } from './resource-usage.ts';
import { SCHEDULING } from './scheduling.ts';
import { SERVICES } from './services.ts';
import { STORAGE } from './storage.ts';
import { WORKLOADS } from './workloads.ts';

/** A meta/v1 Table. */
export type Table = {
  kind: 'Table';
  apiVersion: 'meta.k8s.io/v1';
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  /** The column definitions; null in all tables of a watch except the first. */
  columnDefinitions: ColumnDefinition[] | null;
  rows: TableRow[];
};

export type TableRow = { cells: Cell[]; conditions?: RowCondition[]; object: object | null };

/** How much of its object a table row includes (meta/v1 TableOptions). */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export type TableOptions = {
  includeObject: IncludeObject;
  resourceVersion: string;
  /** The current Unix time in milliseconds, from which ages are computed. */
  nowMs: number;
  continue?: string;
  remainingItemCount?: number;
  /** Whether the client already has the column definitions from an earlier table of the watch. */
  noHeaders?: boolean;
  /** The table definition of a custom kind; unset for built-in kinds. */
  kindTable?: KindTable;
};

const TABLES: KindTables = {
  ...PODS,
  ...WORKLOADS,
  ...JOBS,
  ...SERVICES,
  ...NETWORKING,
  ...NODES,
  ...STORAGE,
  ...CSI,
  ...AUTOSCALING,
  ...ACCESS,
  ...CONFIGURATION,
  ...ADMISSION,
  ...API_MACHINERY,
  ...DEVICES,
  ...SCHEDULING,
  ...EVENTS,
  ...RESOURCE_USAGE,
};

const DEFAULT_TABLE: KindTable = kindTable([NAME, CREATED_AT]);

/**
 * Prints objects of one kind as a table, with the same columns as the Kubernetes 1.36 API server. The columns are the same for all versions
 * of an API group, but objects must be in the version stored by upstream (autoscaling: v2).
 */
export function tableOf(
  { group, kind }: Pick<Resource, 'group' | 'kind'>,
  objects: readonly ApiObject[],
  options: TableOptions,
): Table {
  const key = group === '' ? kind : `${kind}.${group}`;
  const own = Object.hasOwn(TABLES, key) ? TABLES[key]! : DEFAULT_TABLE;
  const { columns, conditions, compare } = options.kindTable ?? own;
  const ordered = compare === undefined ? objects : objects.toSorted(compare);
  const { resourceVersion, remainingItemCount, noHeaders = false, nowMs, includeObject } = options;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {
      resourceVersion,
      ...(options.continue && { continue: options.continue }),
      ...(remainingItemCount !== undefined && { remainingItemCount }),
    },
    columnDefinitions: noHeaders ? null : columns.flatMap(({ definition }) => definition ?? []),
    rows: ordered.map((object) => {
      const states = conditions?.(object);
      return {
        cells: columns.map(({ cell }) => cell(object, nowMs)),
        ...(states && { conditions: states }),
        object: partOf(object, includeObject),
      };
    }),
  };
}

function partOf(object: ApiObject, includeObject: IncludeObject): object | null {
  if (includeObject === 'None') return null;
  if (includeObject === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}
