/** The daemon with upstream's configuration: starting without a runtime or a network, and notifying systemd. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { freePort } from '../../packages/kubelet-server/src/served-api.fixture.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NodePlace } from '../pods/node.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';
import { busyboxImage } from './containerd.fixture.ts';
import { type RestartableRuntime, startOtherRuntime } from './suite-runtime.fixture.ts';

let bundle: Bundle;
let runtime: RestartableRuntime;
before(async () => {
  [bundle, runtime] = await Promise.all([buildBundle(), startOtherRuntime('ks')]);
});
after(async () => {
  await runtime.stop();
  bundle.remove();
});

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const pod = (name: string, rest = '') => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  dnsPolicy: ClusterFirst${rest}
  containers: [{name: app, image: ${busyboxImage}, command: [sh, -c, 'trap "exit 0" TERM; while :; do sleep 0.1; done']}]
`;

test('a kubelet waits for its runtime and the network, and reports it', async (context) => {
  const place = new NodePlace(bundle, '10.99.135.0/24');
  context.after(() => place.remove());
  const late = place.path('input', 'late.sock');
  mkdirSync(place.path('input', 'static'));
  writeFileSync(place.path('input', 'static', 'web.yaml'), pod('web'));
  writeFileSync(place.path('input', 'static', 'agent.yaml'), pod('agent', '\n  hostNetwork: true'));
  const healthzPort = await freePort();
  const config = place.file(
    'kubelet.yaml',
    `${HEAD}failCgroupV1: false
failSwapOn: false
enableServer: false
healthzPort: ${healthzPort}
staticPodPath: static
containerRuntimeEndpoint: unix://${late}
clusterDNS: [10.0.0.10]
clusterDomain: from.file
maxPods: 7
`,
  );
  const dropIns = place.path('input', 'kubelet.conf.d');
  mkdirSync(dropIns);
  writeFileSync(join(dropIns, '10.conf'), `${HEAD}maxPods: 8\n`);
  const network = join(runtime.scratch, 'cni');
  renameSync(network, `${network}.away`);
  mkdirSync(network);

  const notifications = place.path('input', 'notified');
  const socket = place.path('input', 'notify');
  const systemd = place.startProgram('socat', '-u', `UNIX-RECV:${socket}`, `OPEN:${notifications},creat,append`);
  context.after(() => systemd.child.kill());
  const flags = ['--config', config, '--config-dir', dropIns, '--cluster-domain=from.flag', '-v=4'];
  const environment = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '1500000' };
  const kubelet = new StartedProgram(place.command('kubelet', ...flags), { env: environment });
  const wasNotified = (text: string) => place.until(() => readFileSync(notifications, 'utf8').includes(text));
  await place.until(() => readText(notifications) !== undefined);
  await wasNotified('READY=1');
  assert.match(readFileSync(notifications, 'utf8'), /STATUS=container runtime is down/);
  const health = async () => {
    const answer = await fetch(`http://127.0.0.1:${healthzPort}/healthz/syncloop`);
    return `${answer.status} ${await answer.text()}`;
  };
  assert.match(await health(), /^500 internal server error: the container runtime is down: .*late\.sock/);
  for (const command of [['ps'], ['run', '--detach', place.file('other.yaml', pod('other'))]]) {
    const { code, err } = await place.call(...command);
    assert.deepEqual([code, /the container runtime is down: .*; the kubelet waits for it/.test(err)], [1, true], err);
  }
  await wasNotified('WATCHDOG=1');

  symlinkSync(runtime.endpoint.replace('unix://', ''), late);
  const pods = async (): Promise<Pod[]> => ((await place.call('ps')).code === 0 ? place.pods() : []);
  const ids = async () =>
    (await pods()).map(({ status }) => [status?.phase, status?.containerStatuses?.[0]?.containerID]);
  const phases = async () =>
    Object.fromEntries((await pods()).map(({ metadata, status }) => [metadata.name, status?.phase]));
  await place.until(async () => (await phases()).agent === 'Running');
  await place.until(async () => /NetworkNotReady/.test(await place.ok('events')));
  const events = await place.ok('events');
  assert.match(
    events,
    /network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady/,
  );
  assert.match(events, /Starting kubelet\./);
  assert.equal((await phases()).web, 'Pending');
  assert.match(
    await place.ok('get', 'nodes', '-o', 'json'),
    /"container runtime network not ready: NetworkReady=false/,
  );

  renameSync(join(`${network}.away`, '10-test.conflist'), join(network, '10-test.conflist'));
  await place.until(async () => (await phases()).web === 'Running');
  const node = await place.ok('get', 'nodes', '-o', 'json');
  assert.match(node, /"KubeletReady"/);
  assert.match(node, /"pods": "8"/);
  assert.equal(await health(), '200 ok');
  const resolvConf = await place.ok('exec', 'web', '--', 'cat', '/etc/resolv.conf');
  assert.match(resolvConf, /nameserver 10\.0\.0\.10/);
  assert.match(resolvConf, /from\.flag/);

  const empty = place.path('input', 'empty');
  mkdirSync(empty);
  const running = await ids();
  const second = new StartedProgram(place.command('kubelet', ...flags, '--pod-manifest-path', empty));
  const { code, err } = await second.ended();
  // a daemon that had started would have logged more at this log level
  assert.deepEqual(
    [code, /^podwright: listen on .*a running daemon already answers there.*\n$/.test(err)],
    [1, true],
    err,
  );
  const otherState = ['--state', place.path('input', 'state')];
  const sameRoot = [1, 2].map(
    () => new StartedProgram(place.command('kubelet', ...flags, '--pod-manifest-path', empty, ...otherState)),
  );
  for (const third of sameRoot) {
    const ended = await third.ended();
    const refusal =
      /^podwright: start the kubelet: another kubelet uses the root directory .*\/root\/kubelet; stop it, /m;
    assert.deepEqual([ended.code, refusal.test(ended.err)], [1, true], ended.err);
  }
  assert.deepEqual(await ids(), running, 'the other kubelets have not killed pods of the first');
  kubelet.child.kill('SIGTERM');
  assert.equal((await kubelet.ended()).code, 0);
  await wasNotified('STOPPING=1');
});

test('a kubelet whose port is in use exits, and leaves nothing running', async (context) => {
  const place = new NodePlace(bundle, '10.99.135.0/24');
  context.after(() => place.remove());
  const other = createServer().listen(0, '127.0.0.1');
  context.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const config = place.file(
    'kubelet.yaml',
    `${HEAD}failCgroupV1: false
failSwapOn: false
enableServer: false
healthzPort: ${port}
containerRuntimeEndpoint: ${runtime.endpoint}
`,
  );
  const kubelet = new StartedProgram(place.command('kubelet', '--config', config));
  const { code, err } = await kubelet.ended();
  assert.deepEqual([code, /EADDRINUSE|is taken|already in use/.test(err)], [1, true], err);
  const left = readdirSync(place.path('root', 'kubelet'), { recursive: true }).filter((path) =>
    /\.(sock|lock)$/.test(String(path)),
  );
  assert.deepEqual(left, [], 'every server is closed');
});

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
