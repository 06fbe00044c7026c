import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { runChecked } from '@podwright/host';
import type { EphemeralContainer, Pod } from '@podwright/kube-api';
import { PodDirectories } from '@podwright/volumes';
import { startFakeKubelet } from '../fake-kubelet.fixture.ts';
import { EphemeralContainers } from './ephemeral-containers.ts';

const root = mkdtempSync(join(tmpdir(), 'podwright-ephemeral-'));
after(() => rmSync(root, { recursive: true }));

const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app', image: 'busybox' }] } };
const shell = { name: 'shell', image: 'busybox:1' };
const set = (containers: EphemeralContainers, wanted: EphemeralContainer[]) =>
  containers.change(
    pod,
    () => wanted,
    () => pod,
  );

test('ephemeral containers survive a kubelet restart and cannot be removed', async () => {
  const directories = new PodDirectories(root);
  const before = new EphemeralContainers(directories);
  await set(before, [shell]);
  const later = new EphemeralContainers(directories);
  assert.equal(later.complete(pod), pod);
  await later.load(silentLogger);
  const [saved] = later.complete(pod).spec.ephemeralContainers!;
  assert.equal(saved!.imagePullPolicy, 'IfNotPresent');
  await set(later, [saved!, { ...shell, name: 'second' }]);
  await assert.rejects(set(later, [{ ...shell, name: 'second' }]), /containers "shell" may not be removed/);
  await assert.rejects(set(later, [{ ...saved!, image: 'other' }]), /"shell" may not be changed/);
  await assert.rejects(set(later, [saved!, { ...shell, name: 'app' }]), /container "app" already exists/);
});

test('concurrent additions to a pod do not lose containers', async () => {
  const containers = new EphemeralContainers(new PodDirectories(root));
  const many = { ...pod, metadata: { ...metadata, uid: 'u2' } };
  const names = ['one', 'two', 'three'];
  const add = (name: string) =>
    containers.change(
      many,
      (before) => [...before, { ...shell, name }],
      () => many,
    );
  await Promise.all(names.map(add));
  const shown = containers.complete(many).spec.ephemeralContainers!.map(({ name }) => name);
  assert.deepEqual(shown, names);
});

test('adding a container to a pod that is being deleted fails', async () => {
  const containers = new EphemeralContainers(new PodDirectories(root));
  const deleted = { ...pod, metadata: { ...metadata, uid: 'u3' } };
  let isKnown = true;
  const adding = containers.change(
    deleted,
    () => {
      isKnown = false;
      return [shell];
    },
    () => (isKnown ? deleted : undefined),
  );
  await assert.rejects(adding, { code: 'failed_precondition', message: 'debug pod default/web: it is being deleted' });
  assert.equal(containers.complete(deleted), deleted);
});

test('invalid records, and records of pods that are in no source, are ignored', { timeout: 10_000 }, async () => {
  const directories = new PodDirectories(mkdtempSync(join(root, 'records-')));
  const records = { u1: '{}', u2: '[{"image": 5}]', u3: 'nonsense', u4: '[{"name": "shell", "image": "busybox:1"}]' };
  for (const [uid, text] of Object.entries(records)) {
    mkdirSync(directories.pod(uid), { recursive: true });
    writeFileSync(directories.ephemeralContainers(uid), text);
  }
  mkdirSync(directories.pod('u5'));
  await runChecked('mkfifo', [directories.ephemeralContainers('u5')]);
  const ignored: unknown[] = [];
  const containers = new EphemeralContainers(directories);
  await containers.load({ ...silentLogger, warn: (fields) => void ignored.push(fields) });
  const added = (uid: string) =>
    containers.complete({ ...pod, metadata: { ...metadata, uid } }).spec.ephemeralContainers;
  assert.deepEqual(
    Object.keys(records).map((uid) => added(uid)?.length),
    [undefined, undefined, undefined, 1],
  );
  assert.equal(ignored.length, 4);
  containers.keepOnly(() => false);
  assert.equal(added('u4'), undefined);
});

test('an ephemeral container runs once, appears in the pod, and survives a kubelet restart', async (t) => {
  const manifest = `
apiVersion: v1
kind: Pod
metadata: {name: web, uid: u1}
spec: {containers: [{name: app, image: 'busybox:1'}]}
`;
  const fake = await startFakeKubelet({ manifest });
  t.after(() => fake.close());
  const running = await fake.pod('web', ({ status }) => status?.phase === 'Running');
  await fake.handle.changeEphemeralContainers(running, () => [shell]);
  const stateOf = ({ status }: Pod) => status?.ephemeralContainerStatuses?.[0]?.state;
  await fake.pod('web', (one) => stateOf(one)?.running !== undefined);
  fake.runtime.exitContainer(fake.runtime.containerNamed('shell').id, { exitCode: 3 });
  const ended = await fake.pod('web', (one) => stateOf(one)?.terminated !== undefined);
  assert.equal(ended.status!.phase, 'Running');
  await fake.restart();
  const after = await fake.pod('web', (one) => stateOf(one)?.terminated?.exitCode === 3);
  assert.equal(after.spec.ephemeralContainers![0]!.name, 'shell');
  const made = fake.runtime.calls.filter(({ method }) => method === 'createContainer');
  assert.equal(made.length, 2, 'neither container was started again');
});
