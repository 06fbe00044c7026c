import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DamagedRecord, openDatabase } from '@podwright/metadata';
import type { ContainerRecord } from './container-record.ts';
import { openPodTables } from './pod-tables.ts';
import type { SandboxRecord } from './sandbox-record.ts';

const mapping = [{ containerId: 0, hostId: 100_000, length: 65_536 }];
const mappings = { uids: mapping, gids: mapping };
const resources = {
  ...{ cpuPeriod: 0, cpuQuota: 0, cpuShares: 2, memoryLimitBytes: 0, memorySwapLimitBytes: 0, oomScoreAdj: 0 },
  ...{ cpusetCpus: '', cpusetMems: '', hugepageLimits: [{ pageSize: '2MB', limitBytes: 1 }], unified: { 'a.b': '1' } },
};

const sandbox: SandboxRecord = {
  id: 's1',
  name: 'web_default_u_0',
  config: {
    ...{ podName: 'web', podUid: 'u', podNamespace: 'default', attempt: 0, hostname: 'web', logDirectory: '' },
    portMappings: [{ protocol: 'tcp', containerPort: 80, hostPort: 8080, hostIp: '' }],
    ...{ labels: { a: 'b' }, annotations: {}, cgroupParent: '', network: 'pod', ipc: 'pod', pid: 'container' },
    ...{ sysctls: {}, privileged: false, runtimeHandler: '' },
  },
  state: { phase: 'ready' },
  createdAtMs: 1.5,
  ips: ['10.0.0.2'],
};

const container: ContainerRecord = {
  id: 'c1',
  name: 's1_main_0',
  sandboxId: 's1',
  config: {
    ...{ name: 'main', attempt: 0, command: ['sh'], args: [], workingDir: '', labels: {}, annotations: {} },
    image: { reference: 'busybox', annotations: {}, userSpecified: '', runtimeHandler: '' },
    ...{ envs: [{ name: 'A', value: 'b' }], mounts: [], devices: [], logPath: '', stopSignal: '', resources },
    ...{ stdin: false, stdinOnce: false, tty: false },
    security: {
      ...{ privileged: false, addCapabilities: [], dropCapabilities: [], addAmbientCapabilities: [] },
      ...{ pid: { mode: 'target', containerId: 'c0' }, runAsUsername: '', supplementalGroups: [] },
      ...{ supplementalGroupsPolicy: 'merge', readonlyRootfs: false, noNewPrivileges: false, maskedPaths: [] },
      ...{ readonlyPaths: [], seccomp: { type: 'localhost', ref: 'x.json' }, apparmor: { type: 'unconfined' } },
    },
  },
  image: { id: 'sha256:1', repoDigest: '', config: { Cmd: ['sh'], Volumes: { '/data': {} } } },
  ...{ user: { uid: 0, gid: 0, additionalGids: [] }, logPath: '', stopSignal: 'SIGTERM', createdAtMs: 2 },
  state: { phase: 'created' },
};

const full: SandboxRecord = {
  ...sandbox,
  ...{ id: 's2', name: 's2', controller: 'pinned', resources: { overhead: resources, containers: resources } },
  config: {
    ...sandbox.config,
    dns: { servers: ['10.0.0.10'], searches: [], options: [] },
    selinux: { user: '', role: '', type: '', level: 's0' },
    userNamespace: mappings,
  },
};
const end = { startedAtMs: 1, finishedAtMs: 2, exitCode: 3, reason: 'Error', message: '' };
const states: ContainerRecord['state'][] = [
  { phase: 'creating' },
  { phase: 'created' },
  { phase: 'starting' },
  { phase: 'running', pid: 7, startedAtMs: 1 },
  { phase: 'exited', ...end },
  { phase: 'removing', end },
  { phase: 'removing' },
];
const containers = states.map((state, index) => ({ ...container, id: `c${index}`, name: `n${index}`, state }));

function open() {
  const database = openDatabase(':memory:');
  const damaged: DamagedRecord[] = [];
  const tables = () => openPodTables(database, (row) => damaged.push(row));
  const read = () => {
    const { sandboxes, containers } = tables();
    return { sandboxes: sandboxes.list(), containers: containers.list(), damaged };
  };
  return { database, tables: tables(), read };
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

test('records of every phase are read back unchanged', () => {
  const { tables, read } = open();
  for (const record of [sandbox, full]) tables.sandboxes.put(record);
  for (const record of containers) tables.containers.put(record);
  assert.deepEqual(asJson(read()), asJson({ sandboxes: [sandbox, full], containers, damaged: [] }));
});

test('records without a version can be read, and unknown fields are preserved', () => {
  const { database, read } = open();
  const insert = (table: string, record: { id: string; name: string }) =>
    database.prepare(`INSERT INTO ${table} VALUES (?, ?, ?)`).run(record.id, record.name, JSON.stringify(record));
  const later = { ...sandbox, config: { ...sandbox.config, later: { x: 1 } } };
  insert('sandboxes', later);
  insert('containers', container);
  assert.deepEqual(asJson(read()), asJson({ sandboxes: [later], containers: [container], damaged: [] }));
});

test('a damaged record is reported with its table, ID and field', () => {
  const { database, tables, read } = open();
  tables.sandboxes.put(sandbox);
  tables.containers.put(container);
  database.exec("UPDATE sandboxes SET record = json_remove(record, '$.config.labels')");
  database.exec("UPDATE containers SET record = json_set(record, '$.state.phase', 'asleep')");
  const { sandboxes, containers, damaged } = read();
  assert.deepEqual([sandboxes, containers], [[], []]);
  assert.deepEqual(
    damaged.map(({ table, id, reason }) => [table, id, reason.split(':')[0]]),
    [
      ['sandboxes', 's1', 'config.labels'],
      ['containers', 'c1', 'state.phase'],
    ],
  );
});
