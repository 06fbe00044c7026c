import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { errorMessage, isErrno, PodwrightError } from '@podwright/base';
import { MAX_API_MANIFEST_BYTES, type ManifestText, NO_TEXT, textOfManifest } from '@podwright/kube-api';
import { MAX_MANIFEST_SOURCES, MAX_MANIFEST_TEXT_BYTES } from '../limits.ts';
import { fetchManifest, isManifestUrl } from './manifest-url.ts';

/** The texts of manifests, and errors for unreadable ones. */
export type ManifestSources = { texts: ManifestText[]; problems: PodwrightError[] };

/**
 * Reads manifests from files, directories (their *.yaml, *.yml and *.json files in lexical order, including subdirectories if `recursive`
 * is set), http and https URLs, and `-` for standard input.
 */
export async function readSources(
  names: readonly string[],
  { recursive = false }: { recursive?: boolean },
): Promise<ManifestSources> {
  const sources: ManifestSources = { texts: [], problems: [] };
  let sizeBytes = 0;
  for (const name of new Set(names)) {
    try {
      for (const file of isManifestUrl(name) ? [name] : filesOf(name, recursive)) {
        const text = textOf(file, isManifestUrl(file) ? await fetchManifest(file) : readFile(file));
        sources.texts.push(text);
        sizeBytes += text.text.length;
        if (sizeBytes > MAX_MANIFEST_TEXT_BYTES)
          throw refusal(`read ${name}: the manifests are larger than ${MAX_MANIFEST_TEXT_BYTES >> 20} MiB together`);
      }
    } catch (error) {
      if (!(error instanceof PodwrightError)) throw error;
      sources.problems.push(error);
    }
  }
  return sources;
}

/** The file name shown in messages for standard input. */
const STANDARD_INPUT = '<stdin>';

/** Matches names that are more likely to be an image than a file: a bare word, or one with a tag. */
const IMAGE_NAME = /^(?:[a-z0-9]+|[\w.:/-]+:[\w.-]+)$/;
const IMAGE_HINT = "; an image is run by a manifest: 'podwright help manifests' shows one";

const refusal = (message: string, cause?: unknown) => new PodwrightError('invalid_argument', message, { cause });

function textOf(file: string, bytes: Uint8Array): ManifestText {
  const text = textOfManifest(bytes);
  if (text === undefined) throw refusal(`read ${file}: it ${NO_TEXT}`);
  return { file, text };
}

/** Returns a file itself, or the manifest files in a directory. */
function filesOf(name: string, recursive: boolean): string[] {
  if (name === '-') return [STANDARD_INPUT];
  return attempt(name, () => {
    if (!statSync(name).isDirectory()) return [name];
    const files = manifestsIn(name, recursive);
    if (files.length > 0) return files;
    const below = recursive ? '' : '; -R also reads its subdirectories';
    throw refusal(`read ${name}: it has no *.yaml, *.yml or *.json${below}`);
  });
}

function manifestsIn(directory: string, recursive: boolean): string[] {
  const files: string[] = [];
  const pending = [directory];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const entries = readdirSync(next, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    const below: string[] = [];
    for (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) below.push(path);
      else if (/\.(ya?ml|json)$/.test(entry.name) && (entry.isFile() || isFile(path))) files.push(path);
    }
    if (recursive) pending.unshift(...below);
    if (files.length + pending.length > MAX_MANIFEST_SOURCES)
      throw refusal(`read ${directory}: it has more than ${MAX_MANIFEST_SOURCES} manifests or directories`);
  }
  return files;
}

/** Whether a directory entry is a file or a symlink to a file. Symlinks to directories are not followed, because they may form a cycle. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function readFile(file: string): Uint8Array {
  if (file === STANDARD_INPUT) return attempt('standard input', () => readStart(0));
  return attempt(file, () => {
    const descriptor = openSync(file, 'r');
    try {
      if (fstatSync(descriptor).isDirectory()) throw refusal(`read ${file}: it is a directory`);
      return readStart(descriptor);
    } finally {
      closeSync(descriptor);
    }
  });
}

function attempt<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PodwrightError) throw error;
    const { errno } = error as NodeJS.ErrnoException;
    const why = errno === undefined ? errorMessage(error) : getSystemErrorMessage(errno);
    const hint = isErrno(error, 'ENOENT') && IMAGE_NAME.test(name) ? IMAGE_HINT : '';
    throw refusal(`read ${name}: ${why}${hint}`, error);
  }
}

/** Reads up to one byte more than the maximum manifest size, so that the decoder rejects files that are too large. */
function readStart(descriptor: number): Uint8Array {
  const buffer = Buffer.alloc(MAX_API_MANIFEST_BYTES + 1);
  let sizeBytes = 0;
  while (sizeBytes < buffer.length) {
    const bytesRead = readSync(descriptor, buffer, sizeBytes, buffer.length - sizeBytes, null);
    if (bytesRead === 0) break;
    sizeBytes += bytesRead;
  }
  return buffer.subarray(0, sizeBytes);
}
