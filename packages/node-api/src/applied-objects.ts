import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorCode, isNothingThere, KeyedLock, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { readJsonFile, removeFileDurable, writeFileDurable } from '@podwright/host';
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
import { identifyPod, isOneManifest } from '@podwright/pod-config';
import type { ApplyOptions, ApplyResult } from './local-api.ts';
import { keepPatch, type MetadataPatch, patchMetadata } from './metadata-patch.ts';
import type { ObjectName } from './node-backend.ts';
import { type ResizePatch, resizedPod } from './pod-patch.ts';

/**
 * Maximum size of an applied object's file: the object of the longest possible manifest, plus an annotation with the manifest's text, both
 * escaped.
 */
const MAX_OBJECT_BYTES = 16 * MAX_MANIFEST_BYTES;

type Applied = ApplyResult['objects'][number];
export type Applicable = Pod | LocalObject;

/**
 * What an apply did to each object of a manifest, and warnings about ignored parts of the manifest. `planOnly`: nothing was written, either
 * because it was a dry run or because an object would have been replaced without permission. `unknown`: errors for objects left out because
 * their kinds are unknown.
 */
export type AppliedManifest = {
  done: Applied[];
  planOnly: boolean;
  objects: ManifestObject[];
  warnings: string[];
  unknown?: string[];
};

/** One write of an object's file. Writes are compared by identity. */
export type Written = { uid: string | undefined };

type Patched<P> = { patch: P; written: Written };

/** Looks up pods that an apply must not conflict with. */
export interface ExistingPods {
  /** Returns the pod with this UID, whether from a manifest or still present in the container runtime. */
  podOfUid(uid: string): ExistingPod | undefined;
  /** Returns the pod with this name from the manifests. */
  wantedPod(namespace: string, name: string): ExistingPod | undefined;
}

const PREFIX = 'applied-';
/** Maximum length of a file name without `.json` and the suffix added by `writeFileAtomic`; file systems allow 255 bytes. */
const MAX_FILE_NAME = 233;

/**
 * Objects applied by clients, stored one per file in the manifest directory, next to the users' own manifests. The directory is the only
 * source of the node's pods, so applied objects survive restarts. Each pod is assigned a UID, and a new one whenever its manifest changes:
 * a changed pod is a new pod.
 */
export class AppliedObjects {
  readonly #directory: string;
  readonly #existing: ExistingPods;
  readonly #lock = new KeyedLock();
  /** The last write to each file, by file name. The kubelet may not have read the file yet. */
  readonly #written = new Map<string, Written>();

  constructor(manifestDirectory: string, existing: ExistingPods) {
    this.#directory = manifestDirectory;
    this.#existing = existing;
  }

