/** Pods that try to use up the host's memory and PIDs: other pods and the node keep running. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import {
  type CgroupHierarchy,
  delegatedUnit,
  discoverCgroups,
  isSystemdHost,
  readCgroupFile,
  readCgroupStats,
  readOomKills,
  systemdObstacle,
  treeOf,
} from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

/** The pods' PID limit, small enough that the attacks do not affect this host. */
const POD_PIDS = 64;
const MEMORY_OF_PODS = 256 * 2 ** 20;
/** Configuration without eviction, so that only the limits are tested: under memory pressure, the kubelet would reject the other pods. */
const NO_EVICTION = '[kubelet.eviction]\nhard = {}\n';
/** A fork bomb of at most 511 processes. Because of `exec`, the first process stays. */
const FORK_BOMB = 'b() { [ $1 -gt 0 ] && { b $(($1-1)) & b $(($1-1)) & }; exec sleep 1000; }; b 8 & exec sleep 1000';
/** A script that repeatedly allocates 1 GiB at once. */
const MEMORY_HOG = 'while :; do dd if=/dev/zero of=/dev/null bs=1G count=1; done';

let bundle: Bundle;
let cgroups: CgroupHierarchy;
before(async () => {
  [bundle, cgroups] = await Promise.all([buildBundle(), discoverCgroups()]);
});
after(() => bundle.remove());

type Node = { place: NodePlace; daemon: StartedProgram };

async function startNode(context: TestContext, subnet: string, toml: string): Promise<Node> {
  const place = new NodePlace(bundle, subnet);
  context.after(() => place.remove());
  const daemon = await place.startDaemon('--config', place.file('config.toml', toml), 'node');
  await place.loadImage();
  return { place, daemon };
}

async function stop({ place, daemon }: Node): Promise<void> {
  for (const { metadata } of await place.pods()) await place.ok('delete', metadata.name);
  daemon.child.kill('SIGTERM');
  assert.equal((await daemon.ended()).code, 0);
}

/** Returns the path of a cgroup under the node's `kubepods` cgroup, within the delegated unit if the host runs systemd. */
function kubepods({ place }: Node, ...below: string[]): string {
  const { cgroupParent } = place.scope;
  const isDelegated = systemdObstacle({ systemd: isSystemdHost(), mode: cgroups.mode }) === undefined;
  return join(isDelegated ? `/${delegatedUnit(cgroupParent)}/pods` : cgroupParent, 'kubepods', ...below);
}

async function podNamed({ place }: Node, name: string): Promise<Pod> {
  return (await place.pods()).find(({ metadata }) => metadata.name === name)!;
}

/** Returns the cgroup of a BestEffort pod. */
async function podCgroup(node: Node, name: string): Promise<string> {
  return kubepods(node, 'besteffort', `pod${(await podNamed(node, name)).metadata.uid}`);
}

async function limit(path: string, controller: 'memory' | 'pids'): Promise<number> {
  const tree = treeOf(cgroups, controller)!;
  const file = controller === 'pids' ? 'pids.max' : tree.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
  const text = await readCgroupFile(join(tree.mountPoint, path, file));
  return text?.trim() === 'max' ? Number.POSITIVE_INFINITY : Number(text);
}

