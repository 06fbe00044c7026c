/** Files that are the only record of something, on a simulated disk that loses unsynced data on a power cut. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openSqliteStore } from '@podwright/api-machinery';
import { silentLogger } from '@podwright/base';
import { writeFileAtomic, writeFileDurable } from '@podwright/host';
import { openDatabase } from '@podwright/metadata';
import { CertificateStore } from '../../packages/certificates/src/certificate-store.ts';
import { EphemeralContainers } from '../../packages/kubelet/src/pod/ephemeral-containers.ts';
import { StatusRecords } from '../../packages/kubelet/src/status/status-records.ts';
import { AppliedObjects } from '../../packages/node-api/src/applied-objects.ts';
import { readStateFile, writeStateFile } from '../../packages/placement/src/topology/state-file.ts';
import { NetworkSource } from '../../packages/runtime/src/network/choice/network-source.ts';
import { readVolumeData, writeVolumeData } from '../../packages/volumes/src/csi/volume-data.ts';
import { PodDirectories } from '../../packages/volumes/src/volumes/pod-directories.ts';
import { Certificates } from '../fixtures/certificates.ts';
import { PowerCutDisk } from '../fixtures/power-cut.ts';

const pair = { certificate: '', key: '' };
before(async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'power-cut-pair-'));
  after(() => rmSync(scratch, { recursive: true }));
  const certificates = new Certificates(scratch);
  await certificates.makeAuthority('ca');
  const { certificate, key } = await certificates.make('node', 'ca');
  Object.assign(pair, { certificate: certificate.toString(), key: key.toString() });
});

const pod = {
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [{ name: 'app', image: 'busybox' }] },
};
const webName = { kind: 'Pod', namespace: 'default', name: 'web' };
const appliedIn = (directory: string) =>
  new AppliedObjects(directory, { podOfUid: () => undefined, wantedPod: () => undefined });
const certificatesIn = (directory: string) => new CertificateStore(directory, 'kubelet-client');

const networkSource = (directory: string) => {
  const record = join(directory, 'choice.json');
  return new NetworkSource({ directory, mode: 'keep', record, bridge: 'pwunit0', logger: silentLogger });
};

/** `write` writes files to a directory. After the power cut, `read` must return `is`. */
type Case = {
  write: (directory: string) => Promise<unknown>;
  read: (directory: string) => Promise<unknown>;
  is: unknown;
};

const CASES: Record<string, Case> = {
  'a file that is written over another': {
    write: async (directory) => {
      await writeFileDurable(join(directory, 'file'), 'before');
      await writeFileDurable(join(directory, 'file'), 'after');
    },
    read: async (directory) => readFileSync(join(directory, 'file'), 'utf8'),
    is: 'after',
  },
  'an applied manifest': {
    write: async (directory) => {
      const applied = appliedIn(directory);
      await applied.apply(JSON.stringify(pod));
      await applied.patch(webName, () => ({ labels: { k: 'v' } }));
    },
    read: async (directory) => (await appliedIn(directory).apply(JSON.stringify(pod))).done.map(({ action }) => action),
    is: ['unchanged'],
  },
  'the deletion of a manifest': {
    write: async (directory) => {
      const applied = appliedIn(directory);
      await applied.apply(JSON.stringify(pod));
      await applied.remove(webName);
    },
    read: async (directory) => readdirSync(directory),
    is: [],
  },
  'the allocations of devices, CPUs or memory': {
    write: (directory) => writeStateFile(join(directory, 'cpu_manager_state'), { policyName: 'static' }),
    read: (directory) => readStateFile(join(directory, 'cpu_manager_state')),
    is: { policyName: 'static' },
  },
  'the record of a volume of a CSI driver': {
    write: (directory) => writeVolumeData(directory, { driverName: 'example.com', volumeHandle: 'v' } as never),
    read: async (directory) => (await readVolumeData(directory))?.driverName,
    is: 'example.com',
  },
  'a certificate': {
    write: (directory) => certificatesIn(directory).update(pair),
    read: async (directory) => (await certificatesIn(directory).current())?.commonName,
    is: 'node',
  },
  'an ephemeral container': {
    write: (directory) =>
      new EphemeralContainers(new PodDirectories(directory)).change(
        pod,
        () => [{ name: 'shell', image: 'busybox' }],
        () => pod,
      ),
    read: async (directory) => {
      const containers = new EphemeralContainers(new PodDirectories(directory));
      await containers.load(silentLogger);
      return containers.complete(pod).spec.ephemeralContainers?.map(({ name }) => name);
    },
    is: ['shell'],
  },
  "the choice of the network at a node's first start": {
    write: (directory) => networkSource(directory).begin(),
    read: async (directory) => (await networkSource(directory).choose()).why,
    is: "chosen at the node's first start",
  },
  'the end of a pod': {
    write: async (directory) => {
      const records = new StatusRecords(directory, silentLogger);
      records.save('u1', { namespace: 'default', name: 'web', status: { phase: 'Succeeded' } });
      await records.flush();
    },
    read: async (directory) => (await new StatusRecords(directory, silentLogger).read()).get('u1')?.status.phase,
    is: 'Succeeded',
  },
};

