/** The kubelet on other container runtimes: Debian's containerd 1.6 or a Docker Engine, with both versions of the CRI. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { cgroupDirectory, createCgroup, discoverCgroups, treeOf } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import type { KubeletOptions } from '@podwright/kubelet';
import { busyboxImage } from './containerd.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { docker, onDocker, type RestartableRuntime, startOtherRuntime } from './suite-runtime.fixture.ts';

let runtime: RestartableRuntime;
before(async () => {
  runtime = await startOtherRuntime('cd');
});
after(() => runtime.stop());

async function start(context: TestContext, given: Partial<KubeletOptions> = {}): Promise<RealKubelet> {
  const kubelet = await startRealKubelet(runtime, given);
  context.after(() => kubelet.close());
  return kubelet;
}

/** Returns a container that runs a shell script and exits immediately on SIGTERM. */
const container = (name: string, script: string, rest = '') =>
  `{name: ${name}, image: ${busyboxImage}, command: [sh, -c, ${JSON.stringify(`trap 'exit 0' TERM; ${script}`)}]${rest}}`;
const FOREVER = 'while :; do sleep 0.1; done';

function manifest(name: string, spec: string): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  terminationGracePeriodSeconds: 5\n${spec}`;
}

const isReady = (pod: Pod) =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const statusOf = (pod: Pod, name: string) =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].find(
    (one) => one.name === name,
  )!;

for (const criApiVersion of ['v1', 'v1alpha2'] as const) {
  test(`a pod with all features is started and removed over ${criApiVersion}`, async (context) => {
    const containerLogsDir = join(runtime.scratch, `links-${criApiVersion}`);
    const kubelet = await start(context, { criApiVersion, containerLogsDir });
    assert.equal(kubelet.handle.runtime.apiVersion, criApiVersion);
    const text = manifest(
      'web',
      `  volumes: [{name: site, emptyDir: {}}, {name: greetings, configMap: {name: greetings}}]
  initContainers:
  - ${container('page', 'cat /greetings/hello > /site/index.html', ', volumeMounts: [{name: site, mountPath: /site}, {name: greetings, mountPath: /greetings}]')}
  - ${container('side', FOREVER, ', restartPolicy: Always')}
  containers:
  - name: server
    image: ${busyboxImage}
    command: [httpd, -f, -p, '8080', -h, /site]
    volumeMounts: [{name: site, mountPath: /site, readOnly: true}]
    readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
    resources: {limits: {memory: 64Mi}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: greetings}
