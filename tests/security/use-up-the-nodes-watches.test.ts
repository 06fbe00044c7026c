/**
 * A pod has exhausted the inotify instances or watches of the node's user: the node still starts and works, and logs a warning. A seccomp
 * filter makes the calls fail for this node only, because the limits are shared by all of root's processes.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

/** Numbers of the system calls inotify_init1(2) and inotify_add_watch(2). */
const NUMBERS: Partial<Record<NodeJS.Architecture, [number, number]>> = { x64: [294, 254], arm64: [26, 27] };
const CHILD = new URL('./without-calls.child.ts', import.meta.url).pathname;

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.99.152.0/24');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const { EMFILE, ENOSPC } = constants.errno;
const filters = { instances: `${EMFILE}`, watches: `${ENOSPC}` };
type Used = keyof typeof filters;

/** Starts a podwright command with the inotify instances or the watches exhausted. */
function startWithout(used: Used, ...args: string[]): StartedProgram {
  const [init, add] = NUMBERS[process.arch]!;
  const calls = used === 'instances' ? init : add;
  return place.startProgram(process.execPath, CHILD, filters[used], String(calls), ...place.command(...args));
}

async function startNodeWithout(used: Used): Promise<StartedProgram> {
  const daemon = startWithout(used, 'node');
  await place.until(async () => daemon.child.exitCode !== null || (await place.call('ps')).code === 0);
  assert.equal(daemon.child.exitCode, null, daemon.err);
  return daemon;
}

const podNamed = async (name: string): Promise<Pod | undefined> =>
  (await place.pods()).find(({ metadata }) => metadata.name === name);
const isReady = (pod: Pod | undefined) =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const PROBE = '    readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1}\n';

/**
 * Starts a pod from a file, probes it, runs a command in it, and follows its log; runs another pod that exits on its own, and removes that.
 */
async function useNode(name: string): Promise<void> {
  const script = `echo one; ${forever.replace('sleep 0.2', 'sleep 0.2; [ -e /go ] && echo two && rm /go')}`;
  writeFileSync(place.path('root/manifests', `${name}.yaml`), podManifest(name, script) + PROBE);
  await place.until(async () => isReady(await podNamed(name)));
  const follower = place.start('logs', '--follow', name);
  await follower.until(/^one$/m);
  await place.ok('exec', name, '--', 'touch', '/go');
  await follower.until(/^two$/m);
  follower.child.kill('SIGTERM');
  await follower.ended();
  const once = podManifest(`${name}-once`, 'exit 3', '  restartPolicy: Never\n');
  writeFileSync(place.path('root/manifests', `${name}-once.yaml`), once);
  await place.until(async () => (await podNamed(`${name}-once`))?.status?.phase === 'Failed');
  rmSync(place.path('root/manifests', `${name}-once.yaml`));
  await place.until(async () => (await podNamed(`${name}-once`)) === undefined);
}

for (const used of ['instances', 'watches'] as const)
  test(`a node starts, runs pods and recovers them without free inotify ${used}, and logs a warning`, async () => {
    const daemon = await startNodeWithout(used);
    await useNode(used);
    for (const command of ['status', 'doctor']) {
      const { out } = await startWithout(used, command).ended();
      assert.match(
        out.replace(/\s+/g, ' '),
        new RegExp(`directories cannot be watched \\(fs.inotify.max_user_${used} is exhausted\\)`),
      );
    }
    assert.match(daemon.err, /cannot watch for ends of containers/);
    const { restartCount } = (await podNamed(used))!.status!.containerStatuses![0]!;
    daemon.child.kill('SIGKILL');
    await place.until(() => daemon.child.signalCode !== null);
    const again = await startNodeWithout(used);
    assert.ok(isReady(await podNamed(used)), 'the pod has kept running');
    assert.equal((await podNamed(used))!.status!.containerStatuses![0]!.restartCount, restartCount);
    again.child.kill('SIGTERM');
    assert.equal((await again.ended()).code, 0);
  });

test('a node resumes watching once inotify is available', async () => {
  const daemon = await place.startDaemon();
  assert.doesNotMatch(await place.ok('status'), /watched/);
  for (const used of Object.keys(filters)) rmSync(place.path('root/manifests', `${used}.yaml`));
  await place.until(async () => (await place.pods()).length === 0);
  daemon.child.kill('SIGTERM');
  assert.equal((await daemon.ended()).code, 0);
  assert.doesNotMatch(daemon.err, /cannot watch/);
});
