/**
 * Kills the node with SIGKILL while twenty pods are starting, running and stopping; a new node recovers all of them. The kills happen at
 * random times; TEST_SEED repeats an earlier run.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { silentLogger, sleep } from '@podwright/base';
import { ContainerState, connectCri, PodSandboxState } from '@podwright/cri';
import type { Pod } from '@podwright/kube-api';
import { seededRandom } from '../../packages/base/src/fuzz.fixture.ts';
import { takeInventory } from '../fixtures/host-inventory.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const POD_COUNT = 20;
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1e6));
const random = seededRandom(seed);
/** Returns a random time in each of the consecutive intervals that end at `ends` (ms). */
const momentsWithin = (...ends: number[]) =>
  ends.map((endMs, index) => (ends[index - 1] ?? 0) + random(endMs - (ends[index - 1] ?? 0)));
const names = Array.from({ length: POD_COUNT }, (_, index) => `pod-${index}`);
const marked = (name: string) => `: mark-${name}; ${forever}`;

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.98.1.0/24');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const isReady = (pod: Pod) =>
  pod.metadata.deletionTimestamp === undefined &&
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** Returns the PIDs and start times of the containers' init processes, by pod. */
function processesOfPods(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const shells = takeInventory(place.scope).processes.filter((line) => SHELL.test(line));
  const pids = new Set(shells.map((line) => line.split(' ')[0]!));
  for (const line of shells) {
    const [pid, name] = [line.split(' ')[0]!, SHELL.exec(line)![1]!];
    const [, parent, , , , , , , , , , , , , , , , , , startTime] = statOf(pid);
    // a shell's child shows the shell's command line until it execs
    if (startTime === undefined || pids.has(parent!)) continue;
    found.set(name, [...(found.get(name) ?? []), `${pid}@${startTime}`]);
  }
  return found;
}

const SHELL = /^\d+ sh -c : mark-(pod-\d+);/;

/** Returns a process's stat fields, starting with the state (proc_pid_stat(5)); empty if it has exited. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  } catch {
    return [];
  }
}

/** Asserts that every pod exists exactly once, according to both the CRI and the process list, and was not restarted. */
async function assertOnce(): Promise<void> {
  const cri = await connectCri({ runtimeEndpoint: place.path('state/cri.sock'), logger: silentLogger });
  try {
    const { items } = await cri.runtime.listPodSandbox({ filter: { state: { state: PodSandboxState.SANDBOX_READY } } });
    assert.deepEqual(items.map(({ metadata }) => metadata!.name).sort(), [...names].sort());
    const { containers } = await cri.runtime.listContainers({
      filter: { state: { state: ContainerState.CONTAINER_RUNNING } },
    });
    const owners = containers.map(({ labels }) => labels['io.kubernetes.pod.name']!);
    assert.deepEqual(owners.sort(), [...names].sort());
  } finally {
    cri.close();
  }
  const counts = [...processesOfPods()].map(([name, { length }]) => `${name} ${length}`);
  assert.deepEqual(counts.sort(), names.map((name) => `${name} 1`).sort());
}

function assertSame(before: Map<string, string[]>, now: Map<string, string[]>): void {
  for (const [name, processes] of before) assert.deepEqual(now.get(name), processes, `${name} is another process`);
}

/** Kills the node and returns the pods' processes that were running before. A container start in flight might still succeed or fail. */
async function kill(daemon: StartedProgram): Promise<Map<string, string[]>> {
  const running = processesOfPods();
  daemon.child.kill('SIGKILL');
  await daemon.ended().catch(() => undefined);
  return running;
}

async function allReady(): Promise<Pod[]> {
  await place.until(async () => (await place.pods()).filter(isReady).length === POD_COUNT, 180_000);
  return place.pods();
}

async function deleteAll(): Promise<void> {
  const manifests = names.map((name) => podManifest(name, marked(name))).join('---\n');
  await place.ok('delete', '-f', place.file('all.yaml', manifests));
}

test(`twenty pods exist exactly once after ten kills while they start, run and stop (TEST_SEED=${seed})`, async () => {
  const manifests = place.file('all.yaml', names.map((name) => podManifest(name, marked(name))).join('---\n'));
  let daemon = await place.startDaemon();
  // intervals that cover the sandbox, container and status stages of a start, on both idle and busy hosts
  for (const [index, momentMs] of momentsWithin(80, 250, 600, 1000, 1800, 2600).entries()) {
    if (index > 0) await deleteAll(); // each start begins without pods
    const apply = place.call('apply', manifests);
    await sleep(momentMs);
    const survivors = await kill(daemon);
    await apply;
    daemon = await place.startDaemon();
    await place.ok('apply', manifests);
    const pods = await allReady();
    await assertOnce();
    assertSame(survivors, processesOfPods());
    const restarted = pods.filter(({ status }) => status!.containerStatuses![0]!.restartCount > 0);
    assert.deepEqual(
      restarted.map(({ metadata }) => metadata.name).filter((name) => survivors.has(name)),
      [],
    );
  }
  for (const _time of ['idle', 'idle again']) {
    const survivors = await kill(daemon);
    assert.equal(survivors.size, POD_COUNT);
    daemon = await place.startDaemon();
    await allReady();
    await assertOnce();
    assertSame(survivors, processesOfPods());
  }
  for (const [index, momentMs] of momentsWithin(300, 1000).entries()) {
    const deleting = place.call('delete', '-f', manifests);
    await sleep(momentMs);
    await kill(daemon);
    await deleting;
    daemon = await place.startDaemon();
    // request the deletions again: those accepted before the kill are not lost, but the others may be
    await place.call('delete', '-f', manifests);
    await place.until(async () => (await place.pods()).length === 0);
    assert.equal(processesOfPods().size, 0);
    if (index === 0) {
      await place.ok('apply', manifests);
      await allReady();
    }
  }
  const client = place.start(
    'run',
    '--once',
    place.file('last.yaml', podManifest('last', 'true', '  restartPolicy: Never\n')),
  );
  assert.equal((await client.ended()).code, 0);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  // `images` starts and stops a node of its own, which also removes the host state that an idle node leaves in place
  await place.ok('images');
  assert.deepEqual(place.leftovers(), []);
});