data: {hello: 'hello from a ConfigMap'}
`,
    );
    await kubelet.apply('web.yaml', text);
    const pod = await kubelet.pod('web', isReady);
    assert.equal(pod.status!.phase, 'Running');
    assert.equal(statusOf(pod, 'page').state.terminated!.reason, 'Completed');
    assert.ok(statusOf(pod, 'side').started);
    assert.match(await get(pod.status!.podIP!, 8080), /hello from a ConfigMap/);
    assert.deepEqual(await kubelet.podCgroups(), [`pod${pod.metadata.uid}`]);
    const { path } = kubelet.handle.containerLog(pod, { container: 'server', previous: false });
    assert.equal(path, join(kubelet.options.podLogsDir, `default_web_${pod.metadata.uid}/server/0.log`));
    assert.ok(existsSync(path));
    const link = `web_default_server-${statusOf(pod, 'server').containerID!.split('//')[1]}.log`;
    await kubelet.until('logs are linked', () => readdirSync(containerLogsDir).length === 3);
    assert.equal(readlinkSync(join(containerLogsDir, link)), path);
    await kubelet.remove('web.yaml');
    await kubelet.until('the pod is removed', () => kubelet.handle.pods().length === 0);
    const { items } = await kubelet.handle.cri.runtime.listPodSandbox({});
    assert.deepEqual(items, []);
    assert.equal(existsSync(join(kubelet.options.podLogsDir, `default_web_${pod.metadata.uid}`)), false);
    assert.deepEqual(await kubelet.podCgroups(), []);
    await kubelet.until('links are removed', () => readdirSync(containerLogsDir).length === 0);
  });
}

test('a pod with 5,000 variables, each containing the previous one, and the maximum annotations, has all of them', async (context) => {
  const kubelet = await start(context);
  const large = 'x'.repeat((256 << 10) - 'large'.length);
  const variables = Array.from({ length: 5000 }, (_, index) => ({
    name: `V${index}`,
    value: index === 0 ? 'the first' : `$(V${index - 1})`,
  }));
  const script = 'env | grep -c ^V; echo $V4999; wc -c < /about/large';
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'large', annotations: { large } } },
    spec: {
      restartPolicy: 'Never',
      volumes: [
        {
          name: 'about',
          downwardAPI: { items: [{ path: 'large', fieldRef: { fieldPath: "metadata.annotations['large']" } }] },
        },
      ],
      containers: [
        {
          ...{ name: 'main', image: busyboxImage, command: ['sh', '-c', script], env: variables },
          volumeMounts: [{ name: 'about', mountPath: '/about' }],
        },
      ],
    },
  };
  await kubelet.apply('large.yaml', JSON.stringify(pod));
  const ended = await kubelet.pod('large', ({ status }) => status?.phase === 'Succeeded');
  assert.deepEqual(await kubelet.log(ended), ['5000', 'the first', String(large.length)]);
});

test('a container that exits is restarted with growing delays', async (context) => {
  const crashLoopBackoff = { initialMs: 600, maxMs: 5000 };
  const kubelet = await start(context, { crashLoopBackoff });
  await kubelet.apply(
    'crash.yaml',
    manifest('crash', `  containers:\n  - ${container('app', 'echo why > /dev/termination-log; exit 3')}\n`),
  );
  const waiting = await kubelet.pod(
    'crash',
    (pod) => statusOf(pod, 'app')?.state.waiting?.reason === 'CrashLoopBackOff',
  );
  const app = statusOf(waiting, 'app');
  assert.match(app.state.waiting!.message!, /^back-off 600ms restarting failed container=app pod=crash_default\(/);
  assert.equal(app.lastState.terminated!.exitCode, 3);
  assert.equal(app.lastState.terminated!.message!.trim(), 'why');
  const second = await kubelet.pod('crash', (pod) => statusOf(pod, 'app').restartCount === 2);
  const ended = await kubelet.pod('crash', (pod) => /1\.2s/.test(statusOf(pod, 'app').state.waiting?.message ?? ''));
  assert.equal(second.metadata.uid, ended.metadata.uid);
});

test('a container with restart rules is restarted in a pod with restartPolicy Never, and its hook runs each time', async (context) => {
  const kubelet = await start(context, { crashLoopBackoff: { initialMs: 100, maxMs: 200 } });
  const data = ', volumeMounts: [{name: data, mountPath: /data}]';
  const rules =
    'restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]';
  const hook = 'lifecycle: {postStart: {exec: {command: [sh, -c, "echo hook >> /data/hooks"]}}}';
  const counts =
    'until [ $(wc -l < /data/hooks) = $(wc -l < /data/starts) ]; do sleep 0.1; done; [ $(wc -l < /data/starts) -gt 2 ] || exit 42';
  const spec = `  restartPolicy: Never
  containers:
  - ${container('again', `touch /data/hooks; echo start >> /data/starts; ${counts}`, `${data}, ${rules}, ${hook}`)}
  - ${container('once', 'exit 43', `, ${rules}`)}
  volumes: [{name: data, emptyDir: {}}]
