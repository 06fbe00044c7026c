import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  isNothingThere,
  KeyedLock,
  PodwrightError,
  PRIVATE_DIRECTORY,
  removeFileDurable,
  writeFileDurable,
} from '@podwright/base';
import {
  CONFIG_CONTENT_ANNOTATION,
  CONFIG_HASH_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  decodeManifest,
  type ExistingPod,
  formatTime,
  immutableProblems,
  type LocalObject,
  MAX_MANIFEST_BYTES,
  type ManifestObject,
  type ObjectMeta,
  type Pod,
  unresizable,
} from '@podwright/kube-api';
import { identifyPod, isOneManifest } from '@podwright/kubelet';
import type { ApplyOptions, ApplyResult } from './local-api.ts';
import { keepPatch, type MetadataPatch, patchMetadata } from './metadata-patch.ts';
import type { ObjectName } from './node-backend.ts';
import { type ResizePatch, resizedPod } from './pod-patch.ts';

type Applied = ApplyResult['objects'][number];
export type Applicable = Pod | LocalObject;

/** What an apply did, or where it `isHeld` would do, with the objects of a manifest, and what it left out of it. */
export type AppliedManifest = { done: Applied[]; isHeld: boolean; objects: ManifestObject[]; warnings: string[] };

/** One write of an object's file, compared by identity. */
export type Written = { uid: string | undefined };

/** What a patch has changed in an object's file. */
type Patched<P> = { patch: P; written: Written };

/** What an apply must leave alone. */
export interface ExistingPods {
  /** The pod that has this UID: one of a manifest, or one that is still in the runtime. */
  podOfUid(uid: string): ExistingPod | undefined;
  /** The pod of this name that a manifest asks for. */
  wantedPod(namespace: string, name: string): ExistingPod | undefined;
}

const PREFIX = 'applied-';
/** Less than the 255 bytes of file systems by what is appended: `.json`, and what `writeFileAtomic` adds. */
const MAX_FILE_NAME = 233;

/**
 * The objects that clients applied, a file each in the manifest directory, which is the one source of what the node
 * runs, so they survive restarts and show beside manifests that users put there. Pods get a UID of their own, a new one when their
 * manifest changes, as a changed pod is another pod.
 */
export class AppliedObjects {
  readonly #directory: string;
  readonly #existing: ExistingPods;
  readonly #lock = new KeyedLock();
  /** The last write of each file, by the file's name: the kubelet may not have read it yet. */
  readonly #written = new Map<string, Written>();

  constructor(manifestDirectory: string, existing: ExistingPods) {
    this.#directory = manifestDirectory;
    this.#existing = existing;
  }

