/** Computes the strategic merge patch for a pod's status, limited to the fields that the kubelet owns. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@podwright/base';
import type { PodStatus } from '@podwright/kube-api';

/** The patch strategy of each field of v1 PodStatus. */
const FIELDS: Record<keyof PodStatus, 'whole' | 'map' | { key: string }> = {
  observedGeneration: 'whole',
  phase: 'whole',
  conditions: { key: 'type' },
  message: 'whole',
  reason: 'whole',
  hostIP: 'whole',
  hostIPs: { key: 'ip' },
  podIP: 'whole',
  podIPs: { key: 'ip' },
  startTime: 'whole',
  initContainerStatuses: 'whole',
  containerStatuses: 'whole',
  ephemeralContainerStatuses: 'whole',
  qosClass: 'whole',
  resources: 'map',
  allocatedResources: 'map',
};

type Json = Record<string, unknown>;

/** Preconditions for the patch: the pod's UID and, if given, its resource version. */
export type PatchedPod = { uid: string; resourceVersion?: string };

export type StatusPatch = { body: { metadata: PatchedPod; status?: Json }; changed: boolean };

/** Returns the patch that turns status `before` into `after`. */
export function statusPatch(metadata: PatchedPod, before: PodStatus | undefined, after: PodStatus): StatusPatch {
  const status: Json = {};
  for (const [name, how] of Object.entries(FIELDS)) {
    const [old, now] = [before?.[name as keyof PodStatus], after[name as keyof PodStatus]];
    if (how === 'whole') Object.assign(status, wholePatch(name, old, now));
    else if (how === 'map') Object.assign(status, mapPatch(name, old as Json, now as Json));
    else Object.assign(status, listPatch(name, { old: list(old), now: list(now), key: how.key }));
  }
  const changed = Object.keys(status).length > 0;
  return { body: { metadata, ...(changed && { status }) }, changed };
}

function wholePatch(name: string, old: unknown, now: unknown): Json {
  if (isSame(old, now)) return {};
  return { [name]: isAbsent(now) ? null : now };
}

function mapPatch(name: string, old: Json | undefined, now: Json | undefined): Json {
  if (isSame(old, now)) return {};
  if (isAbsent(now) || isAbsent(old)) return { [name]: now ?? null };
  return { [name]: fieldsPatch(old!, now!) };
}

/** Returns the changed fields, with null for each removed field. */
function fieldsPatch(old: Json, now: Json): Json {
  const patch: Json = {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [before, after] = [old[name], now[name]];
    if (isRecord(before) && isRecord(after)) Object.assign(patch, mapPatch(name, before, after));
    else Object.assign(patch, wholePatch(name, before, after));
  }
  return patch;
}

/** Returns the patch for a list that is merged by key: its added, changed and deleted elements, and the element order. */
function listPatch(name: string, { old, now, key }: { old: Json[]; now: Json[]; key: string }): Json {
  const before = new Map(old.map((one) => [one[key], one]));
  const after = new Map(now.map((one) => [one[key], one]));
  const changed = [...after].flatMap(([value, one]) => elementPatch(before.get(value), one, { key, value }));
  const removed = [...before.keys()].filter((value) => !after.has(value));
  const kept = [...before.keys()].filter((value) => after.has(value));
  const sameOrder = isDeepStrictEqual(
    kept,
    [...after.keys()].filter((value) => before.has(value)),
  );
  if (changed.length + removed.length === 0 && sameOrder) return {};
  if (old.length === 0) return { [name]: now };
  const elements = [...changed, ...removed.map((value) => ({ $patch: 'delete', [key]: value }))];
  return {
    [`$setElementOrder/${name}`]: [...after.keys()].map((value) => ({ [key]: value })),
    ...(elements.length > 0 && { [name]: elements }),
  };
}

function elementPatch(before: Json | undefined, after: Json, { key, value }: { key: string; value: unknown }): Json[] {
  if (before === undefined) return [after];
  const fields = fieldsPatch(before, after);
  return Object.keys(fields).length === 0 ? [] : [{ ...fields, [key]: value }];
}

function list(field: unknown): Json[] {
  return Array.isArray(field) ? (field as Json[]) : [];
}

/** Compares two values. Empty and absent fields count as equal, because Go may omit empty fields. */
function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(withoutAbsent(a), withoutAbsent(b));
}

function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutAbsent);
  if (!isRecord(value)) return value === null || value === '' ? undefined : value;
  const entries = Object.entries(value).map(([key, field]) => [key, withoutAbsent(field)] as const);
  const kept = entries.filter(([, field]) => field !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function isAbsent(value: unknown): boolean {
  return withoutAbsent(value) === undefined;
}