  /** Removes temporary files left behind by a killed process. Must not run during an apply. */
  async removeUnfinished(): Promise<void> {
    if (isOneManifest(this.#directory)) return;
    await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    const names = await readdir(this.#directory);
    const unfinished = names.filter((name) => name.startsWith(PREFIX) && name.endsWith('.tmp'));
    await Promise.all(unfinished.map((name) => rm(join(this.#directory, name), { force: true })));
  }

  /**
   * Writes the objects that differ from their files. Throws `invalid_argument` listing every error in the manifest; `already_exists` if a
   * UID belongs to another pod; and `failed_precondition` if a pod with the same name comes from another file, an object is immutable, or
   * staticPodPath is a file. Nothing is written if it throws, if `dryRun` is set, or if an object would be replaced and `replace` is false.
   */
  apply(manifest: string, { dryRun = false, replace = true }: ApplyOptions = {}): Promise<AppliedManifest> {
    const decoded = decodeManifest(manifest, { file: 'manifest' });
    if (decoded.errors.length > 0) throw new PodwrightError('invalid_argument', decoded.errors.map(String).join('\n'));
    // pods come last, because they refer to the other objects
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
        throw new PodwrightError('failed_precondition', `${what}; change it there, or make staticPodPath a directory`);
      }
      await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      await this.#refuseTaken(decoded.pods);
      const changes = await Promise.all(objects.map((object) => this.#change(object)));
      refuseImmutable(changes);
      const planOnly = dryRun || (!replace && changes.some(isReplacement));
      const done: Applied[] = [];
      for (const change of changes) done.push(await this.#make(change, planOnly));
      return { done, planOnly, objects, warnings: [...decoded.leftOut, ...decoded.warnings].map(String) };
    });
  }

  /** Removes an applied object's file; returns false if there is none. `mayRemove` may throw to prevent the removal. */
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
   * Patches the labels and annotations of an applied object; returns `undefined` if it has no file. `change` is called with the object
   * under the lock that serializes all writes. Throws `invalid_argument` for an invalid label.
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

  /** Like `patch`, but changes the CPU and memory of an applied pod. Throws `invalid_argument` for any other change. */
  resize(name: ObjectName, change: (before: Pod) => ResizePatch): Promise<Patched<ResizePatch> | undefined> {
    return this.#lock.run('apply', async () => {
      const before = await readObject(this.pathOf(name));
      if (before?.kind !== 'Pod') return undefined;
      const patch = change(before);
      const after = resizedPod(before, patch);
      const what = `resize pod ${name.namespace}/${name.name}`;
      const existing = new Set(
        [...(before.spec.initContainers ?? []), ...before.spec.containers].map((one) => one.name),
      );
      for (const container of patch.containers.keys())
        if (!existing.has(container))
          throw new PodwrightError('invalid_argument', `${what}: it has no container ${container}`);
      if (!isResize(before, after)) {
        const why = 'only cpu and memory can be changed, and the QoS class must stay the same';
        throw new PodwrightError('invalid_argument', `${what}: ${why}`);
      }
      return { patch, written: await this.#write(name, after, what) };
    });
  }

  /** Whether `written` is still the last write of the object's file, and the file has not been removed since. */
  isLast(object: ObjectName, written: Written): boolean {
    return this.#written.get(fileName(object)) === written;
  }

  /** Whether the last write of the object's file wrote the pod with this UID. */
  hasPod(object: ObjectName, uid: string): boolean {
    return this.#written.get(fileName(object))?.uid === uid;
  }

  /** Returns the path of an applied object's file, whether or not it exists. */
  pathOf(object: ObjectName): string {
    return join(this.#directory, fileName(object));
  }

  async #refuseTaken(pods: Pod[]): Promise<void> {
    const claimed = new Map<string, ExistingPod>();
    for (const { metadata } of pods) {
      const { namespace, name, uid } = metadata;
      const file = join(this.#directory, fileName({ kind: 'Pod', namespace, name }));
      const existing = this.#existing.wantedPod(namespace, name);
      if (existing !== undefined && existing.file !== file) {
        const message = `apply pod ${namespace}/${name}: it comes from ${existing.file}; change it there`;
        throw new PodwrightError('failed_precondition', message);
      }
      if (!uid) continue;
      const holder = claimed.get(uid) ?? this.#existing.podOfUid(uid) ?? (await this.#unreadPod(uid));
      if (holder !== undefined && (holder.namespace !== namespace || holder.name !== name)) {
        const whose = `pod ${holder.namespace}/${holder.name}`;
        const message = `apply pod ${namespace}/${name}: metadata.uid: ${uid} is already that of ${whose}; leave it out`;
        throw new PodwrightError('already_exists', message);
      }
      claimed.set(uid, { uid, namespace, name, file });
    }
  }

  /** Returns the applied pod with this UID, even if the kubelet has not read its file yet. */
  async #unreadPod(uid: string): Promise<ExistingPod | undefined> {
    const name = [...this.#written].find(([, written]) => written.uid === uid)?.[0];
    if (name === undefined) return undefined;
    const file = join(this.#directory, name);
    // read the file instead of trusting the record in memory, because the file may have been removed by hand
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
    const previousUid = resized ? before.metadata.uid : '';
    const uid = object.kind === 'Pod' ? object.metadata.uid || previousUid || randomUUID() : undefined;
    // any change to a pod other than a resize creates a new pod; other objects keep their creation time
    const createdBefore = (object.kind !== 'Pod' || resized) && before?.metadata.creationTimestamp;
    const creationTimestamp = createdBefore || formatTime(Date.now());
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

/**
 * Throws if the kubelet could not read `text` back from a file. YAML aliases are expanded, so the JSON may be much larger than the
 * manifest.
 */
function checkReadable(text: string, what: string): void {
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES)
    throw new PodwrightError('invalid_argument', `${what}: it is larger than ${MAX_MANIFEST_BYTES >> 20} MiB as JSON`);
  const [problem] = decodeManifest(text, { file: what }).errors;
  if (problem !== undefined) throw new PodwrightError('invalid_argument', `${what}: ${problem.message}`);
}

/**
 * Returns an object's file name. Object names may have 253 characters, so the end of a file name that would be too long is replaced by a
 * digest.
 */
function fileName({ kind, namespace, name }: ObjectName): string {
  const whole = `${PREFIX}${kind.toLowerCase()}_${namespace}_${name}`;
  if (whole.length <= MAX_FILE_NAME) return `${whole}.json`;
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 32);
  return `${whole.slice(0, MAX_FILE_NAME - 1 - digest.length)}-${digest}.json`;
}

/** Reads a file; `undefined` if it does not exist or is not valid JSON. */
export async function readObject(path: string): Promise<Applicable | undefined> {
  try {
    return (await readJsonFile(path, MAX_OBJECT_BYTES)) as Applicable;
  } catch (error) {
    // a file that is not valid JSON is treated as absent, so it is replaced
    if (isNothingThere(error) || errorCode(error) === 'data_loss') return undefined;
    throw error;
  }
}

/** Whether two pods differ only in CPU and memory, which can be changed in place. */
function isResize(before: Applicable, after: Applicable): boolean {
  if (before.kind !== 'Pod' || after.kind !== 'Pod') return false;
  return sameSpec(unresizable(before) as Applicable, unresizable(after) as Applicable);
}

/** Whether `given` is `before` plus the fields that the node adds, such as the output of `get -o yaml`. Applying it is then a no-op. */
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

/** Compares objects, ignoring the creation time and resource version, which the node sets. The UID is compared only if `after` has one. */
function sameSpec(before: Applicable, after: Applicable): boolean {
  if (after.metadata.uid && after.metadata.uid !== before.metadata.uid) return false;
  const own = { uid: '', creationTimestamp: '', resourceVersion: '' };
  const comparable = ({ metadata, ...rest }: Applicable): unknown =>
    JSON.parse(JSON.stringify({ ...rest, metadata: { ...metadata, ...own } }));
  return isDeepStrictEqual(comparable(before), comparable(after));
}
