import { closeSync, openSync, readSync } from 'node:fs';
import { errorMessage, PodwrightError } from '@podwright/base';
import { decodeManifest, MAX_MANIFEST_BYTES, type Pod } from '@podwright/kubelet';

/** Names of the objects in manifests, in their order. */
export type ManifestObject = { kind: string; namespace: string; name: string };

/**
 * Reads manifests (`-` is standard input) as one text. They are checked here too, so that errors name the file and
 * line before anything is started. All errors come at once (`invalid_argument`).
 */
export function readManifests(files: string[]): { text: string; objects: ManifestObject[]; pods: Pod[] } {
  const texts: string[] = [];
  const objects: ManifestObject[] = [];
  const pods: Pod[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const text = readManifest(file);
    const decoded = decodeManifest(text, { file });
    texts.push(text);
    pods.push(...decoded.pods);
    problems.push(...decoded.errors.map(String));
    for (const { kind, metadata } of [
      ...decoded.pods,
      ...decoded.configMaps,
      ...decoded.secrets,
      ...decoded.runtimeClasses,
    ]) {
      objects.push({ kind, namespace: metadata.namespace, name: metadata.name });
    }
  }
  if (problems.length > 0) throw new PodwrightError('invalid_argument', problems.join('\n'));
  return { text: texts.join('\n---\n'), objects, pods };
}

function readManifest(file: string): string {
  try {
    if (file === '-') return readStart(0);
    const descriptor = openSync(file, 'r');
    try {
      return readStart(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new PodwrightError('invalid_argument', `read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

/** As much as a manifest may have, and one byte more, for which the decoder refuses it. */
function readStart(descriptor: number): string {
  const buffer = Buffer.alloc(MAX_MANIFEST_BYTES + 1);
  let sizeBytes = 0;
  while (sizeBytes < buffer.length) {
    const bytesRead = readSync(descriptor, buffer, sizeBytes, buffer.length - sizeBytes, null);
    if (bytesRead === 0) break;
    sizeBytes += bytesRead;
  }
  return buffer.toString('utf8', 0, sizeBytes);
}
