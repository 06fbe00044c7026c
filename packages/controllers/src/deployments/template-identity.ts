/** Finds the ReplicaSet that has a Deployment's template, and names new ones. */
import { isRecord } from '@podwright/base';
import { nameHash, stableJson } from '../framework/stable-hash.ts';
import type { Deployment } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import type { PodTemplate } from '../pods/pod-template.ts';

export const HASH_LABEL = 'pod-template-hash';
const MAX_NAME_LENGTH = 253;
/** Fields that are maps or plain structs in Go, where an empty object is equivalent to an absent one. */
const EMPTY_IS_ABSENT = new Set([
  'annotations',
  'labels',
  'limits',
  'metadata',
  'nodeSelector',
  'requests',
  'resources',
]);

/** Whether two templates are equal apart from the hash label (deploymentutil.EqualIgnoreHash). */
export function isSameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return templateText(a) === templateText(b);
}

/** Returns the value of the `pod-template-hash` label for the Deployment's template. */
export function templateHash({ spec, status }: Deployment): string {
  return nameHash(`${templateText(spec.template)}${status?.collisionCount ?? ''}`);
}

/** Returns the name of the ReplicaSet for a hash. The Deployment's name is truncated if the result would be too long. */
export function replicaSetName(deploymentName: string, hash: string): string {
  return `${deploymentName.slice(0, MAX_NAME_LENGTH - 1 - hash.length)}-${hash}`;
}

/** Returns the ReplicaSet with the Deployment's template (the oldest if there are several), and the others, oldest first. */
export function newAndOld(
  { spec }: Deployment,
  replicaSets: readonly ReplicaSet[],
): { newSet: ReplicaSet | undefined; oldSets: ReplicaSet[] } {
  const wanted = templateText(spec.template);
  const sorted = replicaSets.toSorted(byCreation);
  const newSet = sorted.find((one) => templateText(one.spec.template) === wanted);
  return { newSet, oldSets: sorted.filter((one) => one !== newSet) };
}

/** Sorts ReplicaSets by creation time, then by name. */
export function byCreation({ metadata: a }: ReplicaSet, { metadata: b }: ReplicaSet): number {
  const [timeA, timeB] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

function templateText({ metadata = {}, spec }: PodTemplate): string {
  const { [HASH_LABEL]: _hash, ...labels } = metadata.labels ?? {};
  return stableJson(withoutAbsent({ metadata: { ...metadata, labels }, spec }));
}

/** Removes fields that are equivalent to absent ones: null, empty lists, and empty objects in certain fields. */
function withoutAbsent(value: unknown, key = ''): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((one) => withoutAbsent(one) ?? null);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).flatMap(([name, one]) => {
    const kept = withoutAbsent(one, name);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return fields.length === 0 && EMPTY_IS_ABSENT.has(key) ? undefined : Object.fromEntries(fields);
}
