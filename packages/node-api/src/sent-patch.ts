/** Decodes clients' patches by content type. */
import { isDeepStrictEqual } from 'node:util';
import { didYouMean, isRecord, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { jsonPatch, mergePatchBetween } from './json-patch.ts';
import { type MetadataPatch, parseMetadataPatch } from './metadata-patch.ts';
import type { PatchOf } from './node-backend.ts';
import {
  type EphemeralPatch,
  parseEphemeralPatch,
  parseResizePatch,
  type ResizePatch,
  resizedPod,
} from './pod-patch.ts';

/** Kubernetes' patch types, plus `whole`: a complete object, as sent by PUT. */
export type SentKind = 'merge' | 'strategic' | 'json' | 'whole';

const TYPES: Record<string, SentKind> = {
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/json-patch+json': 'json',
};

/** Returns the patch type for a request's content type. `others`: additional types. Throws `invalid_argument`. */
export function sentKind(contentType: string | undefined, others: Record<string, SentKind> = {}): SentKind {
  const known = { ...TYPES, ...others };
  const type = (contentType ?? '').split(';')[0]!.trim();
  if (Object.hasOwn(known, type)) return known[type]!;
  const names = Object.keys(known);
  const message = `read the patch: its type "${type.slice(0, 60)}" is not one of ${names.join(', ')}${didYouMean(type, names)}`;
  throw new PodwrightError('invalid_argument', message);
}

/**
 * Decodes a patch of labels and annotations. Throws `invalid_argument`; for an invalid JSON patch, only when it is applied to the object.
 */
export function metadataChange(kind: SentKind, text: string): PatchOf<object, MetadataPatch> {
  // labels and annotations contain no lists, so both types of merge patch are equivalent
  return changeBy(kind, {
    json: (current) => parseMetadataPatch(asMergePatch(text, current)),
    other: () => parseMetadataPatch(text),
  });
}

/** Decodes a patch of a pod's ephemeral containers, with the same errors as `metadataChange`. */
export function ephemeralChange(kind: SentKind, text: string): PatchOf<Pod, EphemeralPatch> {
  const listed = kind === 'strategic' ? 'merge-by-name' : 'replace';
  return changeBy(kind, {
    json: (current) => jsonEphemeralPatch(text, current),
    other: () => parseEphemeralPatch(text, listed),
  });
}

/** Decodes a patch of a pod's resources, with the same errors as `metadataChange`. */
export function resizeChange(kind: SentKind, text: string): PatchOf<Pod, ResizePatch> {
  return changeBy(kind, { json: (current) => jsonResizePatch(text, current), other: () => parseResizePatch(text) });
}

/**
 * Returns the patch function for a request. A JSON patch can be decoded only once the current object is known; all other patches are
 * decoded immediately.
 */
function changeBy<O, P>(kind: SentKind, { json, other }: { json: PatchOf<O, P>; other: () => P }): PatchOf<O, P> {
  if (kind === 'json') return json;
  const patch = other();
  return () => patch;
}

/** Converts a JSON patch to a merge patch of the object. */
export function asMergePatch(text: string, object: object): string {
  return JSON.stringify(mergePatchBetween(plain(object), jsonPatch(object, text)));
}

/** Converts a JSON patch of a pod's conditions to a strategic merge patch with only the changed conditions. */
export function asStatusPatch(text: string, pod: Pod): string {
  const after = jsonPatch(pod, text);
  const { status = {}, ...patch } = mergePatchBetween(plain(pod), after);
  if (!isRecord(status) || status.conditions === undefined) return JSON.stringify({ ...patch, status });
  const [old, now] = [conditionsOf(plain(pod)), conditionsOf(after)];
  const set = now.filter((one) => !old.some((other) => isDeepStrictEqual(one, other)));
  const removed = old.filter(({ type }) => !now.some((one) => one.type === type));
  const conditions = [...set, ...removed.map(({ type }) => ({ type, $patch: 'delete' }))];
  return JSON.stringify({ ...patch, status: { ...status, conditions } });
}

function conditionsOf({ status }: Record<string, unknown>): Record<string, unknown>[] {
  const conditions = isRecord(status) ? status.conditions : undefined;
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
}

/** Returns a pod's resources after applying a JSON patch. Throws `invalid_argument` if the patch changes anything else. */
export function jsonResizePatch(text: string, pod: Pod): ResizePatch {
  const after = jsonPatch(pod, text);
  const patch = parseResizePatch(JSON.stringify(after));
  if (isDeepStrictEqual(plain(resizedPod(pod, patch)), after)) return patch;
  throw new PodwrightError(
    'invalid_argument',
    'read the resize: only CPU and memory can be changed, and no amount can be removed',
  );
}

/** Returns a pod's ephemeral containers after applying a JSON patch. Throws `invalid_argument` if the patch changes anything else. */
export function jsonEphemeralPatch(text: string, pod: Pod): EphemeralPatch {
  const after = jsonPatch(pod, text);
  const patch = parseEphemeralPatch(JSON.stringify(after), 'replace');
  const without = ({ spec, ...rest }: Record<string, unknown>) => ({
    ...rest,
    spec: { ...(spec as object), ephemeralContainers: [] },
  });
  if (isDeepStrictEqual(without(plain(pod)), without(after))) return patch;
  throw new PodwrightError('invalid_argument', 'read the ephemeral containers: no other field can be changed here');
}

/** Copies an object as clients see it, without undefined fields. */
export function plain(object: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
}
