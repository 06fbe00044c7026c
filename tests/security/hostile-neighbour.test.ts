/**
 * A pod exhausts each of the kernel resources shared by pods, one after the other. Meanwhile, another pod is started, probed and logs,
 * keeps running while the node is killed and restarted, and is stopped. Add new resources to THINGS. The node has its own network
 * namespace, and per-user resources are exhausted for an otherwise unused UID, so that other programs on the host are not affected. Disks
 * are tested elsewhere (`tests/pods`, `fill-the-state-directory`).
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { NodeClient } from '../../packages/cli/src/client/node-client.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const SUBNET = '10.99.153.0/24';
const GATEWAY = '10.99.153.1';
const USER = 54_321;
/** Timeout of a step of the other pod; on an idle host, a step takes less than a second. */
const STEP_MS = 30_000;

/** How the hostile pod exhausts a kernel resource: its command, and the output that shows that the resource is exhausted. */
type Thing = {
  command: string[];
  begun: RegExp;
  user?: number;
  /** Name of the resource, if another pod with the same user must still be able to allocate a unit of it. */
  shared?: string;
};

const libraries = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[process.arch as 'x64' | 'arm64'];
const loader = { x64: 'ld-linux-x86-64.so.2', arm64: 'ld-linux-aarch64.so.1' }[process.arch as 'x64' | 'arm64'];
/** Files mounted in the hostile pod: the host's Node.js with its libraries, and the program that makes the system calls. */
const TOOLS: Record<string, string> = {
  lib: `/usr/lib/${libraries}`,
  node: realpathSync(process.execPath),
  node_modules: realpathSync(new URL('../../node_modules', import.meta.url)),
  'calls.ts': new URL('./hostile-calls.child.ts', import.meta.url).pathname,
};
const calls = (...args: (string | number)[]) =>
  [`/tools/lib/${loader}`, '--library-path', '/tools/lib', '/tools/node', '/tools/calls.ts', ...args].map(String);
const shell = (script: string) => ['sh', '-c', script];

const THINGS: Record<string, Thing> = {
  processes: {
    command: shell(
      'b() { [ $1 -gt 0 ] && { b $(($1-1)) & b $(($1-1)) & }; exec sleep 1000; }; echo begun; b 8 & exec sleep 1000',
    ),
    begun: /begun/,
  },
  'its log': { command: shell('yes "$(seq 500)"'), begun: /stdout/ },
  'inotify instances': { command: calls('inotify', 400), begun: /holding 400 /, user: USER, shared: 'inotify' },
  'epoll watches': { command: calls('epoll', 200_000), begun: /holding 200000 /, user: USER, shared: 'epoll' },
  'tracked connections': { command: calls('flows', 265_000, GATEWAY), begun: /holding 265000 / },
  'netlink sockets with unread answers': { command: calls('netlink', 100), begun: /holding 100 / },
  'sockets, up to the limit': { command: calls('sockets', 100_000), begun: /holding 1\d{3} sockets EMFILE/ },
};

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, SUBNET);
  writeFileSync(netns(), '');
  execFileSync('unshare', [`--net=${netns()}`, 'ip', 'link', 'set', 'lo', 'up']);
  await startNode();
  await place.loadImage();
});
after(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

const netns = () => place.path('netns');

async function startNode(): Promise<void> {
  const settings = place.file(
    'config.toml',
    '[runtime]\nopen_files_hard_limit = 2000\n[kubelet]\npod_pids_limit = 256\n',
  );
  daemon = place.startProgram('nsenter', `--net=${netns()}`, ...place.command('--config', settings, 'node'));
  await place.until(async () => daemon.child.exitCode !== null || (await isGone('none').catch(() => false)));
  assert.equal(daemon.child.exitCode, null, daemon.err);
}

async function killNode(): Promise<void> {
  daemon.child.kill('SIGKILL');
  await place.until(() => daemon.child.signalCode !== null);
}

/** Returns a pod with the tools; it runs as root unless `user` is set. */
function manifest(name: string, command: string[], { user, rest = {} }: { user?: number; rest?: object } = {}): string {
  const tools = Object.entries(TOOLS).map(([tool, path]) => ({ name: tool.replace(/[^a-z]/g, '-'), path, tool }));
  const container = {
    ...{ name: 'main', image: exampleImage, command },
    resources: { limits: { memory: '256Mi' } },
    securityContext: { runAsUser: user },
    volumeMounts: tools.map(({ name: volume, tool }) => ({
      name: volume,
      mountPath: `/tools/${tool}`,
      readOnly: true,
    })),
    ...rest,
  };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
    spec: {
      terminationGracePeriodSeconds: 1,
      volumes: tools.map(({ name: volume, path }) => ({ name: volume, hostPath: { path } })),
      containers: [container],
    },
  });
}