`;
  await kubelet.apply('rules.yaml', manifest('rules', spec));
  const pod = await kubelet.pod('rules', ({ status }) => status?.phase === 'Failed');
  const seen = ['again', 'once'].map((name) => {
    const { restartCount, state } = statusOf(pod, name);
    return [restartCount, state.terminated?.exitCode];
  });
  assert.deepEqual(seen, [
    [2, 0],
    [0, 43],
  ]);
});

test('a finished pod keeps its status and its log until its manifest is removed', async (context) => {
  const kubelet = await start(context);
  const spec = `  restartPolicy: OnFailure\n  containers:\n  - ${container('job', 'echo done; [ -e /data/tried ] || { touch /data/tried; exit 1; }', ', volumeMounts: [{name: data, mountPath: /data}]')}\n  volumes: [{name: data, emptyDir: {}}]\n`;
  await kubelet.apply('job.yaml', manifest('job', spec));
  const pod = await kubelet.pod('job', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(statusOf(pod, 'job').restartCount, 1);
  const { path } = kubelet.handle.containerLog(pod, { container: '', previous: false });
  assert.match(await readFile(path, 'utf8'), onDocker ? docker.logLine('done') : / stdout F done$/m);
  await kubelet.restart();
  const again = await kubelet.pod('job', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(statusOf(again, 'job').containerID, statusOf(pod, 'job').containerID);
});

test('processes in a pod’s cgroup that the runtime does not track are killed with the pod', async (context) => {
  const kubelet = await start(context);
  await kubelet.apply('web.yaml', manifest('web', `  containers:\n  - ${container('app', FOREVER)}\n`));
  const pod = await kubelet.pod('web', isReady);
  const lost = spawn('sleep', ['1000'], { stdio: 'ignore' });
  context.after(() => lost.kill('SIGKILL'));
  const ended = once(lost, 'exit');
  await joinCgroup(`${kubelet.options.cgroupRoot}/kubepods/besteffort/pod${pod.metadata.uid}/lost`, lost.pid!);
  await kubelet.remove('web.yaml');
  await kubelet.until('the pod is removed', () => kubelet.handle.pods().length === 0);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.deepEqual(await kubelet.podCgroups(), []);
});

test('containers are stopped gracefully: preStop, then SIGTERM, and SIGKILL after the grace period', async (context) => {
  const kubelet = await start(context);
  const shared = ', volumeMounts: [{name: out, mountPath: /out}]';
  const hook = `, lifecycle: {preStop: {exec: {command: [sh, -c, 'echo hook >> /out/order']}}}`;
  const polite = `{name: polite, image: ${busyboxImage}, command: [sh, -c, 'trap "echo term >> /out/order; exit 0" TERM; ${FOREVER}']${shared}${hook}}`;
  const stubborn = `{name: stubborn, image: ${busyboxImage}, command: [sh, -c, 'trap "" TERM; ${FOREVER}']}`;
  const out = join(kubelet.options.rootDir, 'out');
  const spec = `  containers:\n  - ${polite}\n  - ${stubborn}\n  volumes: [{name: out, hostPath: {path: ${out}, type: DirectoryOrCreate}}]\n`;
  await kubelet.apply('stop.yaml', manifest('stop', spec).replace('Seconds: 5', 'Seconds: 2'));
  const pod = await kubelet.pod('stop', isReady);
  const startedAtMs = performance.now();
  await kubelet.remove('stop.yaml');
  await kubelet.pod('stop', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  await kubelet.until('the pod is removed', () => kubelet.handle.pods().length === 0);
  const elapsedMs = performance.now() - startedAtMs;
  assert.equal(readFileSync(join(out, 'order'), 'utf8'), 'hook\nterm\n');
  assert.ok(elapsedMs >= 2000 && elapsedMs < 12_000, `${elapsedMs} ms for ${pod.metadata.name}`);
});

test('killing and restarting the kubelet does not affect running containers', async (context) => {
  const kubelet = await start(context);
  await kubelet.apply('a.yaml', manifest('a', `  containers:\n  - ${container('app', FOREVER)}\n`));
  await kubelet.apply('b.yaml', manifest('b', `  containers:\n  - ${container('app', FOREVER)}\n`));
  const first = await kubelet.pod('a', isReady);
  await kubelet.pod('b', isReady);
  await kubelet.handle.close();
  await kubelet.remove('b.yaml');
  await kubelet.restart();
  const second = await kubelet.pod('a', isReady);
  assert.equal(statusOf(second, 'app').containerID, statusOf(first, 'app').containerID);
  assert.equal(statusOf(second, 'app').restartCount, 0);
  await kubelet.until('the pod without a manifest is removed', async () => {
    const { items } = await kubelet.handle.cri.runtime.listPodSandbox({});
    return items.length === 1;
  });
});

test('a runtime that is killed and restarted keeps its pods, and the kubelet continues to manage them', async (context) => {
  const kubelet = await start(context);
  const signals = join(kubelet.options.rootDir, 'signals');
  mkdirSync(signals);
  const mounts = `, volumeMounts: [{name: signals, mountPath: /signals}]`;
  const probe = ', livenessProbe: {exec: {command: ["true"]}, periodSeconds: 1, failureThreshold: 1}';
  const spec = `  volumes: [{name: signals, hostPath: {path: ${signals}}}]
  containers:
  - ${container('app', 'while ! [ -e /signals/end ]; do sleep 0.1; done; rm /signals/end; exit 1', `${mounts}${probe}`)}
