/** A pod says that it is an IPv6 router, to become the one of the host (CVE-2020-10749). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { AttackedRuntime } from './attacked-runtime.fixture.ts';

const PREFIX = 'fd77:6:6:6:';
const attacked = new AttackedRuntime();
const { bridge } = attacked.runtime.place.scope;

before(() => attacked.start());
after(() => attacked.end());

/** A router advertisement (RFC 4861, section 4.2) with a prefix to make addresses of. The kernel adds the checksum. */
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

const counted = (counter: string) => {
  const path = `/proc/net/dev_snmp6/${bridge}`;
  if (!existsSync(path)) throw new Error('this host has no IPv6 on the bridge');
  return Number(new RegExp(`^${counter}\\s+(\\d+)`, 'm').exec(readFileSync(path, 'utf8'))![1]);
};
const ip = (...args: string[]) => execFileSync('ip', ['-6', ...args], { encoding: 'utf8' });

test('the host takes no pod for a router', async () => {
  const attacker = await attacked.pidOf(
    await attacked.begin(await attacked.pod('router'), { script: 'exec sleep 1000' }),
  );
  const inside = (command: string[], input: Buffer | string = '') =>
    execFileSync('nsenter', [`--net=/proc/${attacker}/ns/net`, ...command], { input, encoding: 'utf8' });
  await waitFor(
    async () => /inet6 fe80/.test(inside(['ip', '-6', 'address', 'show', 'dev', 'eth0', '-tentative'])) || undefined,
    {
      intervalMs: 50,
      signal: AbortSignal.timeout(20_000),
    },
  );
  const before = counted('Ip6InReceives');
  const hops = 'setsockopt-int=41:18:255'; // IPV6_MULTICAST_HOPS: routers are taken for none with less
  const send = () => inside(['socat', '-u', '-', `IP6-SENDTO:[ff02::1%eth0]:58,${hops}`], advertisement());
  const arrived = async () => {
    send();
    return counted('Ip6InReceives') >= before + 5 || undefined;
  };
  await waitFor(arrived, { intervalMs: 20, signal: AbortSignal.timeout(20_000) });
  assert.doesNotMatch(ip('address', 'show', 'dev', bridge), new RegExp(PREFIX));
  assert.doesNotMatch(ip('route', 'show', 'dev', bridge), new RegExp(`default|${PREFIX}`));
});
