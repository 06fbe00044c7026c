import { readFileSync } from 'node:fs';
import { errorMessage, PodwrightError } from '@podwright/base';
import { decodeManifest } from '@podwright/kubelet';

/** Names of the objects in manifests, in their order. */
export type ManifestObject = { kind: string; namespace: string; name: string };

/**
 * Reads manifests (`-` is standard input) as one text. They are checked here too, so that errors name the file and
 * line before anything is started. All errors come at once (`invalid_argument`).
 */
export function readManifests(files: string[]): { text: string; objects: ManifestObject[] } {
  const texts: string[] = [];
  const objects: ManifestObject[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const text = readManifest(file);
    const decoded = decodeManifest(text, { file });
    texts.push(text);
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
  return { text: texts.join('\n---\n'), objects };
}

function readManifest(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new PodwrightError('invalid_argument', `read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}
