/** On a host with systemd, a node detects the cgroup driver and runs its pods in one delegated unit. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import { delegatedUnit } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace, podManifest } from '../pods/node.fixture.ts';
import { countJobs, pidsBelow, readCgroup, reloadSystemd, stopUnits, unitsWith } from './systemd.fixture.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

function makePlace(context: TestContext, number: number) {
  const place = new NodePlace(bundle, `10.99.${number}.0/24`);
  context.after(() => place.remove());
  const unit = delegatedUnit(place.scope.cgroupParent);
  const isClean = () => unitsWith(unit).length === 0 && !existsSync(`/sys/fs/cgroup/${unit}`);
  return { place, unit, isClean };
}

const limited = (name: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: ${exampleImage}
    command: [sh, -c, "exec sleep 1000"]
    resources: {limits: {memory: 64Mi, cpu: 500m}}
`;

test('pods stay in the delegated unit, with their limits, over a kill -9 of the node and reloads of systemd', async (context) => {
  const { place, unit, isClean } = makePlace(context, 40);
  await place.ok('doctor');
  assert.ok(!existsSync(`/sys/fs/cgroup${place.scope.cgroupParent}`), 'commands without a node leave nothing behind');
  await place.loadImage();
  assert.ok(isClean(), 'a node that was started only for a command leaves nothing behind');
  assert.match(await place.ok('doctor'), /^ok +cgroup driver +systemd: systemd is the init process/m);
  const daemon = await place.startDaemon('node');
  const jobs = countJobs();
  await place.ok('run', '--detach', place.file('one.yaml', limited('one')));
  const [pod] = await place.pods();
  const cgroup = `/${unit}/pods/kubepods/pod${pod!.metadata.uid}`;
  const limits = () => ['memory.max', 'cpu.max', 'pids.max'].map((file) => readCgroup(cgroup, file));
  assert.deepEqual(limits(), [String(64 << 20), '50000 100000', '4096']);
  const pids = pidsBelow(cgroup);
  assert.equal(pids.length, 1);
  assert.equal(countJobs(), jobs, 'a pod needs no systemd jobs');

  daemon.child.kill('SIGKILL');
  await daemon.ended().catch(() => undefined);
  reloadSystemd();
  const again = await place.startDaemon('node');
  reloadSystemd();
  await place.until(async () => (await place.pods())[0]?.status?.phase === 'Running');
  assert.deepEqual(limits(), [String(64 << 20), '50000 100000', '4096']);
  assert.deepEqual(pidsBelow(cgroup), pids, 'the same process keeps running');
  await place.ok('delete', 'one');
  await place.until(() => !existsSync(`/sys/fs/cgroup${cgroup}`));
  again.child.kill('SIGTERM');
  await again.ended();
  const job = podManifest('job', 'echo all is well', '  restartPolicy: Never\n');
  await place.ok('run', '--once', place.file('job.yaml', job));
  assert.ok(isClean(), 'a node without pods leaves nothing behind');
});

test('a configured driver is used', async (context) => {
  const { place, isClean } = makePlace(context, 41);
  await place.loadImage();
  const daemon = await place.startDaemon('--cgroup-driver', 'cgroupfs', 'node');
  await place.ok('run', '--detach', place.file('one.yaml', limited('one')));
  const [pod] = await place.pods();
  assert.equal(pidsBelow(`${place.scope.cgroupParent}/kubepods/pod${pod!.metadata.uid}`).length, 1);
  assert.ok(isClean());
  await place.ok('delete', 'one');
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

test('a separate kubelet creates a slice for each pod if its runtime reports the systemd driver', async (context) => {
  const { place, unit } = makePlace(context, 42);
  await place.loadImage();
  const runtime = place.start('runtime');
  await place.until(() => existsSync(place.path('state/cri.sock')));
  const endpoint = ['--container-runtime-endpoint', place.path('state/cri.sock')];
  const kubelet = await place.startDaemon('kubelet', ...endpoint);
  await place.ok('run', '--detach', place.file('one.yaml', limited('one')));
  const [pod] = await place.pods();
  const top = `${place.scope.cgroupParent.slice(1).replaceAll('-', '_')}`;
  const slice = `${top}-kubepods-pod${pod!.metadata.uid.replaceAll('-', '_')}.slice`;
  const cgroup = `/${top}.slice/${top}-kubepods.slice/${slice}`;
  const limits = () => ['memory.max', 'cpu.max'].map((file) => readCgroup(cgroup, file));
  assert.deepEqual(limits(), [String(64 << 20), '50000 100000']);
  assert.equal(pidsBelow(cgroup).length, 1);
  reloadSystemd();
  assert.deepEqual(limits(), [String(64 << 20), '50000 100000']);
  await place.ok('delete', 'one');
  await place.until(() => unitsWith(slice).length === 0 && !existsSync(`/sys/fs/cgroup${cgroup}`));
  for (const daemon of [kubelet, runtime]) {
    daemon.child.kill('SIGTERM');
    await daemon.ended();
  }
  stopUnits(unit, `${top}.slice`);
  await place.until(() => unitsWith(top).length === 0);
});
