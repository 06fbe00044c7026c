/** Finds the last edit to the ConfigMaps that a pod reads, because that edit might have caused the pod's problem. */
import { type KubeObject, type Pod, podReferences } from '@podwright/kube-api';
import { unlessForbidden } from '../api-view-reader.ts';
import { VIEWED, type ViewReader } from '../view-reader.ts';
import type { Change } from './explanation.ts';

/** Maximum number of ConfigMaps to read. */
const MAX_READ = 10;
/**
 * How long before the pod's creation a ConfigMap edit can have been made and still count as a possible cause: users edit a ConfigMap and
 * then restart the workload.
 */
const BEFORE_POD_MS = 60 * 60_000;

/** Returns the last edit to a ConfigMap that the pod reads; undefined if it was more than an hour before the pod was created. */
export async function configEdit(reader: ViewReader, pod: Pod): Promise<Change | undefined> {
  const { namespace, creationTimestamp } = pod.metadata as Pod['metadata'] & { creationTimestamp?: string };
  const named = podReferences(pod).flatMap(({ kind, name }) => (kind === 'ConfigMap' ? [name] : []));
  const names = [...new Set(named)].slice(0, MAX_READ);
  const read = await Promise.all(names.map((name) => unlessForbidden(reader.get(VIEWED.configMaps, namespace, name))));
  const edits = read.flatMap((object) => lastEdit(object) ?? []);
  const fromMs = Date.parse(creationTimestamp ?? '') - BEFORE_POD_MS;
  return edits.filter(({ at }) => Date.parse(at) >= fromMs).sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0];
}

type FieldsEntry = { manager?: string; time?: string; fieldsV1?: Record<string, unknown> };

/** Returns the last change to a ConfigMap's data since its creation, according to its managed fields. Pure. */
export function lastEdit(object: KubeObject | undefined): Change | undefined {
  if (object === undefined) return undefined;
  const {
    name,
    creationTimestamp = '',
    managedFields = [],
  } = object.metadata as KubeObject['metadata'] & {
    managedFields?: FieldsEntry[];
  };
  const entries = managedFields.filter(({ time, fieldsV1 = {} }) => {
    const hasData = 'f:data' in fieldsV1 || 'f:binaryData' in fieldsV1;
    return hasData && Date.parse(time ?? '') > Date.parse(creationTimestamp);
  });
  const last = entries.sort((a, b) => Date.parse(b.time!) - Date.parse(a.time!))[0];
  if (last === undefined) return undefined;
  const by = last.manager === undefined ? '' : ` by ${last.manager}`;
  return { at: last.time!, text: `ConfigMap ${name} was edited at ${last.time}${by}` };
}
