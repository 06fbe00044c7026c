import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorMessage, waitFor } from '@podwright/base';
import { bounded, inside, NetworkFixture, run } from './network.fixture.ts';
import { networkSuite } from './network.suite.ts';

/** Writes a host CNI configuration with a bridge plugin; `more` plugins are appended to the chain. */
function configure(fixture: NetworkFixture, file: string, more: object[] = [], ipMasq = true) {
  const ipam = { type: 'host-local', dataDir: addressesOf(fixture), ranges: [[{ subnet: fixture.subnet }]] };
  const plugins = [{ type: 'bridge', bridge: fixture.bridge, isGateway: true, ipMasq, ipam }, ...more];
  writeFileSync(join(fixture.confDir, file), JSON.stringify({ cniVersion: '1.0.0', name: fixture.bridge, plugins }));
}

const addressesOf = (fixture: NetworkFixture): string => join(fixture.confDir, 'addresses');

/** Returns the addresses assigned by the host-local plugin. */
function givenOut(fixture: NetworkFixture): string[] {
  const directory = join(addressesOf(fixture), fixture.bridge);
  return existsSync(directory) ? readdirSync(directory).filter((name) => /^\d+\.\d+\./.test(name)) : [];
}

/** Runs a test with a host CNI configuration, and deletes its bridge afterwards, because Podwright does not. */
async function withHost(bridge: string, subnet: string, use: (fixture: NetworkFixture) => Promise<void>) {
  await using fixture = new NetworkFixture(bridge, subnet);
  try {
    await use(fixture);
  } finally {
    run('sh', ['-c', `ip link delete ${bridge} 2>&1 || true`]);
  }
}

networkSuite({
  name: 'CNI',
  number: 243,
  prepare(fixture) {
    const ranges = fixture.subnet.split(',').map((subnet) => [{ subnet }]);
    const routes = ranges.length > 1 ? [{ dst: '0.0.0.0/0' }, { dst: '::/0' }] : [{ dst: '0.0.0.0/0' }];
    const ipam = { type: 'host-local', dataDir: addressesOf(fixture), ranges, routes };
    const { bridge } = fixture;
    const plugins = [
      { type: 'bridge', bridge, isGateway: true, ipMasq: true, hairpinMode: true, ipam },
      { type: 'portmap', snat: true, capabilities: { portMappings: true } },
    ];
    const text = JSON.stringify({ cniVersion: '1.0.0', name: bridge, plugins });
    writeFileSync(join(fixture.confDir, 'suite.conflist'), text);
  },
  undo: ({ bridge }) => void run('sh', ['-c', `ip link delete ${bridge} 2>&1 || true`]),
});

test('the host’s configuration is used unchanged, and a broken file before it is skipped', async () => {
  await withHost('pwt-conf0', '10.241.31.0/24', async (fixture) => {
    writeFileSync(join(fixture.confDir, '00-broken.conflist'), '{"name":"x","plugins":[]}');
    configure(fixture, '10-host.conflist', [{ type: 'portmap', capabilities: { portMappings: true } }]);
    const network = await fixture.open();
    assert.equal((await network.describe()).source, 'host');
    assert.deepEqual(await network.status(), { ready: true });
    const pod = fixture.pod('conf');
    assert.deepEqual((await network.setUp(pod, bounded())).ips, ['10.241.31.2']);
    assert.doesNotMatch(run('nft', ['list', 'tables']), /podwright_pwt-conf0/);
    await network.tearDown(pod, bounded());
    assert.deepEqual(givenOut(fixture), []);
    assert.doesNotMatch(run('iptables-save', ['-t', 'nat']), /10\.241\.31\./);
  });
});

test('a pod is torn down with the configuration it was set up with, even if the file was removed', async () => {
  await withHost('pwt-old0', '10.241.32.0/24', async (fixture) => {
    configure(fixture, 'host.conflist');
    const network = await fixture.open();
    const pod = fixture.pod('old');
    await network.setUp(pod, bounded());
    rmSync(join(fixture.confDir, 'host.conflist'));
    assert.equal((await network.describe()).source, 'default');
    await network.tearDown(pod, bounded());
    assert.deepEqual(givenOut(fixture), []);
    assert.doesNotMatch(inside(pod, 'ip', ['-br', 'link']), /eth0/);
  });
});

test('a plugin that fails late leaves no interface or address, and its error is returned to the caller', async () => {
  await withHost('pwt-fail0', '10.241.33.0/24', async (fixture) => {
    configure(fixture, 'host.conflist', [{ type: 'tuning', sysctl: { 'net.ipv4.no_such_key': '1' } }]);
    const network = await fixture.open();
    const pod = fixture.pod('fail');
    const error = await network.setUp(pod, bounded()).catch((reason) => reason);
    assert.match(errorMessage(error), /plugin tuning failed on ADD: .*no_such_key/);
    assert.doesNotMatch(inside(pod, 'ip', ['-br', 'link']), /eth0/);
    assert.deepEqual(givenOut(fixture), []);
    assert.deepEqual(await network.list(), []);
  });
});

test('a caller that cancels leaves no interface and no address', async () => {
  await withHost('pwt-stop0', '10.241.34.0/24', async (fixture) => {
    configure(fixture, 'host.conflist');
    const network = await fixture.open();
    const pod = fixture.pod('stop');
    const caller = new AbortController();
    const settingUp = network.setUp(pod, caller.signal);
    settingUp.catch(() => undefined);
    await waitFor(() => (givenOut(fixture).length > 0 ? true : undefined), { intervalMs: 1, signal: bounded() });
    caller.abort();
    await assert.rejects(settingUp);
    assert.doesNotMatch(inside(pod, 'ip', ['-br', 'link']), /eth0/);
    assert.deepEqual(givenOut(fixture), []);
    assert.deepEqual(await network.list(), []);
  });
});

test('after a reboot the addresses of earlier pods are released', async () => {
  await withHost('pwt-hboot0', '10.241.35.0/24', async (fixture) => {
    configure(fixture, 'host.conflist', [], false); // without masquerading, whose rules a reboot would remove and this test cannot
    const pod = fixture.pod('hboot');
    await (await fixture.open()).setUp(pod, bounded());
    fixture.removeNamespace(pod.netnsPath);
    run('ip', ['link', 'delete', fixture.bridge]);
    assert.equal(givenOut(fixture).length, 1);
    const network = await fixture.open();
    for (const sandboxId of await network.list()) await network.tearDown({ ...pod, sandboxId }, bounded());
    assert.deepEqual(givenOut(fixture), []);
  });
});
