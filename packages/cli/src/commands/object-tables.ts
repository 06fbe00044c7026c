import {
  type ConfigMap,
  type Event,
  isConditionTrue,
  type PersistentVolumeClaim,
  type Pod,
  podSummary,
  type RuntimeClass,
  type Secret,
} from '@podwright/kube-api';
import type { ApiObject, NodeObject } from '../client/object-client.ts';
import type { ObjectKind } from '../client/object-names.ts';
import { valuesAt, valueText } from '../output/jsonpath.ts';
import type { PathStep } from '../output/jsonpath-parser.ts';
import { formatAge } from '../output/units.ts';

/**
 * A column in a table of objects. `wide`: shown only with `-o wide`. `wraps`: if this is the last column and the terminal is narrow, its
 * text continues on the next line.
 */
export type Column = {
  title: string;
  wide?: true;
  wraps?: true;
  importance?: number;
  cell: (object: ApiObject, nowMs: number) => string;
};

const column = <T extends ApiObject>(title: string, cell: (object: T, nowMs: number) => string): Column => ({
  title,
  cell: cell as Column['cell'],
});
const wide = <T extends ApiObject>(title: string, cell: (object: T) => string, importance = 7): Column => ({
  ...column<T>(title, cell),
  wide: true,
  importance,
});

const NAME = column('NAME', ({ metadata }) => metadata.name);
const AGE = column('AGE', ageOf);
const NAMESPACE = column('NAMESPACE', ({ metadata }) => metadata.namespace);
const IP = (pod: Pod) => pod.status?.podIP ?? '-';
const COUNTS = [
  column<Pod>('READY', (pod) => podSummary(pod).ready),
  column<Pod>('STATUS', (pod) => podSummary(pod).status),
  column<Pod>('RESTARTS', restarts),
];

/** The columns of each kind, as in kubectl. */
const COLUMNS: Record<ApiObject['kind'], Column[]> = {
  Pod: [NAME, ...COUNTS, AGE, wide('IP', IP), wide<Pod>('NODE', ({ spec }) => spec.nodeName ?? '-')],
  ConfigMap: [
    NAME,
    column<ConfigMap>('DATA', ({ data, binaryData }) => String(keyCount(data) + keyCount(binaryData))),
    AGE,
  ],
  Secret: [
    NAME,
    column<Secret>('TYPE', ({ type }) => type ?? 'Opaque'),
    column<Secret>('DATA', ({ data }) => String(keyCount(data))),
    AGE,
  ],
  PersistentVolumeClaim: [
    NAME,
    column<PersistentVolumeClaim>('STATUS', ({ status }) => status?.phase ?? '-'),
    column<PersistentVolumeClaim>('CAPACITY', ({ status }) => status?.capacity?.storage ?? '-'),
    column<PersistentVolumeClaim>('ACCESS MODES', ({ spec }) => (spec.accessModes ?? []).map(shortMode).join(',')),
    column<PersistentVolumeClaim>('STORAGECLASS', ({ spec }) => spec.storageClassName ?? '-'),
    AGE,
    wide('DIRECTORY', ({ metadata }) => metadata.annotations?.['podwright.dev/directory'] ?? '-', 9),
  ],
  RuntimeClass: [NAME, column<RuntimeClass>('HANDLER', ({ handler }) => handler), AGE],
  Event: [
    column<Event>('LAST SEEN', lastSeen),
    column<Event>('TYPE', ({ type }) => type),
    column<Event>('REASON', ({ reason }) => reason),
    column<Event>('OBJECT', eventObject),
    { ...column<Event>('MESSAGE', ({ message }) => message), wraps: true },
  ],
  Node: [
    NAME,
    column<NodeObject>('STATUS', nodeStatus),
    column('ROLES', () => '<none>'),
    AGE,
    column<NodeObject>('VERSION', ({ status }) => status?.nodeInfo?.kubeletVersion ?? '-'),
    wide<NodeObject>('INTERNAL-IP', ({ status }) => status?.addresses?.[0]?.address ?? '-'),
    wide<NodeObject>('OS-IMAGE', ({ status }) => status?.nodeInfo?.osImage ?? '-'),
    wide<NodeObject>('KERNEL-VERSION', ({ status }) => status?.nodeInfo?.kernelVersion ?? '-'),
    wide<NodeObject>('CONTAINER-RUNTIME', ({ status }) => status?.nodeInfo?.containerRuntimeVersion ?? '-'),
  ],
};

