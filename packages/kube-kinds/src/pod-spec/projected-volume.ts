/** Validates projected volumes (validateProjectedVolumeSource). */
import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt } from '../values.ts';
import { validateDownwardItems } from './downward-items.ts';
import type { PodOptions } from './options.ts';
import { hasBacksteps, validateFilePath, validateKeyToPath, validateMode } from './volume-paths.ts';

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const CONFLICT = 'conflicting duplicate paths';
const SOURCES = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle', 'podCertificate'];

export function validateProjectedVolume(volume: JsonObject, field: Field, options: PodOptions): void {
  validateMode(numberAt(volume, 'defaultMode'), field.at('defaultMode'));
  const paths = new Set<string>();
  for (const [index, source] of objectsAt(volume, 'sources').entries()) {
    const at = field.at('sources', index);
    for (const name of ['secret', 'configMap'])
      validateFiles(objectAt(source, name), at.at(name), { volume: field, paths });
    const downward = objectsAt(source, 'downwardAPI', 'items');
    for (const item of downward) {
      validateDownwardItems([item], at.at('downwardAPI'));
      const path = textAt(item, 'path');
      addPath(path, path, { volume: field, paths });
    }
    validateToken(objectAt(source, 'serviceAccountToken'), at.at('serviceAccountToken'), { volume: field, options });
    const present = SOURCES.filter((name) => objectAt(source, name) !== undefined);
    if (present.length > 1) at.forbidden('may not specify more than 1 volume type per source');
  }
}

type PathContext = { volume: Field; paths: Set<string> };

function validateFiles(source: JsonObject | undefined, field: Field, context: PathContext): void {
  if (source === undefined) return;
  if (textAt(source, 'name') === '') field.at('name').required();
  for (const [index, item] of objectsAt(source, 'items').entries()) {
    validateKeyToPath(item, field.at('items', index));
    addPath(textAt(item, 'path'), textAt(source, 'name'), context);
  }
}

function addPath(path: string, shown: string, { volume, paths }: PathContext): void {
  if (path === '') return;
  if (paths.has(path)) volume.invalid(shown, CONFLICT);
  paths.add(path);
}

/** Validates a projected service account token. As in upstream, path problems are reported for the volume's field. */
function validateToken(
  token: JsonObject | undefined,
  field: Field,
  { volume, options }: { volume: Field; options: PodOptions },
): void {
  if (token === undefined) return;
  const seconds = numberAt(token, 'expirationSeconds') ?? 0;
  const at = field.at('expirationSeconds');
  if (seconds < MIN_TOKEN_SECONDS) at.invalid(seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > MAX_TOKEN_SECONDS) at.invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  const path = textAt(token, 'path');
  if (path === '') volume.at('path').required();
  else if (!options.allowNonLocalTokenPath) validateFilePath(path, volume.at('path'));
}

/** Returns true if a volume has a service account token at a path not allowed in new pods. */
export function hasNonLocalTokenPath(volumes: readonly JsonObject[]): boolean {
  const sources = volumes.flatMap((volume) => objectsAt(volume, 'projected', 'sources'));
  return sources.some((source) => {
    const path = textAt(source, 'serviceAccountToken', 'path');
    return path.startsWith('/') || path.startsWith('..') || hasBacksteps(path);
  });
}

/** Forbids service account tokens in pods without a service account. `field` refers to the volume list. */
export function forbidTokens(spec: JsonObject, field: Field): void {
  if (textAt(spec, 'serviceAccountName') !== '') return;
  for (const [index, volume] of objectsAt(spec, 'volumes').entries())
    for (const [sourceIndex, source] of objectsAt(volume, 'projected', 'sources').entries())
      if (objectAt(source, 'serviceAccountToken') !== undefined)
        field
          .at(index, 'projected', 'sources', sourceIndex, 'serviceAccountToken')
          .forbidden('must not be specified when serviceAccountName is not set');
}