test('a fork bomb and a memory-consuming pod do not affect the node and other pods', async (context) => {
  const memory = totalmem() - MEMORY_OF_PODS;
  const node = await startNode(
    context,
    '10.99.121.0/24',
    `[kubelet]\npod_pids_limit = ${POD_PIDS}\n[kubelet.system_reserved]\nmemory = "${memory}"\n${NO_EVICTION}`,
  );
  const { place, daemon } = node;
  const bomb = place.file('bomb.yaml', podManifest('bomb', FORK_BOMB));
  const hog = place.file('hog.yaml', podManifest('hog', MEMORY_HOG));
  await Promise.all([bomb, hog].map((file) => place.ok('run', '--detach', file)));
  assert.ok(Math.abs((await limit(kubepods(node), 'memory')) - MEMORY_OF_PODS) < 4096);

  const bombed = await podCgroup(node, 'bomb');
  const threads = async () => (await readCgroupStats(cgroups, bombed)).threads?.current ?? 0;
  await place.until(async () => (await threads()) === POD_PIDS);
  const { containerID } = (await podNamed(node, 'hog')).status!.containerStatuses![0]!;
  const hogs = await podCgroup(node, 'hog');
  const eaten = join(hogs, containerID!.replace('podwright://', ''));
  // with cgroup v2, the entire container is killed and restarted, so read the pod's cgroup, which remains; with v1, only container cgroups
  // count OOM kills
  const oomKills = () => Math.max(readOomKills(cgroups, hogs), readOomKills(cgroups, eaten));
  await place.until(async () => oomKills() > 0);

  const probe = '    readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1}\n';
  await place.ok('run', '--detach', place.file('web.yaml', podManifest('web', forever) + probe));
  const kills = oomKills();
  await place.until(async () => oomKills() > kills);
  assert.equal(await place.ok('exec', 'web', '--', 'echo', 'alive'), 'alive\n');
  assert.equal(await threads(), POD_PIDS);
  const web = await podNamed(node, 'web');
  assert.equal(web.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  assert.equal(web.status?.containerStatuses?.[0]?.restartCount, 0);

  const ownCgroups = readFileSync(`/proc/${daemon.child.pid}/cgroup`, 'utf8');
  assert.ok(!ownCgroups.includes(place.scope.cgroupParent), ownCgroups);
  assert.equal(daemon.child.exitCode, null);
  await stop(node);
  assert.equal(await readCgroupFile(join(treeOf(cgroups, 'pids')!.mountPoint, bombed, 'pids.max')), undefined);
});

test('a node with default settings limits each pod, and all pods together to less than the host', async (context) => {
  const node = await startNode(context, '10.99.122.0/24', '');
  const { place } = node;
  await place.ok('run', '--detach', place.file('plain.yaml', podManifest('plain', forever)));
  assert.equal(await limit(await podCgroup(node, 'plain'), 'pids'), 4096);
  const pidMax = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'));
  const [memory, pids] = [await limit(kubepods(node), 'memory'), await limit(kubepods(node), 'pids')];
  assert.ok(memory <= totalmem() - Math.min(256 * 2 ** 20, totalmem() / 2), `${memory} bytes`);
  assert.ok(pids <= pidMax - Math.min(1024, pidMax / 2), `${pids} processes`);
  const report = await place.call('doctor');
  assert.match(
    report.out,
    /^ok +pod defaults +seccomp RuntimeDefault, at most 4096 processes a pod, without NET_RAW$/m,
  );
  assert.match(report.out, new RegExp(`^ok +all pods +at most [\\d.]+ [MG]iB of memory and ${pids} processes$`, 'm'));
  assert.match(await place.ok('describe', 'plain'), /^Processes Limit: +4096$/m);
  await stop(node);
});

test('limits and seccomp filter can be disabled', async (context) => {
  const node = await startNode(
    context,
    '10.99.123.0/24',
    '[kubelet]\npod_pids_limit = -1\nenforce_node_allocatable = false\nseccomp_default = false\n',
  );
  const { place } = node;
  await place.ok('run', '--detach', place.file('free.yaml', podManifest('free', forever)));
  assert.equal(await limit(await podCgroup(node, 'free'), 'pids'), Number.POSITIVE_INFINITY);
  assert.equal(await limit(kubepods(node), 'pids'), Number.POSITIVE_INFINITY);
  assert.ok((await limit(kubepods(node), 'memory')) > totalmem());
  assert.match(await place.ok('describe', 'free'), /Seccomp: +Unconfined \(the node's default\)/);
  await stop(node);
});

test('a reserve that leaves nothing for pods fails the start of the node with the reason', async (context) => {
  const place = new NodePlace(bundle, '10.99.124.0/24');
  context.after(() => place.remove());
  const file = place.file('config.toml', '[kubelet.system_reserved]\nmemory = "8Ei"\n');
  const { code, err } = await place.call('--config', file, 'node');
  assert.notEqual(code, 0);
  assert.match(err, /of memory for the system: the node has \d+, so nothing would be left for pods; lower the reserve/);
});
