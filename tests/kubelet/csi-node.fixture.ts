import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { errorMessage, PodwrightError, Registry, silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { BoundClaim } from '../../packages/kube-api/src/objects/persistent-volume.ts';
import type { CsiDriver, VolumeAttachment } from '../../packages/kube-api/src/objects/storage.ts';
import { PluginRegistry } from '../../packages/placement/src/plugins/plugin-registry.ts';
import type { ClaimPatch } from '../../packages/volumes/src/csi/claim-patches.ts';
import { CsiBlockPaths } from '../../packages/volumes/src/csi/csi-block-paths.ts';
import { CsiBlockVolumes } from '../../packages/volumes/src/csi/csi-block-volumes.ts';
import { CsiDrivers } from '../../packages/volumes/src/csi/csi-drivers.ts';
import { csiMetrics } from '../../packages/volumes/src/csi/csi-metrics.ts';
import type { CsiObjects } from '../../packages/volumes/src/csi/csi-objects.ts';
import { CsiPaths } from '../../packages/volumes/src/csi/csi-paths.ts';
import type { CsiVolume } from '../../packages/volumes/src/csi/csi-volume.ts';
import { CsiVolumes } from '../../packages/volumes/src/csi/csi-volumes.ts';
import type { SeLinuxHost } from '../../packages/volumes/src/csi/selinux-label.ts';
import { VolumeExpansion } from '../../packages/volumes/src/csi/volume-expansion.ts';
import { VolumesInUse } from '../../packages/volumes/src/csi/volumes-in-use.ts';
import { DeviceMaps } from '../../packages/volumes/src/volumes/device-maps.ts';
import { type LoopDevices, ProgramLoopDevices } from '../../packages/volumes/src/volumes/loop-devices.ts';
import { type Mounter, ProgramMounter } from '../../packages/volumes/src/volumes/mounter.ts';
import { PodDirectories } from '../../packages/volumes/src/volumes/pod-directories.ts';
import { StorageMetrics } from '../../packages/volumes/src/volumes/storage-metrics.ts';
import { CsiDriverUnderTest, csiDirectory, loopsBelow, mountsBelow } from './csi-driver.fixture.ts';

export const NODE = 'node-1';
export const KEY = 'kubernetes.io/csi/disk.test^disk-1';
export const never = new AbortController().signal;

export const DISK: CsiVolume = {
  name: 'pv-1',
  driver: 'disk.test',
  handle: 'disk-1',
  mode: 'Persistent',
  readOnly: false,
  fsType: 'ext4',
  attributes: { tier: 'fast' },
  mountOptions: ['noatime'],
  accessModes: ['ReadWriteOnce'],
  stageSecret: { namespace: 'storage', name: 'stage' },
  publishSecret: { namespace: 'storage', name: 'publish' },
};

export const pod = (uid: string) =>
  ({ metadata: { uid, name: `pod-${uid}`, namespace: 'default' }, spec: { serviceAccountName: 'robot' } }) as Pod;

/** An event published by the kubelet, with only the kind of its involved object. */
export type PublishedEvent = { kind: string; reason: string; message: string };

/** A kubelet's CSI volumes with a driver. The kubelet's part can be recreated as after `kill -9` while the driver keeps running. */
export class CsiNodeUnderTest {
  readonly rootDir = csiDirectory();
  readonly driver = new CsiDriverUnderTest({
    name: 'disk.test',
    rootDir: this.rootDir,
    data: join(this.rootDir, 'data'),
  });
  attachment: VolumeAttachment['status'] = { attached: true, attachmentMetadata: { device: '/dev/x' } };
  driverObject: CsiDriver['spec'] = {
    attachRequired: true,
    podInfoOnMount: false,
    volumeLifecycleModes: ['Persistent'],
    fsGroupPolicy: 'None',
  };
  readonly reported: string[][] = [];
  readonly events: PublishedEvent[] = [];
  readonly patches: ClaimPatch[] = [];
  /** The claim as stored by the API server. */
  claim: BoundClaim = { metadata: { name: 'data', namespace: 'default', uid: 'c1', resourceVersion: '1' }, spec: {} };
  claimReads = 0;
  seLinux: SeLinuxHost | undefined;
  mounter: Mounter = new ProgramMounter();
  loops: LoopDevices = new ProgramLoopDevices();
  registry = new Registry();
  inUse!: VolumesInUse;
  volumes!: CsiVolumes;
  blockVolumes!: CsiBlockVolumes;
  #registry: PluginRegistry | undefined;

  async start(context: TestContext): Promise<void> {
    context.after(async () => {
      await this.driver.kill();
      await this.#registry?.close();
      assert.deepEqual([...mountsBelow(this.rootDir), ...loopsBelow(this.rootDir)], []);
    });
    await this.driver.start();
    await this.restart();
  }

  /** Recreates the kubelet's part, as after a restart. The drivers are not registered until `released` resolves. */
  async restart(released: Promise<void> = Promise.resolve()): Promise<void> {
    await this.#registry?.close();
    const { rootDir, mounter, loops } = this;
    this.registry = new Registry();
    const drivers = new CsiDrivers({
      nodes: { install: async () => undefined, uninstall: async () => undefined },
      onRegistered: (driver) => {
        this.volumes.driverRegistered(driver);
        this.blockVolumes.driverRegistered(driver);
      },
      metrics: csiMetrics(this.registry),
    });
    const directory = join(rootDir, 'plugins_registry');
    this.#registry = new PluginRegistry({ directory, handlers: { CSIPlugin: drivers }, logger: silentLogger });
    const registry = this.#registry;
    const inUse = new VolumesInUse(() => {
      this.reported.push(inUse.names());
      setImmediate(() => inUse.reported(inUse.names(), inUse.names()));
    });
    this.inUse = inUse;
    const events = {
      event: ({ kind }: { kind: string }, _type: string, reason: string, message: string) =>
        void this.events.push({ kind, reason, message }),
    };
    const now = () => '2026-01-01T00:00:00Z';
    const shared = { drivers, objects: this.#objects(), logger: silentLogger };
    const parts = {
      ...{ ...shared, inUse, nodeName: NODE, metrics: new StorageMetrics(this.registry) },
      expansion: new VolumeExpansion({ ...shared, events, now }),
      driversKnown: released.then(() => registry.start()),
    };
    const pods = new PodDirectories(rootDir);
    const maps = new DeviceMaps({ mounter, loops, events });
    this.volumes = new CsiVolumes({
      ...parts,
      seLinux: this.seLinux,
      paths: new CsiPaths({ pods, rootDir, mounter }),
    });
    this.blockVolumes = new CsiBlockVolumes({ ...parts, maps, paths: new CsiBlockPaths({ pods, rootDir, mounter }) });
    await Promise.all([this.volumes.load(), this.blockVolumes.load()]);
  }

  map(uid: string, change: Partial<CsiVolume> = {}): Promise<string> {
    return this.blockVolumes.setUp(pod(uid), { ...DISK, isBlock: true, ...change }, never);
  }

  setUp(uid: string, change: Partial<CsiVolume> = {}): Promise<string> {
    return this.volumes.setUp(pod(uid), { ...DISK, ...change }, never);
  }

  async failure(work: Promise<unknown>): Promise<string> {
    return await work.then(
      () => 'it worked',
      (error: unknown) => errorMessage(error),
    );
  }

  published(uid: string): string {
    return join(this.rootDir, 'pods', uid, 'volumes/kubernetes.io~csi/pv-1/mount');
  }

  /** Returns the names of the volume calls made since the last call of this method. */
  async calls(): Promise<string[]> {
    const calls = await this.driver.volumeCalls();
    this.driver.forget();
    return calls;
  }

  #objects(): CsiObjects {
    return {
      driver: async (name) => ({ metadata: { name }, spec: this.driverObject }),
      secret: async (_pod, { namespace, name }) => ({ password: `${namespace}-${name}` }),
      token: async (_pod, { audience }) => ({ token: `for ${audience}`, expirationTimestamp: '2026-01-01T00:00:00Z' }),
      attachment: async (name) => {
        if (this.attachment === undefined)
          throw new PodwrightError('not_found', `volumeattachments.storage.k8s.io "${name}" not found`);
        return { metadata: { name }, status: this.attachment };
      },
      claim: async () => {
        this.claimReads++;
        return structuredClone(this.claim);
      },
      patchClaim: async (_place, patch) => {
        this.patches.push(patch);
        // patches remove fields by setting them to null
        const { capacity, allocatedResourceStatuses, conditions } = patch.status ?? {};
        const status = {
          ...this.claim.status,
          ...(capacity === undefined ? {} : { capacity }),
          ...(allocatedResourceStatuses === undefined ? {} : { allocatedResourceStatuses }),
          ...(conditions === undefined ? {} : { conditions }),
        };
        this.claim = { ...this.claim, status: JSON.parse(JSON.stringify(status)) };
        return structuredClone(this.claim);
      },
    };
  }
}
