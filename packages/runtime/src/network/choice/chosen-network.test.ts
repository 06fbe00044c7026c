import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorCode, silentLogger } from '@podwright/base';
import { loadSystem, NetlinkSockets } from '@podwright/system';
import type { NetworkMode } from '../../options.ts';
import { BridgeNetwork } from '../bridge/bridge-network.ts';
import { ChosenNetwork } from './chosen-network.ts';

/** Calls `use` with a `ChosenNetwork` on a host that has only the given CNI plugins and configuration files. */
async function withNetwork(
  files: { plugins?: string[]; conf?: Record<string, string> },
  use: (network: ChosenNetwork, directory: string) => Promise<void>,
) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-network-'));
  const [confDir, binDir] = [join(directory, 'net.d'), join(directory, 'bin')];
  try {
    await mkdir(confDir);
    await mkdir(binDir);
    for (const [name, text] of Object.entries(files.conf ?? {})) await writeFile(join(confDir, name), text);
    for (const plugin of files.plugins ?? []) await writeScript(join(binDir, plugin), 'exit 0');
    await use(await openNetwork(directory), directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function openNetwork(
  directory: string,
  { bridge = 'pwunit0', mode }: { bridge?: string; mode?: NetworkMode } = {},
): Promise<ChosenNetwork> {
  const network = {
    mode,
    confDir: join(directory, 'net.d'),
    binDirs: [join(directory, 'bin')],
    bridge,
    subnet: '10.251.0.0/24',
  };
  const directories = { stateDir: join(directory, 'state'), cacheDir: join(directory, 'cache') };
  const parts = { system: loadSystem(), sockets: new NetlinkSockets(), logger: silentLogger };
  const own = await BridgeNetwork.open({ ...network, ...directories, ...parts });
  const chosen = new ChosenNetwork({ own, network, ...directories, ...parts });
  await chosen.begin();
  return chosen;
}

async function writeScript(path: string, body: string) {
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
}

const request = (sandboxId: string, netnsPath = '') => ({
  sandboxId,
  podName: 'web',
  podNamespace: 'default',
  podUid: 'u-1',
  netnsPath,
  portMappings: [],
});
const bounded = () => AbortSignal.timeout(10_000);
const hostList = (cniVersion = '1.0.0') => JSON.stringify({ cniVersion, name: 'host', plugins: [{ type: 'flat' }] });

test('the network is not ready if CNI plugins are missing, and the message names the searched directories and the package', async () => {
  const list = JSON.stringify({ cniVersion: '1.0.0', name: 'host', plugins: [{ type: 'bridge' }] });
  await withNetwork({ conf: { '00-bad.conf': '{', '10-host.conflist': list } }, async (network, directory) => {
    const status = await network.status();
    assert.ok(!status.ready);
    assert.match(status.message, new RegExp(`"bridge" \\(searched: ${directory}/bin\\)`));
    assert.match(status.message, /apt install containernetworking-plugins/);
    assert.match(status.message, /00-bad.conf cannot be used: .*not JSON/);
    assert.match((await network.describe()).problem ?? '', /"bridge"/);
  });
});

test('the default network needs no plugins', async () => {
  await withNetwork({}, async (network) => {
    assert.deepEqual(await network.status(), { ready: true });
    const { source, plugins, problem } = await network.describe();
    assert.deepEqual({ source, plugins, problem }, { source: 'default', plugins: [], problem: undefined });
  });
});

test('the default network is used while all configurations are invalid, and the description says so', async () => {
  await withNetwork({ conf: { 'a.conf': '{}' } }, async (network) => {
    const { source, why, warnings } = await network.describe();
    assert.equal(source, 'default');
    assert.match(why, /net.d has no usable network configuration: bridge pwunit0 with 10.251.0.0\/24/);
    assert.match(warnings.join(), /a.conf cannot be used/);
  });
});

test('a new configuration takes effect at once, and the first in lexical order wins', async () => {
  await withNetwork({ plugins: ['flat'], conf: { '20-host.conflist': hostList() } }, async (network, directory) => {
    assert.equal((await network.describe()).network, 'host');
    await writeFile(join(directory, 'net.d', '10-first.conf'), '{"name":"first","type":"flat"}');
    const description = await network.describe();
    assert.equal(description.network, 'first');
    assert.match(description.why, /10-first.conf is the first usable/);
  });
});

test('a plugin that reports itself as unavailable makes the network not ready', async () => {
  await withNetwork({ conf: { 'a.conflist': hostList('1.1.0') } }, async (network, directory) => {
    await writeScript(join(directory, 'bin', 'flat'), `echo '{"code":50,"msg":"no route reflector"}'; exit 1`);
    const status = await network.status();
    assert.ok(!status.ready);
    assert.match(status.message, /no route reflector/);
  });
});

test('a plugin that does not respond to STATUS makes the network not ready when the call is aborted', async () => {
  await withNetwork({ conf: { 'a.conflist': hostList('1.1.0') } }, async (network, directory) => {
    await writeScript(join(directory, 'bin', 'flat'), 'exec sleep 1000');
    const status = await network.status(AbortSignal.timeout(100));
    assert.ok(!status.ready);
  });
});

test('a sandbox that gets no address is removed from the network', async () => {
  await withNetwork({ conf: { 'a.conflist': hostList() } }, async (network, directory) => {
    const journal = join(directory, 'journal');
    await writeScript(join(directory, 'bin', 'flat'), `echo $CNI_COMMAND >> ${journal}; echo '{"cniVersion":"1.0.0"}'`);
    await assert.rejects(network.setUp(request('box'), bounded()), /network host gave box no address/);
    assert.deepEqual(await network.list(), []);
  });
});

test('a sandbox that cannot be removed remains listed until it can, even after a restart', async () => {
  await withNetwork({ conf: { 'a.conflist': hostList() } }, async (network, directory) => {
    const plugin = join(directory, 'bin', 'flat');
    await writeScript(plugin, `[ $CNI_COMMAND = DEL ] && exit 1; echo '{"ips":[{"address":"10.251.0.2/24"}]}'`);
    assert.deepEqual((await network.setUp(request('box'), bounded())).ips, ['10.251.0.2']);
    await assert.rejects(network.tearDown(request('box'), bounded()));
    const later = await openNetwork(directory);
    assert.deepEqual(await later.list(), ['box']);
    assert.equal(errorCode(await later.close({ removeHostState: true }).catch((e) => e)), 'failed_precondition');
    await rm(join(directory, 'net.d', 'a.conflist'));
    await writeScript(plugin, 'exit 0');
    await later.tearDown(request('box'), bounded());
    assert.deepEqual(await later.list(), []);
  });
});

test('the pod CIDR becomes the subnet of the default network, and still is after a restart', async () => {
  await withNetwork({}, async (network, directory) => {
    await network.setPodCidr('10.250.7.0/24');
    assert.match((await network.describe()).why, /10.250.7.0\/24/);
    assert.match((await (await openNetwork(directory)).describe()).why, /10.250.7.0\/24/);
    await assert.rejects(network.setPodCidr('nonsense'), /pod subnet/);
  });
});

test('an invalid bridge name is rejected', async () => {
  await assert.rejects(openNetwork('/none', { bridge: 'much-too-long-a-name' }), /at most 15/);
});

test('with mode keep a node stays on its bridge when a configuration appears, even after a restart, and reports it', async () => {
  await withNetwork({ plugins: ['flat'] }, async (_, directory) => {
    const network = await openNetwork(directory, { mode: 'keep' });
    assert.deepEqual(await network.status(), { ready: true });
    const file = join(directory, 'net.d', '87-podman.conflist');
    await writeFile(file, hostList());
    for (const opened of [network, await openNetwork(directory, { mode: 'keep' })]) {
      const status = await opened.status();
      assert.deepEqual([status.ready, status.reason], [true, 'NetworkConfigurationNotUsed']);
      assert.match(
        status.message ?? '',
        /87-podman.conflist \(network host\) is not used: .* bridge pwunit0.* set mode/,
      );
      const { source, warnings } = await opened.describe();
      assert.deepEqual([source, warnings], ['default', [status.message]]);
    }
    await rm(file);
    assert.deepEqual(await network.status(), { ready: true });
  });
});

test('with mode keep the chosen configuration file may change; if it is missing, pods have no network', async () => {
  await withNetwork({ plugins: ['flat'], conf: { '20-host.conflist': hostList() } }, async (_, directory) => {
    const conf = (name: string) => join(directory, 'net.d', name);
    const network = await openNetwork(directory, { mode: 'keep' });
    await writeFile(conf('10-first.conflist'), hostList().replace('host', 'first'));
    assert.equal((await network.describe()).network, 'host');
    assert.match((await network.status()).message ?? '', /10-first.conflist \(network first\) is not used/);
    await writeFile(conf('20-host.conflist'), hostList().replace('host', 'other'));
    assert.equal((await network.describe()).network, 'other');
    await rm(conf('20-host.conflist'));
    for (const opened of [network, await openNetwork(directory, { mode: 'keep' })]) {
      const { ready, message } = await opened.status();
      assert.equal(ready, false);
      assert.match(message ?? '', /20-host.conflist, chosen at .* is no longer usable; put it back, or set mode/);
      assert.equal(await opened.prepare('box', '/none', bounded()), false);
      await assert.rejects(opened.setUp(request('box'), bounded()), /is no longer usable/);
    }
  });
});

test('a different mode overrides the saved choice, and the first start with mode keep afterwards chooses again', async () => {
  await withNetwork({ plugins: ['flat'] }, async (_, directory) => {
    const networkOf = async (mode: NetworkMode) => (await (await openNetwork(directory, { mode })).describe()).network;
    assert.equal(await networkOf('keep'), 'pwunit0');
    assert.match((await (await openNetwork(directory, { mode: 'cni' })).describe()).problem ?? '', /no usable network/);
    await writeFile(join(directory, 'net.d', 'a.conflist'), hostList());
    assert.equal(await networkOf('cni'), 'host');
    assert.equal(await networkOf('keep'), 'host');
    assert.equal(await networkOf('bridge'), 'pwunit0');
  });
});
