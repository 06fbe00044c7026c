import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Logger, silentLogger } from '@podwright/base';
import { create, type MessageInitShape, PortMappingSchema, Protocol } from '@podwright/cri';
import { answers, FakePlugins, failsOn } from '../../../cni/src/fake-plugin.fixture.ts';
import { CniPlugin } from './cni-plugin.ts';

const pod = { namespace: 'shop', name: 'web', uid: 'u-1', sandboxId: 'a'.repeat(64) };
const settings = { hairpinMode: 'none', nonMasqueradeCidr: '10.0.0.0/8', mtu: 1400 } as const;
const signal = AbortSignal.timeout(60_000);
const portOf = (mapping: MessageInitShape<typeof PortMappingSchema>) => create(PortMappingSchema, mapping);
/** A network setup that uses this process's network namespace as the pod's. The plugins are scripts that do not touch the namespace. */
const setup = {
  pod,
  netnsPath: '/proc/self/ns/net',
  annotations: {},
  portMappings: [portOf({ hostPort: 8080, containerPort: 80 })],
};

async function place(t: { after(work: () => unknown): void }) {
  const fake = await FakePlugins.create();
  const confDir = mkdtempSync(join(tmpdir(), 'podwright-net.d-'));
  t.after(async () => {
    rmSync(confDir, { recursive: true });
    await fake[Symbol.asyncDispose]();
  });
  const warned: object[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields) => void warned.push(fields) };
  const network = { confDir, binDirs: [fake.directory], cacheDir: fake.cacheDirectory };
  const open = () => new CniPlugin({ network, logger });
  const write = (name: string, content: object | string) =>
    writeFileSync(join(confDir, name), typeof content === 'string' ? content : JSON.stringify(content));
  return { fake, confDir, warned, open, write };
}

const listOf = (...plugins: object[]) => ({ cniVersion: '1.0.0', name: 'pods', plugins });

test('the first usable file is used, and the rejected ones are logged once', async (t) => {
  const { fake, confDir, warned, open, write } = await place(t);
  await fake.install('good', answers('10.1.0.2/24'));
  const plugin = open();
  await assert.rejects(plugin.status(), { message: `no network configuration in ${confDir} can be used` });
  write('00-empty.conflist', listOf());
  write('01-typeless.conf', { cniVersion: '1.0.0', name: 'x' });
  write('02-list.conf', listOf({ type: 'good' }));
  write('03-cut.json', '{');
  write('04-missing.conflist', listOf({ type: 'absent' }));
  write('zz-ignored.txt', '{');
  await assert.rejects(plugin.status(), /01-typeless.conf: 'type' is missing.*04-missing.conflist: .*absent/);
  warned.length = 0;
  write('05-good.conf', { cniVersion: '1.0.0', name: 'x', type: 'good' });
  write('06-later.conf', '{');
  for (let times = 0; times < 2; times++) await plugin.status();
  const named = warned.map((fields) => (fields as { path: string }).path.slice(confDir.length + 1));
  assert.deepEqual(named.sort(), [
    '00-empty.conflist',
    '01-typeless.conf',
    '02-list.conf',
    '03-cut.json',
    '04-missing.conflist',
  ]);
  assert.deepEqual((await plugin.setUpPod(setup, signal)).ips, ['10.1.0.2']);
});

