import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OciSpec } from '../spec.ts';
import { applyCdiEdits } from './apply-edits.ts';
import { resolveNodes } from './cdi-devices.ts';
import type { CdiEdits } from './cdi-spec.ts';

const spec: OciSpec = {
  ociVersion: '1.0.2',
  process: {
    terminal: false,
    user: { uid: 0, gid: 0, additionalGids: [1] },
    args: ['x'],
    env: ['A=1', 'B=2'],
    cwd: '/',
  },
  root: { path: '/r', readonly: false },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc', options: [] },
    { destination: '/lib/x', type: 'bind', source: '/old', options: [] },
  ],
  linux: { namespaces: [], cgroupsPath: '/c', resources: { devices: [{ allow: false, access: 'rwm' }] } },
};
const applyTo = async (to: OciSpec, edits: CdiEdits[]) =>
  applyCdiEdits(to, { edits, nodes: await resolveNodes(edits) });
const apply = (...edits: CdiEdits[]) => applyTo(spec, edits);

test('an added variable replaces the one with the same name, in place', async () => {
  assert.deepEqual((await apply({ env: ['A=9', 'C=3'] })).process.env, ['A=9', 'B=2', 'C=3']);
});

test('an added mount replaces the one with the same destination, and parents come first', async () => {
  const { mounts } = await apply({
    mounts: [
      { hostPath: '/new', containerPath: '/lib/x', options: ['rbind', 'ro'] },
      { hostPath: 'tmpfs', containerPath: '/t', type: 'tmpfs' },
    ],
  });
  assert.deepEqual(
    mounts.map(({ destination, source, type }) => [destination, source, type]),
    [
      ['/proc', 'proc', 'proc'],
      ['/t', 'tmpfs', 'tmpfs'],
      ['/lib/x', '/new', 'bind'],
    ],
  );
});

test('hooks are appended by name, groups other than 0 are added, and the last RDT class wins', async () => {
  const edited = await apply(
    { hooks: [{ hookName: 'prestart', path: '/a' }], additionalGids: [0, 7, 1], intelRdt: { closID: 'one' } },
    { hooks: [{ hookName: 'prestart', path: '/b', timeout: 2 }], intelRdt: { closID: 'two' } },
  );
  assert.deepEqual(edited.hooks, { prestart: [{ path: '/a' }, { path: '/b', timeout: 2 }] });
  assert.deepEqual(edited.process.user.additionalGids, [1, 7]);
  assert.deepEqual(edited.linux.intelRdt, { closID: 'two' });
});

test('omitted fields of a device node are taken from the host', async () => {
  const { linux } = await apply({ deviceNodes: [{ path: '/dev/my-null', hostPath: '/dev/null' }] });
  assert.deepEqual(linux.devices, [{ path: '/dev/my-null', type: 'c', major: 1, minor: 3, fileMode: 0o666 }].map(like));
  assert.deepEqual(linux.resources?.devices?.at(-1), { allow: true, type: 'c', major: 1, minor: 3, access: 'rwm' });
});

/** Overrides the file mode, because the host's /dev/null may have other permissions. */
const like = (device: object) => ({ ...device, fileMode: 0o666 });

test('a fully specified device node need not exist on the host, and one without permissions gets no device rule', async () => {
  const { linux } = await apply({
    deviceNodes: [
      { path: '/dev/none', type: 'u', major: 240, minor: 7, permissions: 'none', uid: 4, gid: 5, fileMode: 0o600 },
      { path: '/dev/pipe', type: 'p' },
    ],
  });
  assert.deepEqual(linux.devices, [
    { path: '/dev/none', type: 'c', major: 240, minor: 7, fileMode: 0o600, uid: 4, gid: 5 },
    { path: '/dev/pipe', type: 'p', major: 0, minor: 0 },
  ]);
  assert.equal(linux.resources?.devices?.length, 1);
});

test('a device node belongs to the container’s user unless it specifies an owner', async () => {
  const user = { uid: 1000, gid: 2000 };
  const edits = [{ deviceNodes: [{ path: '/dev/null' }, { path: '/dev/zero', uid: 0 }] }];
  const { linux } = await applyTo({ ...spec, process: { ...spec.process, user } }, edits);
  const owners = linux.devices?.map(({ uid, gid }) => [uid, gid]);
  assert.deepEqual(owners, [
    [1000, 2000],
    [0, 2000],
  ]);
});

test('a device node is rejected if the host has none or one of a different type', async () => {
  const refuse = (node: { path: string; type?: 'b' | 'c' }, message: RegExp) =>
    assert.rejects(apply({ deviceNodes: [node] }), { code: 'failed_precondition', message });
  await refuse({ path: '/dev/no-such-device' }, /CDI device node \/dev\/no-such-device.*no such file or directory/);
  await refuse({ path: '/etc/passwd' }, /it is not a device/);
  await refuse({ path: '/dev/null', type: 'b' }, /\/dev\/null is of type c, not b/);
});

test('in a user namespace device nodes are bind-mounted, because mknod is not permitted', async () => {
  const mapped = { ...spec, linux: { ...spec.linux, namespaces: [{ type: 'user' as const, path: '/ns' }] } };
  const edits = [{ deviceNodes: [{ path: '/dev/my-null', hostPath: '/dev/null' }] }];
  const { linux, mounts } = await applyTo(mapped, edits);
  assert.deepEqual(linux.devices, []);
  assert.deepEqual(linux.resources?.devices?.at(-1), { allow: true, type: 'c', major: 1, minor: 3, access: 'rwm' });
  const { source, destination } = mounts.find((mount) => mount.destination.startsWith('/dev')) ?? {};
  assert.deepEqual([source, destination], ['/dev/null', '/dev/my-null']);
});