  /** Removes the files that a killed node had half written. Must not run during an apply. */
  async removeUnfinished(): Promise<void> {
    if (isOneManifest(this.#directory)) return;
    await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    const names = await readdir(this.#directory);
    const unfinished = names.filter((name) => name.startsWith(PREFIX) && name.endsWith('.tmp'));
    await Promise.all(unfinished.map((name) => rm(join(this.#directory, name), { force: true })));
  }

  /**
   * Writes what differs. Throws `invalid_argument` with every error of the manifest, `already_exists` if a UID in it is another
   * pod's, `failed_precondition` if a pod of that name comes from another file, an object must not change, or there is one file
   * and no directory; and then, and with
   * `dryRun`, changes nothing. So it does without `replace` when an object stands with other content.
   */
  apply(manifest: string, { dryRun = false, replace = true }: ApplyOptions = {}): Promise<AppliedManifest> {
    const decoded = decodeManifest(manifest, { file: 'manifest' });
    if (decoded.errors.length > 0) throw new PodwrightError('invalid_argument', decoded.errors.map(String).join('\n'));
    // What pods refer to comes first.
    const objects = [
      ...decoded.configMaps,
      ...decoded.secrets,
      ...decoded.runtimeClasses,
      ...decoded.claims,
      ...decoded.pods,
    ];
    return this.#lock.run('apply', async () => {
      if (isOneManifest(this.#directory)) {
        const what = `apply: the node's manifests are one file, ${this.#directory}`;
        throw new PodwrightError(
          'failed_precondition',
          `${what}; change it there, or have staticPodPath be a directory`,
        );
      }
      await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      await this.#refuseTaken(decoded.pods);
      const changes = await Promise.all(objects.map((object) => this.#change(object)));
      refuseImmutable(changes);
      const isHeld = dryRun || (!replace && changes.some(isReplacement));
      const done: Applied[] = [];
      for (const change of changes) done.push(await this.#make(change, isHeld));
      return { done, isHeld, objects, warnings: [...decoded.leftOut, ...decoded.warnings].map(String) };
    });
  }

  /** Removes the file of an applied object; false if there is none. Removes nothing if `mayRemove` throws. */
  remove(object: ObjectName, mayRemove: () => void = () => undefined): Promise<boolean> {
    return this.#lock.run('apply', async () => {
      mayRemove();
      this.#written.delete(fileName(object));
      try {
        await removeFileDurable(this.pathOf(object));
        return true;
      } catch (error) {
        if (isNothingThere(error)) return false;
        throw error;
      }
    });
  }

  /**
   * Changes labels and annotations of an applied object as `change` says, which gets the object of the file while no other call can
   * write it; nothing if there is none. `invalid_argument` for what is no label.
   */
  patch(name: ObjectName, change: (before: Applicable) => MetadataPatch): Promise<Patched<MetadataPatch> | undefined> {
    return this.#lock.run('apply', async () => {
      const before = await readObject(this.pathOf(name));
      if (before === undefined) return undefined;
      const patch = change(before);
      const after = { ...before, metadata: patchMetadata(before.metadata, patch) };
      return { patch, written: await this.#write(name, after, `patch ${name.kind.toLowerCase()} ${name.name}`) };
    });
  }

  /** Gives an applied pod other amounts of CPU and memory, as `patch` changes labels. `invalid_argument` for any other change. */
  resize(name: ObjectName, change: (before: Pod) => ResizePatch): Promise<Patched<ResizePatch> | undefined> {
    return this.#lock.run('apply', async () => {
      const before = await readObject(this.pathOf(name));
      if (before?.kind !== 'Pod') return undefined;
      const patch = change(before);
      const after = resizedPod(before, patch);
      const what = `resize pod ${name.namespace}/${name.name}`;
      const there = new Set([...(before.spec.initContainers ?? []), ...before.spec.containers].map((one) => one.name));
      for (const container of patch.containers.keys())
        if (!there.has(container))
          throw new PodwrightError('invalid_argument', `${what}: it has no container ${container}`);
      if (!isResize(before, after)) {
        const why = 'only amounts of cpu and memory can be changed, and not so that the QoS class changes';
        throw new PodwrightError('invalid_argument', `${what}: ${why}`);
      }
      return { patch, written: await this.#write(name, after, what) };
    });
  }

  /** Whether nothing has written or removed the object's file since. */
  isLast(object: ObjectName, written: Written): boolean {
    return this.#written.get(fileName(object)) === written;
  }

  /** Whether the object's file has the pod with this UID, as far as clients have changed it. */
  hasPod(object: ObjectName, uid: string): boolean {
    return this.#written.get(fileName(object))?.uid === uid;
  }

  /** The file of an object that is or was applied. */
  pathOf(object: ObjectName): string {
    return join(this.#directory, fileName(object));
  }

  async #refuseTaken(pods: Pod[]): Promise<void> {
    const asked = new Map<string, ExistingPod>();
    for (const { metadata } of pods) {
      const { namespace, name, uid } = metadata;
      const file = join(this.#directory, fileName({ kind: 'Pod', namespace, name }));
      const wanted = this.#existing.wantedPod(namespace, name);
      if (wanted !== undefined && wanted.file !== file) {
        const message = `apply pod ${namespace}/${name}: it comes from ${wanted.file}; change it there`;
        throw new PodwrightError('failed_precondition', message);
      }
      if (!uid) continue;
      const holder = asked.get(uid) ?? this.#existing.podOfUid(uid) ?? (await this.#unreadPod(uid));
      if (holder !== undefined && (holder.namespace !== namespace || holder.name !== name)) {
        const whose = `pod ${holder.namespace}/${holder.name}`;
        const message = `apply pod ${namespace}/${name}: metadata.uid: ${uid} is already that of ${whose}; leave it out`;
        throw new PodwrightError('already_exists', message);
      }
      asked.set(uid, { uid, namespace, name, file });
    }
  }

  /** The applied pod with this UID, of which the kubelet may not know yet. */
  async #unreadPod(uid: string): Promise<ExistingPod | undefined> {
    const name = [...this.#written].find(([, written]) => written.uid === uid)?.[0];
    if (name === undefined) return undefined;
    const file = join(this.#directory, name);
    // the file may have been removed by hand
    const metadata = (await readObject(file))?.metadata;
    return metadata?.uid === uid ? { uid, namespace: metadata.namespace, name: metadata.name, file } : undefined;
  }

  async #change(given: Applicable): Promise<Change> {
    const name = { kind: given.kind, namespace: given.metadata.namespace, name: given.metadata.name };
    const path = join(this.#directory, fileName(name));
    const before = await readObject(path);
    if (before !== undefined && isAsShown(given, before, path)) return { object: before, name, before };
    return { object: { ...given, metadata: keepPatch(given.metadata, before?.metadata) }, name, before };
  }

  async #make({ object, name, before }: Change, dryRun: boolean): Promise<Applied> {
    if (before !== undefined && sameSpec(before, object)) {
      const uid = before.metadata.uid || undefined;
      if (!this.hasPod(name, uid ?? '')) this.#written.set(fileName(name), { uid });
      return { ...name, uid, action: 'unchanged' };
    }
    const resized = before !== undefined && isResize(before, object);
    const action = before === undefined ? 'created' : resized ? 'resized' : 'replaced';
    const kept = resized ? before.metadata.uid : '';
    const uid = object.kind === 'Pod' ? object.metadata.uid || kept || randomUUID() : undefined;
    // a pod that is changed by more than a resize is another pod, every other object goes on
    const goesOn = (object.kind !== 'Pod' || resized) && before?.metadata.creationTimestamp;
    const creationTimestamp = goesOn || formatTime(Date.now());
    const own: Partial<ObjectMeta> = { ...(uid !== undefined && { uid }), creationTimestamp };
    const complete = { ...object, metadata: { ...object.metadata, ...own } };
    const what = `apply ${object.kind} ${name.namespace}/${name.name}`;
    if (dryRun) {
      checkReadable(JSON.stringify(complete), what);
      return { ...name, action };
    }
    await this.#write(name, complete, what);
    return { ...name, uid, action };
  }

  async #write(name: ObjectName, object: Applicable, what: string): Promise<Written> {
    const text = JSON.stringify(object);
    checkReadable(text, what);
    const written = { uid: object.metadata.uid || undefined };
    await writeFileDurable(this.pathOf(name), text);
    this.#written.set(fileName(name), written);
    return written;
  }
}

/** An object that is asked for, and the one that was applied before. */
type Change = { object: Applicable; name: ObjectName; before: Applicable | undefined };

const isReplacement = ({ before, object }: Change) => before !== undefined && !sameSpec(before, object);

function refuseImmutable(changes: Change[]): void {
  const problems = changes.flatMap(({ object, name, before }) =>
    immutableProblems(before, object).map(
      (problem) => `apply ${name.kind} ${name.namespace}/${name.name}: ${problem}; delete it first`,
    ),
  );
  if (problems.length > 0) throw new PodwrightError('failed_precondition', problems.join('\n'));
}

/** Aliases of a manifest are written out, and what the kubelet would not read back would be lost. */
function checkReadable(text: string, what: string): void {
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES)
    throw new PodwrightError('invalid_argument', `${what}: it is larger than ${MAX_MANIFEST_BYTES >> 20} MiB as JSON`);
  const [problem] = decodeManifest(text, { file: what }).errors;
  if (problem !== undefined) throw new PodwrightError('invalid_argument', `${what}: ${problem.message}`);
}

/** Names of objects may have 253 characters: those that are too long for a file's name are cut, and told apart by a digest. */
function fileName({ kind, namespace, name }: ObjectName): string {
  const whole = `${PREFIX}${kind.toLowerCase()}_${namespace}_${name}`;
  if (whole.length <= MAX_FILE_NAME) return `${whole}.json`;
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 32);
  return `${whole.slice(0, MAX_FILE_NAME - 1 - digest.length)}-${digest}.json`;
}

async function readObject(path: string): Promise<Applicable | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Applicable;
  } catch (error) {
    // A file that is no JSON is replaced.
    if (isNothingThere(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether a pod only asks for other amounts of CPU and memory, which it can get while it runs. */
function isResize(before: Applicable, wanted: Applicable): boolean {
  if (before.kind !== 'Pod' || wanted.kind !== 'Pod') return false;
  return sameSpec(unresizable(before) as Applicable, unresizable(wanted) as Applicable);
}

/** Whether a pod is what the node shows of one, which is that pod with what the node adds: `get -o yaml` given back to apply. */
function isAsShown(given: Applicable, before: Applicable, file: string): boolean {
  if (given.kind !== 'Pod' || before.kind !== 'Pod' || given.spec.nodeName === undefined) return false;
  const identity = { source: 'file', nodeName: given.spec.nodeName, seenAtMs: 0 } as const;
  const shown = identifyPod({ file, line: 1, column: 1, object: before }, identity);
  const comparable = ({ status: _, ...pod }: Pod): Pod => {
    const varying = [CONFIG_CONTENT_ANNOTATION, CONFIG_HASH_ANNOTATION, CONFIG_SEEN_ANNOTATION];
    const annotations = { ...pod.metadata.annotations, ...Object.fromEntries(varying.map((name) => [name, ''])) };
    return { ...pod, metadata: { ...pod.metadata, annotations, resourceVersion: undefined } };
  };
  return sameSpec(comparable(shown), comparable(given));
}

/** A UID that was not asked for does not count, nor do a time of creation and a version, which the node shows of its own. */
function sameSpec(before: Applicable, wanted: Applicable): boolean {
  if (wanted.metadata.uid && wanted.metadata.uid !== before.metadata.uid) return false;
  const own = { uid: '', creationTimestamp: '', resourceVersion: '' };
  const comparable = ({ metadata, ...rest }: Applicable): unknown =>
    JSON.parse(JSON.stringify({ ...rest, metadata: { ...metadata, ...own } }));
  return isDeepStrictEqual(comparable(before), comparable(wanted));
}
