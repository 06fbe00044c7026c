import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Protocol } from '@podwright/cri';
import { runChecked, runProgram } from '@podwright/host';
import { recoverSandboxes } from '../../packages/dockershim/src/sandbox/recover-sandboxes.ts';
import { dockerBridge, openShim, podConfig, remains, startPlace } from './sandbox-place.fixture.ts';

/** IFF_PROMISC (linux/if.h). */
const PROMISCUOUS = 0x100;

test('a pod reaches itself through its services depending on the hairpin mode', async () => {
  const { place, end } = await startPlace();
  try {
    const bridge = `/sys/class/net/${place.bridge}`;
    const hairpins = () =>
      readdirSync(`${bridge}/brif`).map((port) => readFileSync(`${bridge}/brif/${port}/hairpin_mode`, 'utf8').trim());
    const isPromiscuous = () => (Number(readFileSync(`${bridge}/flags`, 'utf8')) & PROMISCUOUS) !== 0;
    const veth = await openShim(place, { hairpinMode: 'hairpin-veth' });
    const first = await veth.run(podConfig('first'));
    assert.deepEqual([hairpins(), isPromiscuous()], [['1'], false]);
    await veth.remove(first);
    const promiscuous = await openShim(place, { hairpinMode: 'promiscuous-bridge' });
    const second = await promiscuous.run(podConfig('second'));
    assert.deepEqual([hairpins(), isPromiscuous()], [['0'], true]);
    await inside(promiscuous, second);
    await promiscuous.remove(second);
    for (const shim of [veth, promiscuous]) shim.close();
    assert.deepEqual(await remains(place), []);
  } finally {
    await end();
  }
});

/** Checks a pod's network namespace: loopback is up, and the address matches the reported one. */
async function inside({ status, engine, network }: Awaited<ReturnType<typeof openShim>>, id: string): Promise<void> {
  const { State } = await engine.containers.inspect(id);
  const netns = `/proc/${State.Pid}/ns/net`;
  const lo = await runChecked('nsenter', [`--net=${netns}`, 'ip', '-o', 'addr', 'show', 'dev', 'lo']);
  assert.match(lo, /127\.0\.0\.1\/8/);
  const { ip } = (await status(id)).network!;
  const eth = await runChecked('nsenter', [`--net=${netns}`, 'ip', '-o', '-4', 'addr', 'show', 'dev', 'eth0']);
  assert.ok(eth.includes(` ${ip}/16 `));
  // if there is no record, as for a sandbox of another dockershim, the address is read from the namespace
  const stranger = { namespace: 'x', name: 'x', uid: 'x', sandboxId: 'f'.repeat(64) };
  assert.equal((await network.podNetworkStatus(stranger, netns))?.ips[0], ip);
}

test("on Docker's own bridge the Engine assigns addresses and publishes ports", async () => {
  const name = `pwn${process.pid}`;
  await runChecked('ip', ['link', 'add', name, 'type', 'bridge']);
  await runChecked('ip', ['addr', 'add', '10.235.200.1/24', 'dev', name]);
  await runChecked('ip', ['link', 'set', name, 'up']);
  try {
    const { place, end } = await startPlace({ flags: [`--bridge=${name}`] });
    try {
      const shim = await openShim(place, { network: dockerBridge() });
      const mapping = { protocol: Protocol.TCP, containerPort: 80, hostPort: 38237, hostIp: '127.0.0.1' };
      const id = await shim.run(podConfig('bridged', { portMappings: [mapping] }));
      assert.match((await shim.status(id)).network!.ip!, /^10\.235\.200\.\d+$/);
      const socket = connect(38237, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
      await recoverSandboxes(shim.dependencies, AbortSignal.timeout(60_000));
      assert.deepEqual(
        (await shim.list()).map((listed) => listed.id),
        [id],
      );
      await shim.stop(id);
      assert.equal((await shim.status(id)).network!.ip, '');
      await shim.remove(id);
      assert.deepEqual(await remains(place), []);
      shim.close();
    } finally {
      await end();
    }
  } finally {
    await runProgram('ip', ['link', 'del', name]);
  }
});