/** The columns of `ps`: like `get pods`, with namespaces and IPs. */
export const PS_COLUMNS: Column[] = [
  NAMESPACE,
  NAME,
  ...COUNTS,
  { ...column<Pod>('IP', IP), importance: 5 },
  AGE,
  wide<Pod>('QOS', ({ status }) => status?.qosClass ?? '-', 2),
  wide<Pod>('UID', ({ metadata }) => metadata.uid, 1),
  wide<Pod>('IMAGES', ({ spec }) => spec.containers.map(({ image }) => image).join(',')),
];

/** Returns the columns for a kind. With `withType`, names are printed as `pod/web`, for lists of several kinds. */
export function columnsOf(
  { kind, singular, namespaced }: ObjectKind,
  options: { allNamespaces: boolean; withType: boolean },
): Column[] {
  const own = COLUMNS[kind as keyof typeof COLUMNS];
  const named = options.withType
    ? own.map((one) => (one === NAME ? column('NAME', ({ metadata }) => `${singular}/${metadata.name}`) : one))
    : own;
  return options.allNamespaces && namespaced ? [NAMESPACE, ...named] : named;
}

export const LABELS = column('LABELS', ({ metadata: { labels = {} } }) => {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.join(',');
});

/** Returns a column for kubectl's `-L`, which shows the value of a label. */
export const labelColumn = (label: string): Column =>
  column(label.split('/').at(-1)!.toUpperCase(), ({ metadata: { labels = {} } }) => labels[label] ?? '');

/** Returns a column for `-o custom-columns`. */
export const pathColumn = ({ title, path }: { title: string; path: PathStep[] }): Column =>
  column(title, (object) => valuesAt(path, object).map(valueText).join(',') || '<none>');

/** Abbreviates an access mode as kubectl does: `ReadWriteOnce` becomes `RWO`. */
function shortMode(mode: string): string {
  const short: Record<string, string> = { ReadOnlyMany: 'ROX', ReadWriteMany: 'RWX', ReadWriteOncePod: 'RWOP' };
  return short[mode] ?? 'RWO';
}

function restarts(pod: Pod, nowMs: number): string {
  const { restarts, restartedAt } = podSummary(pod);
  return restartedAt === undefined ? String(restarts) : `${restarts} (${formatAge(restartedAt, nowMs)} ago)`;
}

function ageOf(object: ApiObject, nowMs: number): string {
  const startTime = object.kind === 'Pod' ? object.status?.startTime : undefined;
  return formatAge(object.metadata.creationTimestamp ?? startTime, nowMs);
}

export function lastSeen({ lastTimestamp, count }: Event, nowMs: number): string {
  return formatAge(lastTimestamp, nowMs) + (count > 1 ? ` (x${count})` : '');
}

/** Returns the object that an event is about and, for a container event, the container's name: `pod/web (main)`. */
function eventObject(event: Event): string {
  const { kind, name } = event.involvedObject;
  const container = eventContainer(event);
  return `${kind.toLowerCase()}/${name}${container === '' ? '' : ` (${container})`}`;
}

/** Returns the name of the container that an event is about, or ''. */
export function eventContainer({ involvedObject: { fieldPath = '' } }: Event): string {
  return /\{(.+)\}$/.exec(fieldPath)?.[1] ?? '';
}

function nodeStatus({ status }: NodeObject): string {
  return isConditionTrue(status?.conditions, 'Ready') ? 'Ready' : 'NotReady';
}

function keyCount(map: Record<string, string> | undefined): number {
  return Object.keys(map ?? {}).length;
}