test('plugins get the ports, bandwidth, DNS, ranges and MTU that they support', async (t) => {
  const { fake, open, write } = await place(t);
  await fake.install('bridge', answers('10.1.0.2/24'));
  const capabilities = { portMappings: true, bandwidth: true, dns: true, ipRanges: true };
  write('10.conflist', listOf({ type: 'bridge', capabilities }));
  const plugin = open();
  await plugin.init(settings);
  assert.deepEqual([...plugin.capabilities()].sort(), ['dns', 'ipRanges', 'portMappings', 'shaping']);
  await assert.rejects(plugin.status(), /network pods needs ipRanges, and no pod CIDR is set/);
  await assert.rejects(plugin.setUpPod(setup, signal), { code: 'failed_precondition' });
  await plugin.event({ name: 'POD_CIDR_CHANGE', podCidr: '10.1.0.0/24' });
  await plugin.status();
  const annotations = { 'kubernetes.io/ingress-bandwidth': '1M' };
  const portMappings = [
    portOf({ protocol: Protocol.UDP, hostPort: 53, containerPort: 5353, hostIp: '127.0.0.1' }),
    portOf({ containerPort: 1 }),
  ];
  await plugin.setUpPod({ ...setup, annotations, portMappings }, signal);
  const { runtimeConfig, mtu } = await fake.request('ADD', 'bridge');
  assert.equal(mtu, 1400);
  assert.deepEqual(runtimeConfig, {
    portMappings: [{ protocol: 'udp', hostPort: 53, containerPort: 5353, hostIP: '127.0.0.1' }],
    bandwidth: { ingressRate: 1_000_000, ingressBurst: 2 ** 31 - 1 },
    ipRanges: [[{ subnet: '10.1.0.0/24' }]],
  });
  assert.ok((await fake.environment('ADD', 'bridge')).some((line) => /^CNI_ARGS=.*K8S_POD_NAME=web;/.test(line)));
});

test('a template is rendered with the pod CIDR, and again when it changes', async (t) => {
  const { fake, confDir, open, write } = await place(t);
  await fake.install('bridge', answers('10.1.0.2/24'));
  const ipam = { type: 'bridge', ranges: '@' };
  write('10.conflist.template', JSON.stringify(listOf({ type: 'bridge', ipam })).replace('"@"', '{{.PodCIDRRanges}}'));
  write('20.conf.template', '{{.Unknown}}');
  const plugin = open();
  await plugin.init(settings);
  await assert.rejects(plugin.status(), /no network configuration/);
  for (const subnet of ['10.1.0.0/24', '10.2.0.0/24']) {
    await plugin.event({ name: 'POD_CIDR_CHANGE', podCidr: subnet });
    await plugin.status();
    const written = JSON.parse(readFileSync(join(confDir, '10.conflist'), 'utf8'));
    assert.deepEqual(written.plugins[0].ipam.ranges, [[{ subnet }]]);
  }
  await assert.rejects(plugin.event({ name: 'POD_CIDR_CHANGE', podCidr: '10.1.0.0' }), { code: 'invalid_argument' });
});

test('a pod is torn down with its setup configuration, repeatedly and even after a restart', async (t) => {
  const { fake, open, write } = await place(t);
  await fake.install('old', answers('10.1.0.2/24'));
  await fake.install('new', answers('10.2.0.2/24'));
  write('10.conflist', listOf({ type: 'old' }));
  assert.equal(await open().podNetworkStatus(pod, undefined), undefined);
  await open().setUpPod(setup, signal);
  write('10.conflist', listOf({ type: 'new' }));
  const plugin = open();
  assert.deepEqual(await plugin.podNetworkStatus(pod, undefined), { ips: ['10.1.0.2'] });
  const down = { pod, portMappings: [] };
  await plugin.tearDownPod(down, signal);
  assert.deepEqual(await fake.journal(), ['ADD old', 'DEL old']);
  // the sandbox's process has exited and its PID might be reused, so CNI_NETNS is empty
  assert.ok((await fake.environment('DEL', 'old')).includes('CNI_NETNS='));
  await plugin.tearDownPod(down, signal);
  assert.deepEqual((await fake.journal()).slice(2), ['DEL new']);
  assert.equal(await plugin.podNetworkStatus(pod, undefined), undefined);
});

test('the current configuration is used in place of a corrupt record', async (t) => {
  const { fake, open, write } = await place(t);
  await fake.install('good', answers('10.1.0.2/24'));
  write('10.conflist', listOf({ type: 'good' }));
  const plugin = open();
  await plugin.setUpPod(setup, signal);
  writeFileSync(join(fake.cacheDirectory, 'attachments', `${pod.sandboxId}@eth0.json`), '{');
  assert.equal(await plugin.podNetworkStatus(pod, undefined), undefined);
  rmSync(join(fake.directory, 'good'));
  await plugin.tearDownPod({ pod, portMappings: [] }, signal);
  assert.deepEqual((await open().podNetworkStatus(pod, undefined)) ?? 'none', 'none');
});

