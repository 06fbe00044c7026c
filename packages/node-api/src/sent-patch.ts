/** Patches as clients send them. */
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

/** Kubernetes' ways to say what changes; with `whole` an object says it all. */
export type SentKind = 'merge' | 'strategic' | 'json' | 'whole';

const TYPES: Record<string, SentKind> = {
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/json-patch+json': 'json',
};

/** By the request's content type, of which `others` are known besides. Throws `invalid_argument`. */
export function sentKind(contentType: string | undefined, others: Record<string, SentKind> = {}): SentKind {
  const known = { ...TYPES, ...others };
  const type = (contentType ?? '').split(';')[0]!.trim();
  if (Object.hasOwn(known, type)) return known[type]!;
  const names = Object.keys(known);
  const message = `read the patch: its type "${type.slice(0, 60)}" is none of ${names.join(', ')}${didYouMean(type, names)}`;
  throw new PodwrightError('invalid_argument', message);
}

/** Reads a patch of labels and annotations. Throws `invalid_argument`; a JSON patch is applied later and throws then. */
export function metadataChange(kind: SentKind, text: string): PatchOf<object, MetadataPatch> {
  // of labels and annotations both kinds of merge patches mean the same, as neither has lists
  return changeBy(kind, {
    json: (current) => parseMetadataPatch(asMergePatch(text, current)),
    other: () => parseMetadataPatch(text),
  });
}

/** Reads a patch of ephemeral containers, as `metadataChange` reads one of labels. */
export function ephemeralChange(kind: SentKind, text: string): PatchOf<Pod, EphemeralPatch> {
  const listed = kind === 'strategic' ? 'merge-by-name' : 'replace';
  return changeBy(kind, {
    json: (current) => jsonEphemeralPatch(text, current),
    other: () => parseEphemeralPatch(text, listed),
  });
}

/** Reads a patch of the resources of a pod, as `metadataChange` reads one of labels. */
export function resizeChange(kind: SentKind, text: string): PatchOf<Pod, ResizePatch> {
  return changeBy(kind, { json: (current) => jsonResizePatch(text, current), other: () => parseResizePatch(text) });
}

/** The result of a JSON patch depends on the object; every other patch is read at once. */
function changeBy<O, P>(kind: SentKind, { json, other }: { json: PatchOf<O, P>; other: () => P }): PatchOf<O, P> {
  if (kind === 'json') return json;
  const patch = other();
  return () => patch;
}

/** A JSON patch of an object as a merge patch. */
export function asMergePatch(text: string, object: object): string {
  return JSON.stringify(mergePatchBetween(plain(object), jsonPatch(object, text)));
}

/** A JSON patch of a pod's conditions as a strategic merge patch, which leaves those alone that it does not name. */
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

/** What a pod asks for after a JSON patch, which may change amounts alone. Throws `invalid_argument`. */
export function jsonResizePatch(text: string, pod: Pod): ResizePatch {
  const after = jsonPatch(pod, text);
  const patch = parseResizePatch(JSON.stringify(after));
  if (isDeepStrictEqual(plain(resizedPod(pod, patch)), after)) return patch;
  throw new PodwrightError(
    'invalid_argument',
    'read the resize: only amounts of CPU and memory change, and none is removed',
  );
}

/** The containers for debugging that a pod has after a JSON patch, which may change them alone. Throws `invalid_argument`. */
export function jsonEphemeralPatch(text: string, pod: Pod): EphemeralPatch {
  const after = jsonPatch(pod, text);
  const patch = parseEphemeralPatch(JSON.stringify(after), 'replace');
  const without = ({ spec, ...rest }: Record<string, unknown>) => ({
    ...rest,
    spec: { ...(spec as object), ephemeralContainers: [] },
  });
  if (isDeepStrictEqual(without(plain(pod)), without(after))) return patch;
  throw new PodwrightError('invalid_argument', 'read the ephemeral containers: nothing else can be changed here');
}

/** As clients see it. */
export function plain(object: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
}
