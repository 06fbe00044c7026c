/** A node keeps the network chosen at its first start, even if another program installs a CNI configuration. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.7.0/24');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

test('if Podman’s configuration appears, pods stay on the node’s bridge, even after a restart, and the configuration is reported', async () => {
  await place.startDaemon();
  const addressOf = async (name: string) => {
    await place.ok('run', '--detach', place.file(`${name}.yaml`, podManifest(name, forever)));
    return (await place.json<Pod>('get', 'pod', name)).status?.podIP ?? '';
  };
  assert.match(await addressOf('first'), /^10\.132\.7\./);
  assert.doesNotMatch(await place.ok('status'), /^network/m);

  const plugins = [{ type: 'bridge', bridge: 'cni-podman0', ipam: { type: 'host-local' } }, { type: 'portmap' }];
  const podman = JSON.stringify({ cniVersion: '0.4.0', name: 'podman', plugins });
  writeFileSync(place.path('net.d/87-podman.conflist'), podman);
  const note = /87-podman\.conflist \(network podman\) is not used: pods stay on bridge pwn\w+.*set\s+mode/s;
  await place.until(async () => /^network/m.test(await place.ok('status')));
  assert.match(await place.ok('status'), note);
  const events = await place.ok('events');
  assert.match(events, /Warning +NetworkConfigurationNotUsed/);
  assert.match((await place.call('doctor')).out, /^note +network +our own: chosen at the node's first start: bridge/m);
  assert.match(await addressOf('second'), /^10\.132\.7\./);

  await place.ok('stop', '--delete');
  const daemon = await place.startDaemon();
  assert.match(daemon.err, /a network configuration has appeared that is not used/);
  assert.match(await addressOf('third'), /^10\.132\.7\./);
  await place.ok('stop', '--delete');
});
