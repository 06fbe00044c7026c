import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OciSpec, SpecInput } from '@podwright/oci';
import type { ContainerRecord, ContainerResources } from '../records/container-record.ts';
import { buildContainerSpec, ContainerSpecs, type SpecSources } from './container-specs.ts';

const resources: ContainerResources = {
  cpuPeriod: 0,
  cpuQuota: 0,
  cpuShares: 0,
  memoryLimitBytes: 1000,
  memorySwapLimitBytes: 0,
  oomScoreAdj: 900,
  cpusetCpus: '',
  cpusetMems: '',
  hugepageLimits: [],
  unified: {},
};
const host: SpecInput['host'] = {
  capabilities: ['CAP_CHOWN'],
  cgroupMode: 'v2',
  cgroupMountOptions: [],
  swapLimit: true,
  hugetlb: false,
  openFiles: 20_000,
  minimumOomScoreAdj: -1000,
  architecture: 'x64',
};
const input: SpecInput = {
  args: ['run'],
  env: ['A=1'],
  cwd: '/',
  user: { uid: 5, gid: 6, additionalGids: [6] },
  terminal: false,
  rlimits: [],
  rootfs: { path: '/rootfs', readonly: false },
  hostname: 'pod',
  mounts: [],
  security: {
    privileged: false,
    addCapabilities: [],
    dropCapabilities: [],
    addAmbientCapabilities: [],
    noNewPrivileges: false,
    maskedPaths: [],
    readonlyPaths: [],
    seccomp: 'runtime-default',
    apparmorProfile: '',
    selinuxProcessLabel: '',
    selinuxMountLabel: '',
  },
  namespaces: { network: { kind: 'host' }, ipc: { kind: 'host' }, uts: { kind: 'host' }, pid: { kind: 'new' } },
  devices: [],
  hostDevices: [],
  resources: { ...resources, pidsLimit: 0 },
  cgroupsPath: '/pod/c',
  annotations: {},
  host,
};
const device = { path: '/dev/x', type: 'c', major: 9, minor: 8 };
const sources: SpecSources = {
  input,
  cdi: {
    edits: [
      { env: ['A=2'], mounts: [{ hostPath: '/h', containerPath: '/c', options: ['rbind'] }], additionalGids: [7] },
    ],
    nodes: [{ device, access: 'rw', hostPath: '/dev/x' }],
  },
};

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

test('a specification depends only on its inputs, which are not modified', () => {
  const spec = buildContainerSpec(freeze(structuredClone(sources)));
  assert.deepEqual(spec.process.env, ['A=2']);
  assert.deepEqual(spec.process.user.additionalGids, [6, 7]);
  assert.equal(spec.mounts.find(({ destination }) => destination === '/c')?.source, '/h');
  assert.deepEqual(spec.linux.devices, [{ uid: 5, gid: 6, ...device }]);
  assert.equal(spec.linux.resources?.memory?.limit, 1000);
});

test('the limits in a record override those in the specification, and a running container keeps its oom_score_adj', () => {
  const specs = new ContainerSpecs({ host } as unknown as ConstructorParameters<typeof ContainerSpecs>[0]);
  const spec: OciSpec = freeze(buildContainerSpec(sources));
  const change = { ...resources, cpuQuota: -1, memoryLimitBytes: 0, cpuShares: 50, oomScoreAdj: 100 };
  const changed = (phase: 'created' | 'running') => {
    const record = { config: { resources: change }, state: { phase } } as unknown as ContainerRecord;
    const { process, linux, ...others } = specs.withLimits(spec, record);
    const { process: _, linux: __, ...before } = spec;
    assert.deepEqual(others, before);
    assert.deepEqual(linux, { ...spec.linux, resources: linux.resources });
    assert.deepEqual(process, { ...spec.process, oomScoreAdj: process.oomScoreAdj });
    const { devices, ...limits } = linux.resources!;
    assert.deepEqual(devices, spec.linux.resources?.devices);
    return { limits, oomScoreAdj: process.oomScoreAdj };
  };
  assert.deepEqual(changed('created'), { limits: { cpu: { shares: 50 } }, oomScoreAdj: 100 });
  assert.deepEqual(changed('running'), { limits: { cpu: { shares: 50, quota: -1 } }, oomScoreAdj: 900 });
});
