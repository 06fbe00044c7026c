/** The bridge does not learn addresses: it has a static entry for each pod, however the pod's port was created. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded, fetchInside, inside, NetworkFixture, run } from './network.fixture.ts';

type Pod = Parameters<typeof inside>[0];

const FRAMES = 500;
const FRAME_BYTES = 60;

/** Frames addressed to a pod, each from a different source, using a local experimental EtherType (IEEE 802). */
function framesOfManySenders(destination: string): Buffer {
  const frames = Buffer.alloc(FRAMES * FRAME_BYTES);
  for (let index = 0; index < FRAMES; index++) {
    const frame = frames.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES);
    frame.write(destination.replaceAll(':', ''), 'hex');
    frame.writeUIntBE(0x02_77_00_00_00_00 + index, 6, 6);
    frame.writeUInt16BE(0x88b5, 12);
  }
  return frames;
}

/** Returns the learned and static entries in the bridge's forwarding database: `ADDRESS dev LINK master BRIDGE [static]`. */
function entries({ bridge }: NetworkFixture): { learned: string[]; fixed: string[] } {
  const lines = run('bridge', ['fdb', 'show', 'br', bridge]).split('\n');
  const ours = lines.filter((line) => line.includes(` master ${bridge}`) && !line.includes('permanent'));
  return {
    learned: ours.filter((line) => !line.includes('static')),
    fixed: ours.filter((line) => line.includes('static')),
  };
}

type LinkFacts = { address: string; stats64: { rx: { packets: number } } };
const linkIn = (pod: Pod) =>
  (JSON.parse(inside(pod, 'ip', ['-j', '-s', 'link', 'show', 'dev', 'eth0'])) as [LinkFacts])[0];
const addressOf = (pod: Pod) => linkIn(pod).address;
const received = (pod: Pod) => linkIn(pod).stats64.rx.packets;
const linksOf = (fixture: NetworkFixture) => fixture.podLinks().map((line) => /(veth[0-9a-f]{11})@/.exec(line)![1]!);

async function assertForwards(fixture: NetworkFixture, pods: Pod[]): Promise<void> {
  const { learned, fixed } = entries(fixture);
  assert.deepEqual(learned, []);
  const own = pods.map(addressOf);
  assert.deepEqual(fixed.map((line) => line.split(' ')[0]).sort(), own.sort());
}

test('a pod forging many source addresses does not fill the table, and frames for one pod are not flooded to others', async () => {
  await using fixture = new NetworkFixture('pwt-fdb0', '10.241.90.0/24,fd00:241:90::/64');
  const network = await fixture.open();
  const [flood, server, silent] = ['flood', 'server', 'silent'].map((name) => fixture.pod(name)) as [Pod, Pod, Pod];
  const addresses = [];
  for (const pod of [flood, server, silent]) addresses.push((await network.setUp(pod, bounded())).ips);
  await fixture.serve(server, 'tcp', 80);
  await fixture.serve(server, 'tcp6', 80);
  for (const ip of addresses[1]!) assert.match(fetchInside(flood, ip, 80), /^server /);
  const frames = framesOfManySenders(addressOf(server));
  const before = [received(server), received(silent)] as const;
  inside(flood, 'socat', ['-u', `-b${FRAME_BYTES}`, '-', 'INTERFACE:eth0'], frames);
  assert.ok(received(server) - before[0] >= FRAMES, `${received(server) - before[0]} frames`);
  assert.ok(received(silent) - before[1] < FRAMES / 10, `${received(silent) - before[1]} frames`);
  await assertForwards(fixture, [flood, server, silent]);
  for (const ip of addresses[1]!) assert.match(fetchInside(flood, ip, 80), /^server /);
});

test('links of an earlier version with a learning bridge, and links of a removed bridge, get static entries', async () => {
  await using fixture = new NetworkFixture('pwt-fdb1', '10.241.91.0/24');
  const pods = ['before', 'earlier'].map((name) => fixture.pod(name));
  const first = await fixture.open();
  for (const pod of pods) await first.setUp(pod, bounded());
  for (const link of linksOf(fixture)) run('bridge', ['link', 'set', 'dev', link, 'learning', 'on']);
  for (const line of entries(fixture).fixed) {
    const [address, , link] = line.split(' ');
    run('bridge', ['fdb', 'del', address!, 'dev', link!, 'master', 'static']);
  }
  const network = await fixture.open();
  assert.deepEqual(await network.status(), { ready: true });
  await assertForwards(fixture, pods);
  run('ip', ['link', 'delete', fixture.bridge]);
  const last = fixture.pod('last');
  await network.setUp(last, bounded());
  await assertForwards(fixture, [...pods, last]);
  for (const link of linksOf(fixture))
    assert.match(run('bridge', ['-d', 'link', 'show', 'dev', link]), /hairpin on .*learning off flood on/, link);
});
