import type { IncomingHttpHeaders } from 'node:http';
import { PodwrightError } from '@podwright/base';
import {
  type ConfigMap,
  type Event,
  humanDuration,
  isConditionTrue,
  type PersistentVolumeClaim,
  type Pod,
  podSummary,
  type RuntimeClass,
  type Secret,
  type VolumeAccessMode,
} from '@podwright/kube-api';
import type { NodeObject } from '@podwright/kubelet';
import type { ApiKind, ApiObject } from './node-backend.ts';

/** A meta/v1 Table. It includes its column definitions, which later tables in a watch omit. */
type Table = {
  apiVersion: 'meta.k8s.io/v1';
  kind: 'Table';
  metadata: object;
  columnDefinitions: object[];
  rows: object[];
};

type Cell = string | number;
/** A table column. `wide`: shown only with `-o wide`. */
type Column<T> = { name: string; wide: boolean; cell: (object: T, nowMs: number) => Cell };

const NONE = '<none>';

const column = <T = ApiObject>(name: string, cell: Column<T>['cell']): Column<T> => ({ name, wide: false, cell });
const wide = <T>(name: string, cell: Column<T>['cell']): Column<T> => ({ name, wide: true, cell });
const age = (since: string | undefined, nowMs: number): string =>
  since === undefined ? '<unknown>' : humanDuration(nowMs - Date.parse(since));
const keys = (map: object = {}): number => Object.keys(map).length;

const NAME = column('Name', ({ metadata }) => metadata.name);
/** The Age column. For pods, falls back to the start time, because pods from users' manifest files have no creationTimestamp. */
const AGE = column('Age', (object, nowMs) =>
  age(object.metadata.creationTimestamp ?? (object.kind === 'Pod' ? object.status?.startTime : undefined), nowMs),
);

const POD: Column<Pod>[] = [
  NAME,
  column('Ready', (pod) => podSummary(pod).ready),
  column('Status', (pod) => podSummary(pod).status),
  column('Restarts', (pod, nowMs) => {
    const { restarts, restartedAt } = podSummary(pod);
    return restartedAt === undefined ? String(restarts) : `${restarts} (${age(restartedAt, nowMs)} ago)`;
  }),
  AGE,
  wide('IP', ({ status }) => status?.podIP || NONE),
  wide('Node', ({ spec }) => spec.nodeName || NONE),
  wide('Nominated Node', () => NONE),
  wide('Readiness Gates', openGates),
];

const CONFIG_MAP: Column<ConfigMap>[] = [
  NAME,
  column('Data', ({ data, binaryData }) => keys(data) + keys(binaryData)),
  AGE,
];

const SECRET: Column<Secret>[] = [
  NAME,
  column('Type', ({ type }) => type ?? 'Opaque'),
  column('Data', ({ data }) => keys(data)),
  AGE,
];

const CLAIM: Column<PersistentVolumeClaim>[] = [
  NAME,
  column('Status', ({ status }) => status?.phase ?? ''),
  column('Volume', () => ''),
  column('Capacity', ({ status }) => status?.capacity?.storage ?? ''),
  column('Access Modes', ({ status }) => (status?.accessModes ?? []).map(shortMode).join(',')),
  column('StorageClass', ({ spec }) => spec.storageClassName ?? ''),
  column('VolumeAttributesClass', () => '<unset>'),
  AGE,
  wide('VolumeMode', ({ spec }) => spec.volumeMode ?? '<unset>'),
];

const RUNTIME_CLASS: Column<RuntimeClass>[] = [NAME, column('Handler', ({ handler }) => handler), AGE];

