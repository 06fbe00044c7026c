/** A pod advertises itself as an IPv6 router, to become the router of the host (CVE-2020-10749) or of other pods. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { fastPaths } from '../fixtures/fast-paths.ts';
import { AttackedRuntime } from './attacked-runtime.fixture.ts';

const PREFIX = 'fd77:6:6:6:';
const attacked = new AttackedRuntime();
attacked.runtime.place.options.readySandboxes = 2;
const { bridge } = attacked.runtime.place.scope;

before(() => attacked.start());
after(() => attacked.end());

/** Returns a router advertisement (RFC 4861, section 4.2) with a prefix for address autoconfiguration. The kernel fills in the checksum. */
function advertisement(): Buffer {
  const message = Buffer.alloc(48);
  message[0] = 134;
  message[4] = 64; // hop limit
  message.writeUInt16BE(1800, 6); // lifetime as a default router, in seconds
  message.set([3, 4, 64, 0xc0], 16); // prefix option: its length, the prefix's, on link and autonomous
  message.writeUInt32BE(86_400, 20);
  message.writeUInt32BE(86_400, 24);
  message.set([0xfd, 0x77, 0, 6, 0, 6, 0, 6], 32);
  return message;
}

/** Returns the number of IPv6 packets received by a link, from `Ip6InReceives` in a file such as `/proc/net/dev_snmp6/LINK`. */
function received(path: string, text = existsSync(path) ? readFileSync(path, 'utf8') : ''): number {
  const counter = /^Ip6InReceives\s+(\d+)/m.exec(text);
  if (counter === null) throw new Error(`this host has no IPv6 on the link of ${path}`);
  return Number(counter[1]);
}

const inside = (netns: string, command: string[], input: Buffer | string = '') =>
  execFileSync('nsenter', [`--net=${netns}`, ...command], { input, encoding: 'utf8' });

/** Starts a pod; returns its network namespace once it has a source address. */
async function routerPod(name: string): Promise<string> {
  const pid = await attacked.pidOf(await attacked.begin(await attacked.pod(name), { script: 'exec sleep 1000' }));
  const netns = `/proc/${pid}/ns/net`;
  const hasAddress = async () =>
    /inet6 fe80/.test(inside(netns, ['ip', '-6', 'address', 'show', 'dev', 'eth0', '-tentative'])) || undefined;
  await waitFor(hasAddress, { intervalMs: 50, signal: AbortSignal.timeout(20_000) });
  return netns;
}

/** Sends advertisements until five packets have been received. */
async function advertise(router: string, count: () => number): Promise<void> {
  const before = count();
  const hops = 'setsockopt-int=41:18:255'; // IPV6_MULTICAST_HOPS: advertisements with a lower hop limit are ignored
  const arrived = async () => {
    inside(router, ['socat', '-u', '-', `IP6-SENDTO:[ff02::1%eth0]:58,${hops}`], advertisement());
    return count() >= before + 5 || undefined;
  };
  await waitFor(arrived, { intervalMs: 20, signal: AbortSignal.timeout(20_000) });
}

test('the host does not use a pod as a router', async () => {
  await advertise(await routerPod('router'), () => received(`/proc/net/dev_snmp6/${bridge}`));
  const ip = (...args: string[]) => execFileSync('ip', ['-6', ...args], { encoding: 'utf8' });
  assert.doesNotMatch(ip('address', 'show', 'dev', bridge), new RegExp(PREFIX));
  assert.doesNotMatch(ip('route', 'show', 'dev', bridge), new RegExp(`default|${PREFIX}`));
});

test('other pods, and ready sandboxes with fast paths, do not use a pod as a router', async () => {
  const router = await routerPod('router-of-pods');
  const victim = await routerPod('victim');
  const namespaces = join(attacked.runtime.place.options.state, 'ns');
  const ready = async () => {
    const { items } = await attacked.runtime.cri.runtime.listPodSandbox({});
    const unknown = readdirSync(namespaces).filter((id) => items.every((item) => item.id !== id));
    const attached = unknown.map((id) => join(namespaces, id, 'net')).filter((netns) => /eth0/.test(links(netns)));
    return attached[0];
  };
  const links = (netns: string) => inside(netns, ['ip', '-o', 'link', 'show', 'up']);
  const blank = () => waitFor(ready, { intervalMs: 50, signal: AbortSignal.timeout(20_000) });
  for (const netns of fastPaths ? [victim, await blank()] : [victim]) {
    const path = '/proc/net/dev_snmp6/eth0';
    await advertise(router, () => received(path, inside(netns, ['cat', path])));
    assert.doesNotMatch(inside(netns, ['ip', '-6', 'address']), new RegExp(PREFIX));
    assert.doesNotMatch(inside(netns, ['ip', '-6', 'route']), new RegExp(`default|${PREFIX}`));
  }
});
