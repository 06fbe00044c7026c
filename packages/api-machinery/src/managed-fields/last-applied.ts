/**
 * Handles the last-applied annotation of client-side `kubectl apply`. It lets `kubectl apply --server-side` take ownership of the fields in
 * the annotation.
 */
import type { ApiObject } from '@podwright/kube-kinds';
import type { ApplyConflict, JsonObject } from '@podwright/kube-schema';
import type { OwnerUpdater } from './owner-updater.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The field manager of `kubectl apply --server-side`. */
export const KUBECTL = 'kubectl';

const MAX_ANNOTATIONS_BYTES = 256 << 10;

/**
 * Returns the conflicts except those about fields that kubectl may overwrite: fields that its last client-side apply set and that have kept
 * their values since.
 */
export function conflictsAfterLastApplied(
  conflicts: readonly ApplyConflict[],
  { live, apiVersion, updater }: { live: JsonObject; apiVersion: string; updater: OwnerUpdater },
): ApplyConflict[] {
  const lastApplied = parse(annotationsOf(live)[LAST_APPLIED]);
  if (lastApplied?.apiVersion !== apiVersion) return [...conflicts];
  try {
    const own = updater.unchangedFields(lastApplied, live);
    return conflicts.filter(({ field }) => !own.has(field));
  } catch {
    // as in upstream, a last-applied configuration that cannot be compared is ignored, for example if list elements lack their keys
    return [...conflicts];
  }
}

function parse(text: unknown): JsonObject | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Replaces the content of the object's last-applied annotation, if present, with the configuration that kubectl applied. Removes the
 * annotation if it would be too large.
 */
export function withLastApplied(object: ApiObject, configuration: JsonObject): ApiObject {
  const annotations = annotationsOf(object);
  if (!annotations[LAST_APPLIED]) return object;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  const text = `${JSON.stringify(withoutLastApplied(configuration))}\n`;
  const changed = { ...annotations, [LAST_APPLIED]: text };
  const isTooLarge = bytesOf(changed) > MAX_ANNOTATIONS_BYTES;
  const metadata = { ...object.metadata, annotations: (isTooLarge ? others : changed) as Record<string, string> };
  return { ...object, metadata };
}

function withoutLastApplied(configuration: JsonObject): JsonObject {
  const annotations = annotationsOf(configuration);
  if (annotations[LAST_APPLIED] === undefined) return configuration;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return { ...configuration, metadata: { ...objectOf(configuration.metadata), annotations: others } };
}

const annotationsOf = (object: JsonObject): JsonObject => objectOf(objectOf(object.metadata).annotations);

const bytesOf = (annotations: JsonObject): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(`${key}${value}`), 0);

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