/** Returns the path of a network namespace whose `eth0` has an address. */
async function namespaceWithAddress(t: { after(work: () => void): void }): Promise<string> {
  const commands =
    'ip link add eth0 type veth peer name other && ip address add 10.1.0.2/24 dev eth0 && echo ready && cat';
  const child = spawn('unshare', ['--net', 'sh', '-c', commands], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => void child.stdin.end());
  await once(child.stdout, 'data', { signal });
  return `/proc/${child.pid}/ns/net`;
}

test('a pod is set up if its record says so, or if the record is damaged and the pod has an address', async (t) => {
  const { fake, open, write } = await place(t);
  await fake.install('good', answers('10.1.0.2/24'));
  write('10.conflist', listOf({ type: 'good' }));
  const plugin = open();
  const netnsPath = await namespaceWithAddress(t);
  const isSetUp = (path?: string) => plugin.isSetUp(pod, async () => path);
  assert.equal(await isSetUp(netnsPath), false, 'a crash may have interrupted the setup');
  await plugin.setUpPod(setup, signal);
  assert.equal(await isSetUp(), true);
  writeFileSync(join(fake.cacheDirectory, 'attachments', `${pod.sandboxId}@eth0.json`), '{');
  assert.equal(await isSetUp(netnsPath), true);
  assert.equal(await isSetUp('/proc/0/ns/net'), false);
  assert.equal(await isSetUp(), false);
});

test('calls for one pod are serialized, calls for different pods are not', async (t) => {
  const { fake, open, write } = await place(t);
  const wait = `[ "$CNI_COMMAND" = ADD ] && case "$CNI_ARGS" in *=web\\;*) until [ -e ${fake.directory}/go ]; do sleep 0.02; done;; esac`;
  await fake.install('slow', `${wait}\n${answers('10.1.0.2/24')}`);
  write('10.conflist', listOf({ type: 'slow' }));
  const plugin = open();
  const first = plugin.setUpPod(setup, signal);
  const next = plugin.tearDownPod({ pod: { ...pod, sandboxId: 'b'.repeat(64) }, portMappings: [] }, signal);
  await plugin.setUpPod({ ...setup, pod: { ...pod, name: 'db', sandboxId: 'c'.repeat(64) } }, signal);
  assert.ok(!(await fake.journal()).includes('DEL slow'));
  writeFileSync(join(fake.directory, 'go'), '');
  await Promise.all([first, next]);
  assert.equal((await fake.journal()).at(-1), 'DEL slow');
});

test('a network that failed to be removed is removed by the next call', async (t) => {
  const { fake, open, write } = await place(t);
  await fake.install('stuck', failsOn('DEL', '10.1.0.2/24'));
  write('10.conflist', listOf({ type: 'stuck' }));
  const plugin = open();
  await plugin.setUpPod(setup, signal);
  await assert.rejects(plugin.tearDownPod({ pod, portMappings: [] }, signal), /try later/);
  assert.deepEqual(await plugin.podNetworkStatus(pod, undefined), { ips: ['10.1.0.2'] });
});

test('a pod’s ports set up by another dockershim are released using its libcni record', async (t) => {
  const { fake, open, write } = await place(t);
  await fake.install('bridge', answers('10.1.0.2/24'));
  write('10.conflist', listOf({ type: 'bridge', capabilities: { portMappings: true } }));
  const results = join(fake.cacheDirectory, 'results');
  mkdirSync(results, { recursive: true });
  const ports = [{ hostPort: 8080, containerPort: 80, protocol: 'tcp', hostIP: '127.0.0.1' }];
  const libcniRecord = { kind: 'cniCacheV1', containerId: pod.sandboxId, capabilityArgs: { portMappings: ports } };
  writeFileSync(join(results, `pods-${pod.sandboxId}-eth0`), JSON.stringify(libcniRecord));
  writeFileSync(join(results, `cni-loopback-${pod.sandboxId}-eth0`), '{');
  writeFileSync(join(results, 'pods-other-eth0'), '{}');
  await open().tearDownPod({ pod, portMappings: [] }, signal);
  assert.deepEqual((await fake.request('DEL', 'bridge')).runtimeConfig, { portMappings: ports });
  assert.deepEqual(readdirSync(results), ['pods-other-eth0']);
});
