/** Several nodes on one host: each removes only its own state, and a node that would share resources with another refuses to start. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { cgroupDirectory, discoverCgroups } from '@podwright/host';
import { takeInventory } from '../fixtures/host-inventory.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

const starting = (place: NodePlace) => readdirSync(place.path('state')).filter((name) => name.startsWith('starting-'));

let bundle: Bundle;
let first: NodePlace;
let second: NodePlace;
before(async () => {
  bundle = await buildBundle();
  first = new NodePlace(bundle, '10.132.8.0/24');
  second = new NodePlace(bundle, '10.132.9.0/24');
  await first.loadImage();
});
after(async () => {
  await second.remove();
  await first.remove();
  bundle.remove();
});

test('a node with another node’s cgroup or bridge is rejected with the settings it requires', async () => {
  await first.startDaemon();
  await first.ok('run', '--detach', first.file('web.yaml', podManifest('web', forever)));
  const { cgroupParent, bridge } = first.scope;
  await second.fails(
    /another running node uses the cgroup \/pwn-.* needs its own values of root, state, cgroup_parent/,
    ...['--cgroup-parent', cgroupParent, 'node'],
  );
  await second.fails(
    /bridge pwn\w+ is another node's .*: choose another bridge and subnet in \[network\] \(--bridge, --subnet\)/,
    ...['--bridge', bridge, 'node'],
  );
  await second.startDaemon();
  await second.ok('stop');
  assert.deepEqual(second.leftovers(), []);
  assert.equal((await first.call('node')).code, 1);
  assert.deepEqual(starting(first), [], 'a refused node leaves nothing in the state directory of the running one');
  assert.match(await first.ok('ps'), /^default +web +1\/1 +Running +0/m);
  await first.ok('stop', '--delete');
  assert.deepEqual(first.leftovers(), []);
});

test('a node that cannot remove everything reports what is left and removes the rest', async (context) => {
  const daemon = await second.startDaemon();
  await second.ok('load', bundle.image);
  await second.ok('run', '--detach', second.file('web.yaml', podManifest('web', forever)));
  const [tree] = (await discoverCgroups()).trees;
  const cgroup = cgroupDirectory(tree!, `${second.scope.cgroupParent}/of-others`);
  mkdirSync(cgroup);
  const other = spawn('sleep', ['1000']);
  context.after(() => other.kill('SIGKILL'));
  writeFileSync(`${cgroup}/cgroup.procs`, String(other.pid));
  const { code, err } = await second.call('stop', '--delete');
  assert.equal(code, 1);
  assert.match(err, /it has stopped, but not removed everything: .*cgroup \/pwn-\w+: .*it is still in use/);
  const { code: daemonCode, err: log } = await daemon.ended();
  assert.equal(daemonCode, 1);
  assert.match(log, /podwright: remove what the runtime made: cgroup /);
  const left = second.leftovers().filter((line) => !line.startsWith(`processes: ${other.pid} `));
  assert.ok(
    left.every((line) => line.includes(second.scope.cgroupParent)),
    left.join('\n'),
  );
  other.kill('SIGKILL');
  await second.until(() => {
    try {
      rmdirSync(cgroup);
      return true;
    } catch {
      return false;
    }
  });
  await second.startDaemon();
  await second.ok('stop');
  assert.deepEqual(second.leftovers(), []);
});

test('a node without pods removes its cgroups and mounts when a signal stops it', async () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const daemon = await second.startDaemon();
    daemon.child.kill(signal);
    assert.equal((await daemon.ended()).code, 0);
    const { cgroups, mounts } = takeInventory(second.scope);
    assert.deepEqual({ cgroups, mounts }, { cgroups: [], mounts: [] });
  }
});
