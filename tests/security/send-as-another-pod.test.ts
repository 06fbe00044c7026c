/**
 * A pod on a standalone node cannot send raw frames and packets unless it adds NET_RAW, and its open files limit is that of a service on
 * the host. Unprivileged users can still ping.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const GATEWAY = '10.99.151.1';
const NET_RAW = 1n << 13n;

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.99.151.0/24');
  daemon = await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  await stop();
  await place.remove();
  bundle.remove();
});

async function stop(): Promise<void> {
  for (const { metadata } of await place.pods()) await place.ok('delete', metadata.name);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
}

const inPod = (name: string, script: string) => place.ok('exec', name, '--', 'sh', '-c', script);
/** Returns whether the pod's main process has NET_RAW, and whether a command can send a raw frame. */
async function netRawOf(name: string, container = ''): Promise<[boolean, boolean]> {
  await place.ok('run', '--detach', place.file(`${name}.yaml`, podManifest(name, forever) + container));
  const [, capabilities] = /^CapEff:\s*(\S+)$/m.exec(await inPod(name, 'cat /proc/1/status'))!;
  const { code } = await place.call('exec', name, '--', 'arping', '-c', '1', '-w', '5', '-I', 'eth0', GATEWAY);
  return [(BigInt(`0x${capabilities}`) & NET_RAW) !== 0n, code === 0];
}

/** Pings as a user without capabilities; returns the ICMP type of the response in hexadecimal: 00 is an echo reply (RFC 792). */
function pingFrom(netns: string): string {
  const address = GATEWAY.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const target = `SOCKET-DATAGRAM:2:2:1:x0000${address.join('')}0000000000000000`;
  const user = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'];
  const input = Buffer.from([8, 0, 0, 0, 0, 0, 0, 1]);
  return execFileSync('nsenter', [`--net=${netns}`, ...user, 'socat', '-t5', '-', target], { input }).toString(
    'hex',
    0,
    1,
  );
}

function netnsOf(address: string): string {
  const pins = readdirSync(place.path('state/ns')).map((sandbox) => place.path('state/ns', sandbox, 'net'));
  return pins.find((pin) =>
    execFileSync('nsenter', [`--net=${pin}`, 'ip', 'address'], { encoding: 'utf8' }).includes(` ${address}/`),
  )!;
}

const adding = (name: string) => `    securityContext: {capabilities: {add: [${name}]}}\n`;

test('a pod without NET_RAW cannot send raw frames, but can ping', async () => {
  assert.deepEqual(await netRawOf('plain'), [false, false]);
  assert.deepEqual(await netRawOf('asks', adding('NET_RAW')), [true, true]);
  const pod = (await place.pods()).find(({ metadata: { name } }) => name === 'plain') as Pod;
  assert.equal(pingFrom(netnsOf(pod.status!.podIP!)), '00');
  assert.match((await place.call('doctor')).out, /^ok +pod defaults +seccomp RuntimeDefault, .*, without NET_RAW$/m);
});

test('a container has the open file limit of a systemd service', async () => {
  const limits = /^Max open files +(\d+) +(\d+)/m;
  const own = (text: string) => limits.exec(text)!.slice(1).map(Number);
  const first = own(await inPod('plain', 'cat /proc/1/limits'));
  assert.equal(first[0], 1024);
  assert.ok(first[1]! <= 524_288, `${first[1]}`);
  assert.deepEqual(own(await inPod('plain', 'cat /proc/self/limits')), first);
});

test('both defaults can be changed for the node', async () => {
  await stop();
  const settings =
    '[runtime]\nopen_files_soft_limit = 2000\nopen_files_hard_limit = 3000\n[kubelet]\nnet_raw_default = true\n';
  daemon = await place.startDaemon('--config', place.file('config.toml', settings), 'node');
  assert.deepEqual(await netRawOf('loose'), [true, true]);
  assert.match(await inPod('loose', 'cat /proc/1/limits'), /^Max open files +2000 +3000/m);
  const without = '    securityContext: {capabilities: {drop: [NET_RAW]}}\n';
  assert.deepEqual(await netRawOf('drops', without), [false, false]);
});