const fileOf = (name: string) => place.path('root/manifests', `${name}.yaml`);
/** Finds a pod without starting `podwright`, which would take most of the CPU time here. */
const podNamed = async (name: string): Promise<Pod | undefined> =>
  (await new NodeClient(place.path('state/node.sock')).pods()).find(({ metadata }) => metadata.name === name);
const isReady = async (name: string) =>
  (await podNamed(name))?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ===
  true;
const isGone = async (name: string) => (await podNamed(name)) === undefined;

async function end(name: string): Promise<void> {
  rmSync(fileOf(name));
  await place.until(() => isGone(name), STEP_MS);
}

/** Reads the log file directly, because `podwright logs` would be slow with a fast-growing log. */
async function hasBegun({ begun }: Thing): Promise<boolean> {
  const uid = (await podNamed('hostile'))?.metadata.uid;
  const log = place.path('logs', `default_hostile_${uid}`, 'main', '0.log');
  return existsSync(log) && begun.test(readFileSync(log, 'utf8').slice(0, 1000));
}

/** Starts, probes and stops another pod. Its probe uses the network. */
async function otherPod({ shared }: Thing): Promise<void> {
  const probe = { periodSeconds: 1, timeoutSeconds: 5, httpGet: { path: '/', port: 8080 } };
  const serve = shell('echo hello; echo well > /tmp/index.html; exec httpd -f -p 8080 -h /tmp');
  const rest = { readinessProbe: probe, livenessProbe: { ...probe, periodSeconds: 2 } };
  writeFileSync(fileOf('healthy'), manifest('healthy', serve, { user: USER, rest }));
  await place.until(() => isReady('healthy'), STEP_MS);
  assert.equal(await place.ok('logs', 'healthy'), 'hello\n');
  if (shared !== undefined) await place.ok('exec', 'healthy', '--', ...calls(shared, 0));
  await killNode();
  await startNode();
  await place.until(() => isReady('healthy'), STEP_MS);
  assert.equal(await place.ok('exec', 'healthy', '--', 'cat', '/tmp/index.html'), 'well\n');
  assert.equal((await podNamed('healthy'))!.status!.containerStatuses![0]!.restartCount, 0);
  await end('healthy');
}

for (const [name, thing] of Object.entries(THINGS))
  test(`a pod that exhausts ${name} does not affect other pods and the node`, async () => {
    writeFileSync(fileOf('hostile'), manifest('hostile', thing.command, { user: thing.user }));
    try {
      await place.until(() => hasBegun(thing), STEP_MS);
      await otherPod(thing);
      assert.equal((await podNamed('hostile'))!.status!.containerStatuses![0]!.restartCount, 0);
    } finally {
      await end('hostile');
    }
  });

test('packet sockets and kernel keys are refused', async () => {
  const tries = ['packet', 'keys'].map((what) => calls(what, 0).join(' ')).join('; ');
  writeFileSync(fileOf('hostile'), manifest('hostile', shell(`${tries}; sleep 1000`)));
  await place.until(() => hasBegun({ command: [], begun: /holding 0 packet\n.*holding 0 keys\n/s }), STEP_MS);
  await end('hostile');
});