for (const [what, { write, read, is }] of Object.entries(CASES))
  test(`${what} outlives a power cut`, async () => {
    using disk = new PowerCutDisk();
    const directory = join(disk.directory, 'new', 'place');
    mkdirSync(directory, { recursive: true });
    await write(directory);
    disk.cut();
    assert.deepEqual(await read(directory), is);
  });

test('the simulated disk loses unsynced data', async () => {
  using disk = new PowerCutDisk();
  await writeFileAtomic(join(disk.directory, 'file'), 'text');
  disk.cut();
  assert.deepEqual(readdirSync(disk.directory), ['lost+found']);
});

test('the database of a runtime is consistent after a power failure, but may lack the last changes', async () => {
  using disk = new PowerCutDisk();
  const path = join(disk.directory, 'metadata.db');
  const database = openDatabase(path);
  database.exec('CREATE TABLE lines (id INTEGER PRIMARY KEY, text TEXT)');
  const add = database.prepare('INSERT INTO lines (text) VALUES (?)');
  const addMany = () => {
    for (let row = 0; row < 500; row++) add.run('x'.repeat(200));
  };
  addMany();
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // as SQLite does from time to time
  addMany();
  disk.cut(() => database.close());
  const later = openDatabase(path); // rejects a damaged file
  const { rows } = later.prepare('SELECT count(*) AS rows FROM lines').get() as { rows: number };
  later.close();
  assert.ok(rows >= 500 && rows <= 1000, `${rows}`);
});

test('with durability `power`, acknowledged API server writes survive power failures, including those moved by SQLite checkpoints', async () => {
  using disk = new PowerCutDisk();
  const path = join(disk.directory, 'api-server', 'objects.db');
  const answered = new Map<string, number>();
  const data = { text: 'x'.repeat(4000) };
  let count = 0;
  for (const writes of [1, 30, 900]) {
    const store = openSqliteStore(path, { durability: 'power' });
    for (const [name, revision] of answered)
      assert.equal(store.get({ resource: 'configmaps', namespace: 'x', name })?.revision, revision, name);
    const write = async () => {
      const name = `c${count++ % 200}`;
      const key = { resource: 'configmaps', namespace: 'x', name };
      const object = { metadata: { name, namespace: 'x' }, data };
      const { revision = 0 } = store.get(key) ?? {};
      const written = revision === 0 ? store.create(key, object) : store.update(key, object, revision);
      await store.untilDurable();
      answered.set(name, written.revision);
    };
    for (let done = 0; done < writes; done += 10)
      await Promise.all(Array.from({ length: Math.min(10, writes) }, write));
    disk.cut(() => store.close());
  }
  const store = openSqliteStore(path);
  assert.equal(store.list('configmaps').objects.length, answered.size);
  for (const { key, revision } of store.list('configmaps').objects)
    assert.equal(revision, answered.get(key.slice('x/'.length)), key);
  store.close();
});
