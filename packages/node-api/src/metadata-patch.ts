import { isRecord, PodwrightError } from '@podwright/base';
import type { ObjectMeta } from '@podwright/kube-api';

/** A merge patch (RFC 7386) of an object's labels and annotations; null removes an entry. */
export type MetadataPatch = {
  labels?: Record<string, string | null>;
  annotations?: Record<string, string | null>;
};

/** Annotation that records clients' patches of an applied object, so that reapplying its manifest does not undo them. */
const PATCH_ANNOTATION = 'podwright.dev/metadata-patch';
/** Matches annotations set by the node itself: a pod's source and the recorded patch. */
const RESERVED = /^(podwright\.dev\/|kubernetes\.io\/config\.)/;
const MAPS = ['labels', 'annotations'] as const;

/** Parses `{"metadata":{"labels":{…},"annotations":{…}}}`. Throws `invalid_argument` for any other field. */
export function parseMetadataPatch(text: string): MetadataPatch {
  const { metadata = {}, ...others } = mapOf(parse(text), 'the patch');
  const unknown = Object.keys(others).find((key) => key !== 'apiVersion' && key !== 'kind');
  if (unknown !== undefined) refuse(unknown, 'cannot be patched, only metadata.labels and metadata.annotations');
  const patch: MetadataPatch = {};
  for (const [field, value] of Object.entries(mapOf(metadata, 'metadata'))) {
    const map = MAPS.find((name) => name === field);
    if (map === undefined) refuse(`metadata.${field}`, 'cannot be patched, only labels and annotations');
    patch[map!] = readMap(value, `metadata.${field}`);
  }
  return patch;
}

function readMap(value: unknown, path: string): Record<string, string | null> {
  const map = mapOf(value, path);
  for (const [key, text] of Object.entries(map)) {
    if (text !== null && typeof text !== 'string') refuse(`${path}[${key}]`, 'must be a string, or null to remove it');
    if (path === 'metadata.annotations' && RESERVED.test(key)) refuse(`${path}[${key}]`, 'is set by the node');
  }
  return map as Record<string, string | null>;
}

/** Patches the metadata and records the patch in an annotation, merged with earlier ones. */
export function patchMetadata(metadata: ObjectMeta, patch: MetadataPatch): ObjectMeta {
  const recorded = recordedPatch(metadata);
  const all = {
    labels: { ...recorded.labels, ...patch.labels },
    annotations: { ...recorded.annotations, ...patch.annotations },
  };
  const patched = merge(metadata, patch);
  const annotations = { ...patched.annotations, [PATCH_ANNOTATION]: JSON.stringify(all) };
  return { ...patched, annotations };
}

/** Applies the patches recorded in the existing object to its new manifest's metadata. */
export function keepPatch(manifest: ObjectMeta, existing: ObjectMeta | undefined): ObjectMeta {
  const { [PATCH_ANNOTATION]: _, ...annotations } = manifest.annotations ?? {};
  const own = manifest.annotations === undefined ? manifest : { ...manifest, annotations };
  return existing?.annotations?.[PATCH_ANNOTATION] === undefined ? own : patchMetadata(own, recordedPatch(existing));
}

/** Returns the metadata without the recorded patches, and the labels and annotations that do not come from patches. */
export function separatePatch(metadata: ObjectMeta): { metadata: ObjectMeta; applied: MetadataPatch } {
  const patch = recordedPatch(metadata);
  const { [PATCH_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  const clean = metadata.annotations === undefined ? metadata : { ...metadata, annotations };
  const applied: MetadataPatch = {};
  for (const map of MAPS) {
    const entries = Object.entries(clean[map] ?? {}).filter(([key]) => !Object.hasOwn(patch[map] ?? {}, key));
    if (entries.length > 0) applied[map] = Object.fromEntries(entries); // an owner of an empty map would remove all of it
  }
  return { metadata: clean, applied };
}

/** Whether the metadata reflects the labels and annotations of a patch. */
export function showsPatch(metadata: ObjectMeta, patch: MetadataPatch): boolean {
  return MAPS.every((map) =>
    Object.entries(patch[map] ?? {}).every(([key, value]) => (ownValue(metadata[map], key) ?? null) === value),
  );
}

/** Reads an own property of the map: a key such as `constructor` would otherwise find an inherited property. */
function ownValue(map: Record<string, string> | undefined, key: string): string | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

function merge(metadata: ObjectMeta, patch: MetadataPatch): ObjectMeta {
  const merged = { ...metadata };
  for (const map of MAPS) {
    if (Object.keys(patch[map] ?? {}).length === 0) continue; // adding an empty map would count as a change
    const entries = Object.entries({ ...metadata[map], ...patch[map] });
    merged[map] = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
  }
  return merged;
}

/** Returns the patches recorded so far, ignoring an invalid record (edited by hand). */
function recordedPatch(metadata: ObjectMeta): MetadataPatch {
  try {
    return parseMetadataPatch(`{"metadata":${metadata.annotations?.[PATCH_ANNOTATION] ?? '{}'}}`);
  } catch {
    return {};
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new PodwrightError('invalid_argument', 'read the patch: it is not JSON', { cause: error });
  }
}

function mapOf(value: unknown, path: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  return refuse(path, 'must be a map');
}

function refuse(path: string, why: string): never {
  throw new PodwrightError('invalid_argument', `read the patch: ${path.slice(0, 200)}: ${why}`);
}