const EVENT: Column<Event>[] = [
  column('Last Seen', ({ lastTimestamp }, nowMs) => age(lastTimestamp, nowMs)),
  column('Type', ({ type }) => type),
  column('Reason', ({ reason }) => reason),
  column('Object', ({ involvedObject: { kind, name } }) => `${kind.toLowerCase()}/${name}`),
  wide('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? ''),
  wide('Source', ({ source: { component, host } }) => (host === undefined ? component : `${component}, ${host}`)),
  column('Message', ({ message }) => message.trim()),
  wide('First Seen', ({ firstTimestamp }, nowMs) => age(firstTimestamp, nowMs)),
  wide('Count', ({ count }) => count),
  wide('Name', ({ metadata }) => metadata.name),
];

const NODE: Column<NodeObject>[] = [
  NAME,
  column('Status', ({ status }) => (isReady(status) ? 'Ready' : 'NotReady')),
  column('Roles', () => NONE),
  AGE,
  column('Version', ({ status }) => status.nodeInfo.kubeletVersion ?? ''),
  wide('Internal-IP', ({ status }) => addressOf(status, 'InternalIP')),
  wide('External-IP', ({ status }) => addressOf(status, 'ExternalIP')),
  wide('OS-Image', ({ status }) => status.nodeInfo.osImage || '<unknown>'),
  wide('Kernel-Version', ({ status: { nodeInfo } }) => `${nodeInfo.kernelVersion} (${nodeInfo.architecture})`),
  wide('Container-Runtime', ({ status }) => status.nodeInfo.containerRuntimeVersion || '<unknown>'),
];

/** The API server's columns by kind (from its internal printers). */
const COLUMNS = {
  Pod: POD,
  ConfigMap: CONFIG_MAP,
  Secret: SECRET,
  PersistentVolumeClaim: CLAIM,
  RuntimeClass: RUNTIME_CLASS,
  Event: EVENT,
  Node: NODE,
} as unknown as Record<ApiKind, Column<ApiObject>[]>;

/** How much of each object a table row includes. Default: its metadata (meta/v1 TableOptions). */
export type IncludedObject = 'None' | 'Metadata' | 'Object';

/**
 * Decodes `includeObject` if the client prefers tables by listing them first in `Accept`, as kubectl does; otherwise returns `undefined`.
 * Throws `invalid_argument`.
 */
export function requestedTable(
  { accept = '' }: IncomingHttpHeaders,
  query: URLSearchParams,
): IncludedObject | undefined {
  const parameters = accept
    .split(',')[0]!
    .split(';')
    .map((part) => part.trim());
  const isTable =
    parameters.includes('as=Table') && parameters.includes('g=meta.k8s.io') && parameters.includes('v=v1');
  if (!isTable) return undefined;
  const included = query.get('includeObject') || 'Metadata';
  if (included === 'None' || included === 'Metadata' || included === 'Object') return included;
  throw new PodwrightError(
    'invalid_argument',
    `includeObject "${included.slice(0, 60)}" is not one of None, Metadata, Object`,
  );
}

/** Formats objects of one kind as a table, without column definitions if `columnsKnown` is set. */
export function tableOf(
  kind: ApiKind,
  objects: ApiObject[],
  { included, columnsKnown = false }: { included: IncludedObject; columnsKnown?: boolean },
): Table {
  const columns = COLUMNS[kind];
  const nowMs = Date.now();
  return {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'Table',
    metadata: {},
    columnDefinitions: columnsKnown ? [] : columns.map(definitionOf),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, nowMs)),
      ...(included !== 'None' && { object: included === 'Object' ? object : partOf(object) }),
    })),
  };
}

function definitionOf({ name, wide }: Column<ApiObject>): object {
  return { name, type: 'string', format: name === 'Name' ? 'name' : '', description: '', priority: wide ? 1 : 0 };
}

const partOf = ({ metadata }: ApiObject): object => ({
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
  metadata,
});

function openGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const open = gates.filter(({ conditionType }) => isConditionTrue(status?.conditions, conditionType));
  return `${open.length}/${gates.length}`;
}

const isReady = ({ conditions }: NodeObject['status']): boolean => isConditionTrue(conditions, 'Ready');

const addressOf = ({ addresses }: NodeObject['status'], addressType: string): string =>
  addresses.find(({ type }) => type === addressType)?.address ?? NONE;

const shortMode = (mode: VolumeAccessMode): string =>
  ({ ReadWriteOnce: 'RWO', ReadOnlyMany: 'ROX', ReadWriteMany: 'RWX', ReadWriteOncePod: 'RWOP' })[mode];
