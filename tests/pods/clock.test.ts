/** The host's clock is set forward and back by an hour while pods run, crash, and are added and removed. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { forever, NodePlace, podManifest } from './node.fixture.ts';
import { StartedProgram } from './started-program.ts';

const CLOCK = new URL('./shifted-clock.ts', import.meta.url);
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

let bundle: Bundle;
let place: NodePlace;
let node: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.27.0/24');
  const config = place.file('config.toml', '[kubelet]\nmax_container_restart_period_seconds = 1\n');
  const env = { NODE_OPTIONS: `--import=${CLOCK}`, SHIFTED_CLOCK: place.file('clock', '0') };
  node = new StartedProgram(place.command('node', '--config', config), { env });
  await place.until(async () => node.child.exitCode !== null || (await place.call('ps')).code === 0);
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const find = async (name: string) => (await place.pods()).find(({ metadata }) => metadata.name === name);
const mainOf = (pod: Pod | undefined): ContainerStatus | undefined => pod?.status?.containerStatuses?.[0];
const main = async (name: string) => mainOf(await find(name))!;

const PROBE = '{exec: {command: ["true"]}, periodSeconds: 1, failureThreshold: 1}';

/** Starts and removes a pod while the clock is wrong. */
async function startAndRemove(name: string, offMs: number): Promise<void> {
  await place.ok('apply', '-f', place.file(`${name}.yaml`, podManifest(name, forever)));
  await place.until(async () => (await main(name))?.ready === true);
  const { status } = (await find(name))!;
  assert.ok(Math.abs(Date.parse(status!.startTime!) - offMs - Date.now()) < MINUTE_MS, 'the clock is off');
  await place.ok('delete', 'pod', name);
  await place.until(async () => (await find(name)) === undefined);
}

test('pods run and are restarted, added and removed as usual when the host clock jumps by an hour', async () => {
  const probes = `    livenessProbe: ${PROBE}\n    readinessProbe: ${PROBE}\n`;
  const crashes = podManifest('crashes', 'exit 1');
  const stays = podManifest('stays', forever, '  activeDeadlineSeconds: 1800\n');
  await place.ok('apply', '-f', place.file('all.yaml', `${stays}${probes}---\n${crashes}`));
  await place.until(async () => (await main('stays'))?.ready === true && (await main('crashes')).restartCount > 0);
  const { containerID, state } = await main('stays');
  for (const [index, offMs] of [HOUR_MS, -HOUR_MS].entries()) {
    writeFileSync(place.path('input/clock'), String(offMs));
    node.child.kill('SIGUSR2');
    await place.ok('annotate', 'pod', 'stays', `clock-${index}=set`); // triggers a sync of the pod
    const { restartCount } = await main('crashes');
    await Promise.all([
      place.until(async () => (await main('crashes')).restartCount >= restartCount + 2, 15_000),
      startAndRemove(`new-${index}`, offMs),
    ]);
    const stays = await main('stays');
    assert.deepEqual([stays.containerID, stays.state, stays.restartCount, stays.ready], [containerID, state, 0, true]);
  }
  const { err } = await place.call('delete', 'pods', '--all');
  assert.deepEqual(await place.pods(), [], err);
});
