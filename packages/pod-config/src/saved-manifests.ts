import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isRecord, type Logger, PRIVATE_DIRECTORY } from '@podwright/base';
import { namesIn, readJsonFile, writeFileAtomic } from '@podwright/host';
import { MAX_MANIFEST_BYTES, type PlacedObject } from '@podwright/kube-api';

/** Maximum size of a saved file. Default values and JSON quoting make objects larger than their manifest. */
const MAX_SAVED_BYTES = 4 * MAX_MANIFEST_BYTES;

const SUFFIX = '.json';

/**
 * Saves the objects of each manifest's last valid content, one file per manifest, in the kubelet's root directory. After a restart, they
 * stay in effect while the manifest has errors. The files are not synced to disk: after a power failure, no pods are running that could be
 * left without their manifest.
 */
export class SavedManifests {
  readonly #directory: string;
  readonly #logger: Logger;
  /** Hashes of the saved texts, by manifest path. */
  readonly #saved = new Map<string, string>();

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** Returns the objects that the previous kubelet saved, by manifest path. Unreadable files are logged and removed. */
  async read(): Promise<Map<string, PlacedObject[]>> {
    const manifests = new Map<string, PlacedObject[]>();
    const names = await namesIn(this.#directory).catch((error: unknown) => {
      this.#logger.warn({ path: this.#directory, error: errorMessage(error) }, 'saved manifests could not be read');
      return [];
    });
    for (const name of names) {
      const manifest = await this.#readFile(name);
      if (manifest === undefined) await rm(join(this.#directory, name), { recursive: true, force: true });
      else manifests.set(manifest.file, manifest.objects);
    }
    return manifests;
  }

  /** Saves valid content. A failure is logged, and leaves nothing saved for this file. */
  async save(file: string, objects: PlacedObject[]): Promise<void> {
    const text = JSON.stringify({ file, objects });
    const hash = hashOf(text);
    if (this.#saved.get(file) === hash) return;
    try {
      if (Buffer.byteLength(text) > MAX_SAVED_BYTES) throw new Error(`it has more than ${MAX_SAVED_BYTES} bytes`);
      await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFileAtomic(this.#pathOf(file), text);
      this.#saved.set(file, hash);
    } catch (error) {
      this.#logger.warn({ path: file, error: errorMessage(error) }, 'the content of a manifest could not be saved');
      await this.remove(file); // older content must not return at a restart
    }
  }

  async remove(file: string): Promise<void> {
    this.#saved.delete(file);
    await rm(this.#pathOf(file), { force: true }).catch((error: unknown) =>
      this.#logger.warn({ path: file, error: errorMessage(error) }, 'the saved content of a manifest was not removed'),
    );
  }

  /** Removes everything that the previous kubelet saved. */
  async clear(): Promise<void> {
    for (const [file] of await this.read()) await this.remove(file);
  }

  #pathOf(file: string): string {
    return join(this.#directory, hashOf(file) + SUFFIX);
  }

  async #readFile(name: string): Promise<{ file: string; objects: PlacedObject[] } | undefined> {
    if (!name.endsWith(SUFFIX)) return undefined; // a temporary file
    const path = join(this.#directory, name);
    try {
      const manifest = decode(await readJsonFile(path, MAX_SAVED_BYTES));
      if (this.#pathOf(manifest.file) !== path) throw new Error('it is the content of another file');
      this.#saved.set(manifest.file, hashOf(JSON.stringify(manifest)));
      return manifest;
    } catch (error) {
      this.#logger.warn({ path, error: errorMessage(error) }, 'the saved content of a manifest is ignored');
      return undefined;
    }
  }
}

/** Decodes a saved manifest. Checks only the fields that all readers need, because the objects were valid when they were saved. */
function decode(value: unknown): { file: string; objects: PlacedObject[] } {
  const { file, objects } = isRecord(value) ? value : {};
  const valid = typeof file === 'string' && Array.isArray(objects) && objects.every(isPlaced);
  if (!valid) throw new Error('it is not the content of a manifest');
  return { file, objects: objects as PlacedObject[] };
}

function isPlaced(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.object) || !isRecord(value.object.metadata)) return false;
  const { kind, metadata, spec } = value.object;
  const isPod = isRecord(spec) && Array.isArray(spec.containers) && spec.containers.every(isRecord);
  return typeof value.file === 'string' && typeof metadata.name === 'string' && (kind !== 'Pod' || isPod);
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
