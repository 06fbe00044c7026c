import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { validateByDefault } from './default-validator.ts';
import { FieldOwners } from './field-owners.ts';
import { ContainerAdjustmentSchema } from './gen/nri/v1alpha1/adjustment_pb.js';
import { ContainerSchema } from './gen/nri/v1alpha1/container_pb.js';
import { ValidateContainerAdjustmentRequestSchema } from './gen/nri/v1alpha1/services_pb.js';
import { beginMerge, mergeAdjustment } from './merge-adjustment.ts';

type Adjust = MessageInitShape<typeof ContainerAdjustmentSchema>;

/** Merges adjustments by plugins `a`, `b`, … for a container with one entry of each type. */
function merge(...adjustments: Adjust[]) {
  const container = create(ContainerSchema, {
    id: 'c',
    annotations: { x: '0' },
    env: ['X=0'],
    mounts: [{ destination: '/x', source: '/0' }],
    linux: { devices: [{ path: '/dev/x' }], sysctl: { x: '0' } },
  });
  const merged = beginMerge(container);
  const owners = new FieldOwners();
  for (const [number, adjust] of adjustments.entries()) {
    const plugin = 'abc'[number]!;
    mergeAdjustment({ owners, containerId: 'c', plugin }, merged, create(ContainerAdjustmentSchema, adjust));
  }
  return { ...merged, owners };
}

test('setting the same field in two plugins is a conflict, and each map or list entry is a field', () => {
  const conflict = (one: Adjust, message: RegExp) => assert.throws(() => merge(one, one), message);
  conflict({ annotations: { y: '1' } }, /plugins "b" and "a" both set Annotations y/);
  conflict({ env: [{ key: 'Y', value: '1' }] }, /Env Y/);
  conflict({ mounts: [{ destination: '/y' }] }, /Mounts \/y/);
  conflict({ args: ['y'] }, /Args$/);
  conflict({ rlimits: [{ type: 'RLIMIT_CORE' }] }, /Rlimits RLIMIT_CORE/);
  conflict({ cdiDevices: [{ name: 'v/c=d' }] }, /CdiDevices v\/c=d/);
  conflict({ linux: { devices: [{ path: '/dev/y' }] } }, /Devices \/dev\/y/);
  conflict({ linux: { sysctl: { y: '1' } } }, /Sysctl y/);
  conflict({ linux: { namespaces: [{ type: 'ipc' }] } }, /Namespace ipc/);
  conflict({ linux: { netDevices: { eth1: {} } } }, /LinuxNetDevices eth1/);
  conflict({ linux: { cgroupsPath: '/y' } }, /CgroupsPath$/);
  conflict({ linux: { oomScoreAdj: { value: 0n } } }, /OomScoreAdj$/);
  conflict({ linux: { ioPriority: {} } }, /IoPriority$/);
  conflict({ linux: { seccompPolicy: {} } }, /SeccompPolicy$/);
  conflict({ linux: { scheduler: {} } }, /LinuxSched$/);
  conflict({ linux: { memoryPolicy: {} } }, /MemoryPolicy$/);
  conflict({ linux: { rdt: { closId: { value: 'a' } } } }, /RdtClosID$/);
  conflict({ linux: { resources: { memory: { limit: { value: 0n } } } } }, /MemLimit$/);
  conflict({ linux: { resources: { cpu: { cpus: '1' } } } }, /CPUSetCPUs$/);
  conflict({ linux: { resources: { pids: { limit: 1n } } } }, /PidsLimit$/);
  conflict({ linux: { resources: { hugepageLimits: [{ pageSize: '2MB' }] } } }, /HugepageLimits 2MB/);
  conflict({ linux: { resources: { unified: { 'memory.high': '1' } } } }, /CgroupsUnified memory.high/);
  conflict({ linux: { resources: { blockioClass: { value: 'a' } } } }, /BlockioClass$/);
});

test('hooks of all plugins are added', () => {
  const hooks = { poststop: [{ path: '/h' }] };
  const { adjust, owners } = merge({ hooks }, { hooks });
  assert.deepEqual([adjust.hooks?.poststop.length, owners.owner('c', 'OciHooks')], [2, 'a,b']);
});

