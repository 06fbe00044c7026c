import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, KeyedLock, PodwrightError, PRIVATE_DIRECTORY, writeFileAtomic } from '@podwright/base';
import type { LocalObject, Pod } from '../api/types.ts';
import { decodeManifest, maxManifestBytes } from '../config/manifest.ts';
import type { ApplyResult } from './local-api.ts';
import type { ObjectName } from './node-backend.ts';

type Applied = ApplyResult['objects'][number];
type Applicable = Pod | LocalObject;

const PREFIX = 'applied-';

/**
 * The objects that clients applied, a file each in the manifest folder: the folder is the one source of what the node
 * runs, so they survive restarts and show beside what people put there. Pods get a UID of their own, a new one when their
 * manifest changes, as a changed pod is another pod.
 */
export class AppliedObjects {
  readonly #directory: string;
  readonly #lock = new KeyedLock();

  constructor(manifestDirectory: string) {
    this.#directory = manifestDirectory;
  }

  /** Removes the files that a killed node had half written. Nobody may apply meanwhile. */
  async removeUnfinished(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    const names = await readdir(this.#directory);
    const unfinished = names.filter((name) => name.startsWith(PREFIX) && name.endsWith('.tmp'));
    await Promise.all(unfinished.map((name) => rm(join(this.#directory, name), { force: true })));
  }

  /** Writes what differs. Throws `invalid_argument` with every error of the manifest, and then changes nothing. */
  apply(manifest: string): Promise<Applied[]> {
    const decoded = decodeManifest(manifest, { file: 'manifest' });
    if (decoded.errors.length > 0) throw new PodwrightError('invalid_argument', decoded.errors.map(String).join('\n'));
    // What pods refer to comes first.
    const objects = [...decoded.configMaps, ...decoded.secrets, ...decoded.runtimeClasses, ...decoded.pods];
    return this.#lock.run('apply', async () => {
      await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      const done: Applied[] = [];
      for (const object of objects) done.push(await this.#write(object));
      return done;
    });
  }

  /** Removes the file of an applied object; false if there is none. */
  async remove(object: ObjectName): Promise<boolean> {
    try {
      await rm(join(this.#directory, fileName(object)));
      return true;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return false;
      throw error;
    }
  }

  async #write(object: Applicable): Promise<Applied> {
    const { kind, metadata } = object;
    const name = { kind, namespace: metadata.namespace, name: metadata.name };
    const path = join(this.#directory, fileName(name));
    const before = await readObject(path);
    if (before !== undefined && sameWishes(before, object)) {
      return { ...name, uid: before.metadata.uid || undefined, action: 'unchanged' };
    }
    const uid = kind === 'Pod' ? metadata.uid || randomUUID() : undefined;
    const complete = uid === undefined ? object : { ...object, metadata: { ...metadata, uid } };
    const text = JSON.stringify(complete, null, 2);
    // aliases of the manifest are written out, and what the kubelet does not read back is lost
    if (Buffer.byteLength(text) > maxManifestBytes)
      throw new PodwrightError(
        'invalid_argument',
        `apply ${kind} ${name.namespace}/${name.name}: it is larger than ${maxManifestBytes >> 20} MiB as JSON`,
      );
    await writeFileAtomic(path, text);
    return { ...name, uid, action: before === undefined ? 'created' : 'replaced' };
  }
}

function fileName({ kind, namespace, name }: ObjectName): string {
  return `${PREFIX}${kind.toLowerCase()}_${namespace}_${name}.json`;
}

async function readObject(path: string): Promise<Applicable | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Applicable;
  } catch (error) {
    // A file that somebody broke is replaced.
    if (isErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A UID that was not asked for does not count. */
function sameWishes(before: Applicable, wanted: Applicable): boolean {
  const comparable = { ...before, metadata: { ...before.metadata, uid: wanted.metadata.uid || '' } };
  if (wanted.metadata.uid && wanted.metadata.uid !== before.metadata.uid) return false;
  return (
    JSON.stringify(comparable) ===
    JSON.stringify({ ...wanted, metadata: { ...wanted.metadata, uid: wanted.metadata.uid || '' } })
  );
}
