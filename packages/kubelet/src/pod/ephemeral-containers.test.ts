import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '../api/types.ts';
import { startFakeKubelet } from '../fake-kubelet.fixture.ts';
import { PodDirectories } from '../volumes/pod-directories.ts';
import { EphemeralContainers } from './ephemeral-containers.ts';

const root = mkdtempSync(join(tmpdir(), 'podwright-ephemeral-'));
after(() => rmSync(root, { recursive: true }));

const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app', image: 'busybox' }] } };
const shell = { name: 'shell', image: 'busybox:1' };

test('what was added to a pod is there after a restart, and cannot be taken back', async () => {
  const directories = new PodDirectories(root);
  const before = new EphemeralContainers(directories);
  await before.set(pod, [shell]);
  const later = new EphemeralContainers(directories);
  assert.equal(later.complete(pod), pod);
  await later.load(silentLogger);
  const [kept] = later.complete(pod).spec.ephemeralContainers!;
  assert.equal(kept!.imagePullPolicy, 'IfNotPresent');
  await later.set(pod, [kept!, { ...shell, name: 'second' }]);
  await assert.rejects(later.set(pod, [{ ...shell, name: 'second' }]), /containers "shell" may not be removed/);
  await assert.rejects(later.set(pod, [{ ...kept!, image: 'other' }]), /"shell" may not be changed/);
  await assert.rejects(later.set(pod, [kept!, { ...shell, name: 'app' }]), /container "app" is there already/);
});

test('a container for debugging runs once in a pod, is shown, and outlives a restart of the kubelet', async (t) => {
  const manifest = `
apiVersion: v1
kind: Pod
metadata: {name: web, uid: u1}
spec: {containers: [{name: app, image: 'busybox:1'}]}
`;
  const fake = await startFakeKubelet({ manifest });
  t.after(() => fake.close());
  const running = await fake.pod('web', ({ status }) => status?.phase === 'Running');
  await fake.handle.setEphemeralContainers(running, [shell]);
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