`;
  await kubelet.apply('web.yaml', manifest('web', spec));
  const before = statusOf(await kubelet.pod('web', isReady), 'app');
  const eventsBefore = kubelet.handle.events().length;
  await runtime.restart(() =>
    kubelet.apply('late.yaml', manifest('late', `  containers:\n  - ${container('app', FOREVER)}\n`)),
  );
  await kubelet.pod('late', isReady);
  const after = statusOf(await kubelet.pod('web', isReady), 'app');
  assert.deepEqual([after.containerID, after.restartCount], [before.containerID, 0]);
  const ofWeb = kubelet.handle
    .events()
    .slice(eventsBefore)
    .filter(({ involvedObject }) => involvedObject.name === 'web');
  const allowed = /^Liveness probe errored and resulted in unknown state: rpc error: code = Unavailable/; // if the restart took a second
  assert.deepEqual(
    ofWeb.map(({ message }) => message).filter((message) => !allowed.test(message)),
    [],
  );
  writeFileSync(join(signals, 'end'), '');
  const restarted = await kubelet.pod('web', (pod) => isReady(pod) && statusOf(pod, 'app').restartCount === 1);
  assert.equal(statusOf(restarted, 'app').lastState?.terminated?.exitCode, 1);
});

test('a failed liveness probe restarts a container', async (context) => {
  const kubelet = await start(context);
  const probe = `, livenessProbe: {exec: {command: [test, -e, /tmp/alive]}, periodSeconds: 1, failureThreshold: 1}`;
  const script = `touch /tmp/alive; sleep 1.5; rm /tmp/alive; ${FOREVER}`;
  await kubelet.apply('live.yaml', manifest('live', `  containers:\n  - ${container('app', script, probe)}\n`));
  const pod = await kubelet.pod('live', (one) => statusOf(one, 'app')?.restartCount === 1);
  assert.ok(pod);
  const events = kubelet.handle.events().map(({ reason }) => reason);
  assert.ok(events.includes('Unhealthy') && events.includes('Killing'), events.join(' '));
});

test('twenty pods are started and removed at once', async (context) => {
  const kubelet = await start(context);
  const names = Array.from({ length: 20 }, (_, index) => `pod-${index}`);
  const one = (name: string) => manifest(name, `  containers:\n  - ${container('app', FOREVER)}\n`);
  await kubelet.apply('many.yaml', names.map(one).join('\n---\n'));
  await kubelet.until('all are ready', () => kubelet.handle.pods().filter(isReady).length === 20);
  await kubelet.remove('many.yaml');
  await kubelet.until('all are removed', () => kubelet.handle.pods().length === 0);
  assert.deepEqual((await kubelet.handle.cri.runtime.listPodSandbox({})).items, []);
  assert.deepEqual(await kubelet.podCgroups(), []);
});

/** Moves a process to a new cgroup in the `pids` hierarchy. */
async function joinCgroup(path: string, pid: number): Promise<void> {
  const hierarchy = await discoverCgroups();
  const tree = treeOf(hierarchy, 'pids')!;
  await createCgroup({ ...hierarchy, trees: [tree] }, path);
  writeFileSync(join(cgroupDirectory(tree, path), 'cgroup.procs'), String(pid));
}

/** Returns the response of an HTTP server to `GET /`. */
async function get(host: string, port: number): Promise<string> {
  const socket = connect(port, host);
  socket.end('GET / HTTP/1.0\r\n\r\n');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  await once(socket, 'close');
  return text;
}

test('resources changed in a manifest change the cgroups of the running pod and its container', async (context) => {
  const kubelet = await start(context);
  const sized = (cpu: string, memory: string) =>
    manifest(
      'sized',
      `  containers:\n  - ${container('main', FOREVER, `, resources: {limits: {cpu: ${cpu}, memory: ${memory}}}`)}\n`,
    );
  await kubelet.apply('sized.yaml', sized('200m', '64Mi'));
  const before = await kubelet.pod('sized', isReady);
  const memoryOf = async (pod: Pod) => {
    const hierarchy = (await discoverCgroups())!;
    const tree = treeOf(hierarchy, 'memory')!;
    const file = tree.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
    const path = join(kubelet.options.cgroupRoot, 'kubepods', `pod${pod.metadata.uid}`);
    const id = statusOf(pod, 'main').containerID!.replace(/^.*:\/\//, '');
    const read = (at: string) => readFile(join(cgroupDirectory(tree, at), file), 'utf8').then((text) => Number(text));
    return [await read(path), await read(join(path, id))];
  };
  assert.deepEqual(await memoryOf(before), [64 << 20, 64 << 20]);
  for (const [cpu, memory, bytes] of [
    ['300m', '128Mi', 128 << 20],
    ['100m', '32Mi', 32 << 20],
  ] as const) {
    await kubelet.apply('sized.yaml', sized(cpu, memory));
    const now = await kubelet.pod('sized', (pod) => {
      const resizing = pod.status!.conditions!.some(({ type }) => type === 'PodResizeInProgress');
      return !resizing && statusOf(pod, 'main').resources?.limits?.memory === memory;
    });
    assert.deepEqual(await memoryOf(now), [bytes, bytes]);
    assert.equal(statusOf(now, 'main').restartCount, 0);
    assert.equal(statusOf(now, 'main').containerID, statusOf(before, 'main').containerID);
  }
});

test('limits are added to a running container, and removed again', async (context) => {
  const kubelet = await start(context);
  const hierarchy = (await discoverCgroups())!;
  const sized = (more: string) =>
    manifest('sized', `  containers: [${container('main', FOREVER, `, resources: {requests: {cpu: 10m}${more}}`)}]`);
  await kubelet.apply('sized.yaml', sized(''));
  const pod = await kubelet.pod('sized', isReady);
  const { uid } = pod.metadata;
  const id = statusOf(pod, 'main').containerID!.split('//')[1]!;
  const read = (controller: 'cpu' | 'memory', cgroup: string) => {
    const tree = treeOf(hierarchy, controller)!;
    const v1 = { cpu: 'cpu.cfs_quota_us', memory: 'memory.limit_in_bytes' };
    const v2 = { cpu: 'cpu.max', memory: 'memory.max' };
    const directory = cgroupDirectory(tree, `${kubelet.options.cgroupRoot}/kubepods/burstable/pod${uid}${cgroup}`);
    return readFileSync(join(directory, (tree.version === 1 ? v1 : v2)[controller]), 'utf8').trim();
  };
  const limits = () => ['', `/${id}`].map((cgroup) => `${read('cpu', cgroup)} ${read('memory', cgroup)}`);
  const before = limits();
  await kubelet.apply('sized.yaml', sized(', limits: {cpu: 100m, memory: 64Mi}'));
  await kubelet.until('pod and container are limited', () =>
    limits().every((one) => /^10000( 100000)? 67108864$/.test(one)),
  );
  await kubelet.apply('sized.yaml', sized(''));
  if (onDocker) {
    const resizeOf = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodResizeInProgress');
    const refused = await kubelet.pod('sized', (one) => resizeOf(one)?.reason === 'Error');
    return assert.match(resizeOf(refused)!.message!, docker.memoryLimitStays);
  }
  await kubelet.until('the limits are removed', () => limits().join() === before.join());
  const after = await kubelet.pod(
    'sized',
    ({ status }) => status?.containerStatuses?.[0]?.resources?.limits === undefined,
  );
  assert.equal(after.metadata.uid, uid);
  assert.equal(statusOf(after, 'main').restartCount, 0);
});