test('a plugin may set an entry of an earlier plugin only after removing it', () => {
  const set = {
    annotations: { y: '1' },
    env: [{ key: 'Y', value: '1' }],
    mounts: [{ destination: '/y', source: '/1' }],
  };
  const replaced = {
    annotations: { '-y': '', y: '2' },
    env: [
      { key: '-Y', value: '' },
      { key: 'Y', value: '2' },
    ],
    mounts: [{ destination: '-/y' }, { destination: '/y', source: '/2' }],
  };
  const { adjust } = merge(set, replaced);
  assert.deepEqual(adjust.annotations, { y: '2' });
  assert.deepEqual(
    adjust.env.map(({ key, value }) => `${key}=${value}`),
    ['Y=2'],
  );
  assert.deepEqual(
    adjust.mounts.map(({ destination, source }) => destination + source),
    ['/y/2'],
  );
  assert.throws(() => merge(set, { annotations: { '-y': '' } }, set), /plugins "c" and "b" both set Annotations y/);
});

test('a removed container entry is not visible to later plugins', () => {
  const { container, adjust } = merge({
    annotations: { '-x': '' },
    env: [{ key: '-X', value: '' }],
    mounts: [{ destination: '-/x' }],
    linux: { devices: [{ path: '-/dev/x' }], sysctl: { '-x': '' } },
  });
  assert.deepEqual([container.annotations, container.env, container.mounts], [{}, [], []]);
  assert.deepEqual([container.linux?.devices, container.linux?.sysctl], [[], {}]);
  assert.deepEqual(adjust.annotations, { '-x': '' });
  assert.equal(adjust.mounts[0]?.destination, '-/x');
});

test('arguments are replaced only if the first new argument is empty', () => {
  assert.deepEqual(merge({ args: ['a'] }, { args: ['', 'b'] }).adjust.args, ['b']);
});

function validate(settings: Parameters<typeof validateByDefault>[0], adjust: Adjust, annotations = {}) {
  const { owners, adjust: merged } = merge(adjust);
  const container = { id: 'c', name: 'main', linux: { seccompProfile: { profileType: 0 } } };
  const request = {
    pod: { annotations },
    container,
    adjust: merged,
    owners: owners.message(),
    plugins: [{ name: 'a' }],
  };
  return validateByDefault(settings, create(ValidateContainerAdjustmentRequestSchema, request));
}

test('the default validator rejects what its settings name', () => {
  const hooks = { hooks: { poststop: [{ path: '/h' }] } };
  const linux = { linux: { seccompPolicy: {}, sysctl: { y: '1' }, namespaces: [{ type: 'ipc' }] } };
  assert.equal(validate({}, { ...hooks, ...linux }), undefined);
  assert.equal(validate({ rejectOciHooks: true }, hooks), 'plugin a adds OCI hooks');
  assert.equal(
    validate({ rejectRuntimeDefaultSeccomp: true }, linux),
    'plugin a changes the runtime default seccomp policy',
  );
  assert.equal(validate({ rejectCustomSeccomp: true, rejectUnconfinedSeccomp: true }, linux), undefined);
  assert.equal(validate({ rejectNamespaces: true }, linux), 'namespaces are changed: ipc (plugin a)');
  assert.equal(validate({ rejectSysctls: true }, linux), 'sysctls are changed: y (plugin a)');
});

test('the default validator rejects containers without their required plugins', () => {
  const key = 'required-plugins.noderesource.dev';
  const missing = 'required plugins are missing: z';
  assert.equal(validate({ requiredPlugins: ['a'] }, {}), undefined);
  assert.equal(validate({ requiredPlugins: ['a', 'z'] }, {}), missing);
  assert.equal(validate({}, {}, { [key]: '[a, z]' }), missing);
  assert.equal(validate({}, {}, { [`${key}/container.main`]: '[]', [key]: '[z]' }), undefined);
  assert.match(validate({}, {}, { [key]: '{' }) ?? '', /^annotation required-plugins/);
  const tolerant = { requiredPlugins: ['z'], tolerateMissingAnnotation: 'tolerate' };
  assert.equal(validate(tolerant, {}, { tolerate: 'true' }), undefined);
  assert.equal(validate(tolerant, {}, { tolerate: 'false' }), missing);
  assert.equal(validate(tolerant, {}, { tolerate: 'x' }), 'annotation tolerate: "x" is not a boolean');
});
