/** Imports the objects of a node that had no Kubernetes API into the API it has now. */
import { createHash } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Failpoint, noFailpoint, PRIVATE_DIRECTORY } from '@podwright/base';
import { namesIn, removeFileDurable } from '@podwright/host';
import type { PersistentVolumeClaim, Pod } from '@podwright/kube-api';
import { isOneManifest } from '@podwright/pod-config';
import { configurationOf } from './applied-configuration.ts';
import { readObject } from './applied-objects.ts';
import { type MetadataPatch, separatePatch } from './metadata-patch.ts';

type Complete = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; uid: string; creationTimestamp?: string };
  status?: unknown;
};

export type AppliedImportParts = {
  manifestDir: string;
  /** The kubelet's root directory, which contains pod statuses and the directories of PVCs. */
  kubeletRoot: string;
  nodeName: string;
  /** Where to move files of objects whose names are already taken in the API. */
  asideDir: string;
  onAside: (path: string) => void;
  /** Records that the node's objects are now stored in the API. */
  begin: () => Promise<void>;
  /** A failpoint, set only in tests. Its only stage is `import/file-removed`. */
  failpoint?: Failpoint;
};

/** Spec for a PVC that had no object, just a directory without a size. */
const BARE_CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** Reads the applied objects of a manifest directory for import into the API, and removes their files afterward. */
export class AppliedImport {
  readonly manager = 'podwright';
  readonly #parts: AppliedImportParts;
  /** The manifest file of each object to import, by the object's UID. */
  readonly #files = new Map<string, string>();

  readonly #applied = new Map<string, MetadataPatch>();

  constructor(parts: AppliedImportParts) {
    this.#parts = parts;
  }

  async read(): Promise<Complete[]> {
    const { manifestDir, nodeName } = this.#parts;
    const names = isOneManifest(manifestDir) ? [] : await namesIn(manifestDir);
    const objects: Complete[] = [];
    const claims = new Map<string, Complete>();
    for (const name of names.filter((one) => /^applied-.*\.json$/.test(one))) {
      const path = join(manifestDir, name);
      const given = await readObject(path);
      if (given === undefined) continue; // the kubelet reports what is wrong with the file
      const { metadata, applied } = separatePatch(given.metadata);
      const object = complete({ ...given, metadata });
      this.#applied.set(object.metadata.uid, applied);
      this.#files.set(object.metadata.uid, path);
      if (given.kind === 'Pod') objects.push(await this.#pod(object, nodeName));
      else if (given.kind === 'PersistentVolumeClaim') claims.set(claimKey(given.metadata), object);
      else objects.push(object);
    }
    for (const key of await this.#directories()) if (!claims.has(key)) claims.set(key, complete(bareClaim(key)));
    return [...objects, ...[...claims.values()].flatMap((claim) => this.#bound(claim))];
  }

  begin(): Promise<void> {
    return this.#parts.begin();
  }

  /**
   * Returns the labels and annotations from the object's manifest. Those set by clients are excluded, so that the next apply of the object
   * keeps them.
   */
  appliedMetadata({ metadata: { uid = '' } }: { metadata: { uid?: string } }): MetadataPatch {
    return this.#applied.get(uid) ?? {};
  }

  /**
   * Removes the files of imported objects, and moves aside those of objects whose names are taken. After a crash midway, some of the
   * remaining files describe objects that the API already has, with the same UIDs.
   */
  async moved(objects: readonly object[], taken: readonly object[]): Promise<void> {
    const { asideDir, onAside, failpoint = noFailpoint } = this.#parts;
    for (const object of objects as readonly Complete[]) {
      const path = this.#files.get(object.metadata.uid);
      if (path === undefined) continue;
      if (!taken.includes(object)) {
        await removeFileDurable(path);
        await failpoint('import/file-removed');
        continue;
      }
      await mkdir(asideDir, { recursive: true, mode: PRIVATE_DIRECTORY });
      const aside = join(asideDir, basename(path));
      await rename(path, aside);
      onAside(aside);
    }
  }

  /** Adds the pod's last status, because a pod that has terminated must not run again. */
  async #pod(object: Complete, nodeName: string): Promise<Complete> {
    const path = join(this.#parts.kubeletRoot, 'pod-statuses', `${object.metadata.uid}.json`);
    const record = (await readObject(path)) as { status?: Pod['status'] } | undefined;
    const spec = { ...(object as unknown as Pod).spec, nodeName };
    return { ...object, spec, ...(record?.status !== undefined && { status: record.status }) } as Complete;
  }

  /** Returns the PVCs that have a directory. Pods may use these even if they have no object. */
  async #directories(): Promise<string[]> {
    const root = join(this.#parts.kubeletRoot, 'claims');
    const namespaces = (await namesIn(root)).filter((name) => !name.startsWith('.'));
    const found = namespaces.map(async (one) => (await namesIn(join(root, one))).map((name) => `${one}/${name}`));
    return (await Promise.all(found)).flat();
  }

  /** Returns the PVC and the PersistentVolume it is bound to, which refers to the PVC's directory. */
  #bound(claim: Complete): Complete[] {
    const { namespace = '', name, uid } = claim.metadata;
    const { accessModes, resources, storageClassName = '' } = (claim as unknown as PersistentVolumeClaim).spec;
    const capacity = { storage: resources?.requests?.storage ?? '1Gi' };
    const volumeName = `pvc-${uid}`;
    const path = join(this.#parts.kubeletRoot, 'claims', namespace, name);
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    const spec = { ...(claim as unknown as PersistentVolumeClaim).spec, volumeName };
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName, uid: uidOf(`PersistentVolume ${volumeName}`) },
      spec: {
        ...{ capacity, accessModes, storageClassName, claimRef, persistentVolumeReclaimPolicy: 'Retain' },
        hostPath: { path, type: 'DirectoryOrCreate' },
      },
      status: { phase: 'Bound' },
    };
    return [volume, { ...claim, spec, status: { phase: 'Bound', accessModes, capacity } } as Complete];
  }
}

const claimKey = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`;

function bareClaim(key: string): object {
  const [namespace = '', name = ''] = key.split('/');
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace, name }, spec: BARE_CLAIM };
}

/**
 * Completes an object to be imported. On a node without the API, only pods have UIDs; other objects get a deterministic UID, which is the
 * same in every import attempt.
 */
function complete(given: object): Complete {
  const { apiVersion, kind, metadata } = given as Complete;
  const { namespace = '', name, creationTimestamp } = metadata;
  const uid = metadata.uid || uidOf(`${kind} ${namespace}/${name} ${creationTimestamp ?? ''}`);
  const configuration = configurationOf(given);
  const own = { ...configuration.metadata, name, uid, ...(creationTimestamp && { creationTimestamp }) };
  return { ...configuration, apiVersion, kind, metadata: own };
}

function uidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
