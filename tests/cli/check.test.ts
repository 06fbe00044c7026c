/** What `podwright check` and `apply` report, and how pods that cannot start are listed. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { after, before, test } from 'node:test';
import { runProgram } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, freePort, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.241.0/24');
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const container = `containers: [{name: main, image: "${exampleImage}"`;
const deployment = (name: string, spec: string) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec:\n  template:\n    spec:\n      ${spec}\n`;
const gpu = (name: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  ${container}, resources: {limits: {e.com/gpu: 1}}}]\n`;
const withPort = (name: string, port: number) =>
  `${podManifest(name, forever)}    ports: [{containerPort: 80, hostPort: ${port}}]\n`;

test('check checks the pods of workloads and prints a summary', async () => {
  const file = place.file(
    'all.yaml',
    [
      deployment('web', `${container}, ports: [{containerPort: 0}]}]`),
      deployment('disk', `{${container}}], volumes: [{name: v, hostPath: {path: /none/there, type: Directory}}]}`),
      podManifest('fine', forever),
    ].join('---\n'),
  );
  const { code, out } = await place.call('check', file);
  assert.equal(code, 1);
  assert.match(out, /:7:\d+: spec\.template\.spec\.containers\[0\]\.ports\[0\]\.containerPort: /);
  assert.match(
    out,
    /:15:\d+: spec\.template\.spec\.volumes\[0\]\.hostPath\.path: \/none\/there is not there, .* \(Deployment default\/disk\)$/m,
  );
  assert.match(out, /\nchecked 1 Pod and 2 Deployments: 2 problems\n$/);
});

test('check does not mention features of a node with a Kubernetes API if the manifest requires one', async () => {
  const spec = `serviceAccountName: robot\n      volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {}}}}]\n      ${container}}]`;
  const policy = 'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: NAME}\n';
  const file = place.file(
    'api.yaml',
    [deployment('web', spec), policy.replace('NAME', 'a'), policy.replace('NAME', 'b')].join('---\n'),
  );
  const { code, out } = await place.call('check', file);
  assert.equal(code, 0, out);
  assert.match(out, /\nchecked 1 Deployment and 2 NetworkPolicies: no problems\n$/);
});

test('check works for a user without access to the node and reports which checks were skipped', async () => {
  mkdirSync(place.path('root/kubelet'), { recursive: true });
  for (const directory of ['root', 'state', 'root/kubelet']) {
    mkdirSync(place.path(directory), { recursive: true });
    chmodSync(place.path(directory), 0o700);
  }
  chmodSync(place.directory, 0o755);
  const file = place.file('plain.yaml', podManifest('plain', 'true'));
  const user = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
  const daemon = await place.startDaemon();
  const { exitCode, stdout, stderr } = await runProgram(user[0]!, [...user.slice(1), ...place.command('check', file)]);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  assert.equal(exitCode, 0, `${stdout}${stderr}`);
  assert.match(stdout, /^note: the node answers only root: existing pods, .* are not checked$/m);
  assert.match(stdout, /^note: \S+\/root\/kubelet is not accessible to this user: .* that of \S+$/m);
  assert.match(stdout, /^checked 1 Pod: no problems, 2 notes$/m);
});

test('a pod that waits for a device is listed with the reason and can be deleted', async () => {
  const daemon = await place.startDaemon();
  await place.loadImage();
  const file = place.file('gpu.yaml', gpu('gpu'));
  const why = 'no device plugin offers e.com/gpu now';
  const { code, err } = await place.call('apply', file);
  assert.equal(code, 0, err);
  assert.match(
    err,
    /^warning: .*gpu\.yaml:\d+:\d+: spec\.containers\[0\]\.resources\.limits\[e\.com\/gpu\]: no device/,
  );
  for (const command of [['ps'], ['get', 'pods']])
    assert.match(await place.ok(...command), /\bgpu +0\/1 +WaitingForDevices +0\b/);
  const described = await place.ok('describe', 'gpu');
  assert.match(described, new RegExp(`^Status: +WaitingForDevices\nMessage: +${why}$`, 'm'));
  const checked = await place.call('check', file);
  assert.equal(checked.code, 1);
  assert.match(checked.out, new RegExp(`^problem: .*: ${why}; the pod waits until one does `, 'm'));
  await place.ok('delete', 'gpu');
  assert.doesNotMatch(await place.ok('ps'), /gpu/);
  const run = await place.call('run', '--timeout', '1s', file);
  assert.match(run.err, new RegExp(`^gpu: WaitingForDevices: ${why}$`, 'm'));
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

test('a pod that replaces a slowly terminating one is accepted and listed at once', async () => {
  const daemon = await place.startDaemon();
  await place.loadImage();
  const stubborn = podManifest('slow', 'trap "" TERM; while :; do sleep 0.2; done').replace(
    'terminationGracePeriodSeconds: 2',
    'terminationGracePeriodSeconds: 20',
  );
  await place.ok('run', '--detach', place.file('slow.yaml', stubborn));
  await place.ok('apply', place.file('slow.yaml', stubborn.replace('0.2', '0.3')));
  const { items } = await place.json<{
    items: { metadata: { deletionTimestamp?: string }; status: { phase: string } }[];
  }>('ps');
  assert.deepEqual(
    items.map(({ metadata, status }) => [metadata.deletionTimestamp !== undefined, status.phase]).toSorted(),
    [
      [false, 'Pending'],
      [true, 'Running'],
    ],
  );
  await place.ok('delete', 'slow', '--force');
  await place.until(async () => (await place.pods()).length === 0);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

test('check, apply and events report a host port in use and its user', async (context) => {
  const daemon = await place.startDaemon();
  await place.loadImage();
  const port = await freePort();
  const first = place.file('first.yaml', withPort('first', port));
  const second = place.file('second.yaml', withPort('second', port));
  await place.ok('run', '--detach', first);
  assert.match((await place.call('check', first)).out, /no problems/);
  const held = new RegExp(`port ${port}/TCP of the host is taken by pod default/first`);
  assert.match((await place.call('check', second)).out, held);
  assert.match((await place.call('apply', second)).err, held);
  assert.match(await place.ok('events', '--for', 'pod/second'), held);
  await place.ok('delete', 'first', 'second');
  const server = await listen(port);
  context.after(() => server.close());
  const byProgram = new RegExp(`port ${port}/TCP of the host is taken by .* \\(process ${process.pid}\\)`);
  const checked = await place.call('check', first);
  assert.equal(checked.code, 1);
  assert.match(checked.out, byProgram);
  assert.match((await place.call('apply', first)).err, byProgram);
  await place.until(async () => byProgram.test(await place.ok('events', '--for', 'pod/first')));
  await place.ok('delete', 'first');
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

async function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '0.0.0.0');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}
