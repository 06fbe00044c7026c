/** The annotation of `kubectl apply` without server-side apply, which lets `kubectl apply --server-side` take over its fields. */
import type { ApiObject } from '@podwright/kube-kinds';
import type { ApplyConflict, JsonObject } from '@podwright/kube-schema';
import type { OwnerUpdater } from './owner-updater.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The field manager of `kubectl apply --server-side`. */
export const KUBECTL = 'kubectl';

/** The limit for all annotations together, in bytes. */
const MAX_ANNOTATIONS_BYTES = 256 << 10;

/** The conflicts that remain: kubectl may overwrite fields that its last client-side apply set and that have not changed since. */
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
    // upstream ignores a configuration that it cannot compare, such as one with list elements without keys
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

/** Updates the annotation, if the object has it, to the configuration that kubectl applied. Removes it if it is too large. */
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
