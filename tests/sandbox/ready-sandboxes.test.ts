/** Ready sandboxes, which a runtime creates in advance for future pods: they behave like all others, and none is left behind. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Limiter, sleep, waitFor, withTimeout } from '@podwright/base';
import { type CriClient, NamespaceMode } from '@podwright/cri';
import { startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const MOST = 6;
/** Number of sandboxes in the last test, set by TEST_PODS. */
const SANDBOXES = Number(process.env.TEST_PODS ?? 100);

const place = makeTestPlace();
place.options.readySandboxes = MOST;
place.options.fastPaths = true;
place.options.ociRuntime = 'runc';
place.options.handlers = { paused: { task: 'oci', program: 'runc', sandbox: 'pause' } };
const runtime = new RuntimeUnderTest(place);
before(async () => void (await runtime.start()));
after(async () => assert.deepEqual(await runtime.end(), []));

async function readyCount({ runtime: cri }: CriClient): Promise<number> {
  const { info } = await cri.status({ verbose: true });
  return (JSON.parse(info.config!) as { readySandboxes: number }).readySandboxes;
}

/** Waits until there are at least `count` ready sandboxes; recent pod starts may raise the number. */
async function untilReady(cri: CriClient, count: number): Promise<void> {
  using signal = withTimeout(undefined, 30_000, `wait for ${count} ready sandboxes`);
  await waitFor(async () => (await readyCount(cri)) >= count || undefined, { intervalMs: 20, signal });
}

/** Returns the IDs of all sandboxes that have namespaces. */
const withNamespaces = () => readdirSync(join(place.options.state, 'ns'));
const pinOf = (id: string, kind: string) => join(place.options.state, 'ns', id, kind);
const numberOf = (path: string) => statSync(path, { bigint: true }).ino;

function inside(id: string, ...command: string[]): string {
  const entered = ['net', 'ipc', 'uts'].map((kind) => `--${kind}=${pinOf(id, kind)}`);
  return execFileSync('nsenter', [...entered, '--', ...command], { encoding: 'utf8' }).trim();
}

async function runPod(name: string, more: object = {}, runtimeHandler = ''): Promise<string> {
  const config = { ...podOf(place, name), ...more };
  return (await runtime.cri.runtime.runPodSandbox({ config, runtimeHandler })).podSandboxId;
}

const removePod = (podSandboxId: string) => runtime.cri.runtime.removePodSandbox({ podSandboxId });

for (const handler of ['', 'paused'])
  test(`a pod of handler "${handler}" with a ready sandbox is like any other`, async () => {
    await untilReady(runtime.cri, Math.max(2, await readyCount(runtime.cri)));
    const ready = new Set(withNamespaces());
    const sysctls = { 'net.ipv4.ip_forward': '1', 'kernel.shm_rmid_forced': '1' };
    const linux = { ...podOf(place, 'web').linux, sysctls };
    const [one, two] = [await runPod('web', { linux, hostname: 'my-web' }, handler), await runPod('next', {}, handler)];
    assert.ok(ready.has(one) && ready.has(two));
    const sysctl = (id: string, name: string) => inside(id, 'cat', `/proc/sys/${name}`);
    assert.equal(inside(one, 'hostname'), 'my-web');
    assert.equal(sysctl(one, 'net/ipv4/ip_forward'), '1');
    assert.equal(sysctl(one, 'kernel/shm_rmid_forced'), '1');
    assert.equal(sysctl(one, 'net/ipv4/ip_unprivileged_port_start'), '0');
    assert.equal(inside(two, 'hostname'), 'next');
    assert.equal(sysctl(two, 'kernel/shm_rmid_forced'), '0');
    assert.equal(sysctl(two, 'net/ipv4/ip_unprivileged_port_start'), '0');
    for (const kind of ['net', 'ipc', 'uts']) {
      const host = BigInt(/\d+/.exec(readlinkSync(`/proc/self/ns/${kind}`))![0]);
      assert.equal(new Set([host, numberOf(pinOf(one, kind)), numberOf(pinOf(two, kind))]).size, 3, kind);
    }
    const addressOf = async (podSandboxId: string) =>
      (await runtime.cri.runtime.podSandboxStatus({ podSandboxId })).status!.network!.ip;
    for (const id of [one, two]) {
      const links = JSON.parse(inside(id, 'ip', '-json', 'address')) as {
        ifname: string;
        addr_info: { local: string }[];
      }[];
      assert.deepEqual(links.map(({ ifname }) => ifname).sort(), ['eth0', 'lo']);
      const eth0 = links.find(({ ifname }) => ifname === 'eth0')!;
      assert.ok(eth0.addr_info.some(({ local }) => local !== '') && JSON.stringify(eth0).includes(await addressOf(id)));
    }
    inside(one, 'busybox', 'ping', '-c', '1', '-W', '5', await addressOf(two));
    for (const id of [one, two]) await removePod(id);
  });

test('containers of a pod with a ready sandbox are in its namespaces', async () => {
  await untilReady(runtime.cri, Math.max(2, await readyCount(runtime.cri)));
  const podSandboxId = await runPod('lived-in');
  const config = containerOf(runtime.image, 'main', 'exec sleep 1000');
  const { containerId } = await runtime.cri.runtime.createContainer({ podSandboxId, config });
  await runtime.cri.runtime.startContainer({ containerId });
  const { stdout } = await runtime.cri.runtime.execSync({ containerId, cmd: ['hostname'], timeout: 20n });
  assert.equal(Buffer.from(stdout).toString(), 'lived-in\n');
  const links = await runtime.cri.runtime.execSync({
    containerId,
    cmd: ['readlink', '/proc/self/ns/net'],
    timeout: 20n,
  });
  assert.equal(Buffer.from(links.stdout).toString(), `net:[${numberOf(pinOf(podSandboxId, 'net'))}]\n`);
  await removePod(podSandboxId);
});

test('a pod without a host name has the host’s name', async () => {
  await untilReady(runtime.cri, Math.max(2, await readyCount(runtime.cri)));
  const id = await runPod('nameless', { hostname: '' });
  assert.equal(inside(id, 'hostname'), hostname());
  await removePod(id);
});

test('a pod that shares the IPC or network namespace of the host gets no ready sandbox', async () => {
  await untilReady(runtime.cri, Math.max(2, await readyCount(runtime.cri)));
  const ready = new Set(withNamespaces());
  for (const modes of [{ ipc: NamespaceMode.NODE }, { network: NamespaceMode.NODE, ipc: NamespaceMode.NODE }]) {
    const id = await runPod('sharing', podOf(place, 'sharing', modes));
    assert.ok(!ready.has(id));
    await removePod(id);
  }
  const left = withNamespaces().filter((id) => ready.has(id));
  assert.equal(left.length, ready.size); // more may have been created
});

test('a failed pod leaves nothing of its ready sandbox behind', async () => {
  await untilReady(runtime.cri, Math.max(2, await readyCount(runtime.cri)));
  const ready = withNamespaces();
  const linux = { ...podOf(place, 'bad').linux, sysctls: { 'kernel.panic': '1' } };
  await assert.rejects(runPod('bad', { linux }), { code: 'invalid_argument' });
  const left = withNamespaces().filter((id) => ready.includes(id));
  assert.equal(left.length, ready.length - 1);
  const agree = async () => (await linksOnBridge()) === (await attachedOnes()) || undefined; // further sandboxes are created meanwhile
  await waitFor(agree, { intervalMs: 20, signal: AbortSignal.timeout(30_000) });
});

/** The number of links on the runtime's bridge, and the number of sandboxes with a link in their network namespace. */
const linksOnBridge = async () => runtime.podThings().filter((line) => line.startsWith('links: ')).length;
const attachedOnes = async () => withNamespaces().filter((id) => inside(id, 'ip', 'link').includes('eth0')).length;

test("sysctls for new network interfaces apply to the pod's interface", async () => {
  await untilReady(runtime.cri, Math.max(2, await readyCount(runtime.cri)));
  const path = '/proc/sys/net/ipv4/conf/eth0/rp_filter';
  for (const value of ['1', '2']) {
    const id = await runPod('interfaces-to-come', { linux: { sysctls: { 'net.ipv4.conf.default.rp_filter': value } } });
    assert.equal(inside(id, 'cat', path), value);
    await removePod(id);
  }
});

test('if ten pods start at once, the first get the ready sandboxes and all start', async () => {
  await untilReady(runtime.cri, MOST);
  const ready = new Set(withNamespaces());
  const ids = await Promise.all(Array.from({ length: 10 }, (_, index) => runPod(`burst-${index}`)));
  assert.equal(ids.filter((id) => ready.has(id)).length, MOST);
  assert.equal(new Set(ids).size, 10);
  await Promise.all(ids.map(removePod));
  await untilReady(runtime.cri, MOST);
  assert.equal(withNamespaces().length, MOST);
});

test('a stopped runtime leaves no ready sandboxes behind, and pods that use one keep running', async () => {
  await untilReady(runtime.cri, MOST);
  const id = await runPod('survivor');
  await runtime.stop();
  assert.deepEqual(withNamespaces(), [id]);
  await runtime.start({}, { load: false });
  assert.equal(inside(id, 'hostname'), 'survivor');
  await untilReady(runtime.cri, 2);
  await removePod(id);
});

test('the ready sandboxes of a killed runtime are removed by the next one, with their networks', async () => {
  await runtime.stop();
  const daemon = await startKillable(place);
  try {
    await daemon.cri.runtime.runPodSandbox({ config: podOf(place, 'first') });
    await daemon.cri.runtime.runPodSandbox({ config: podOf(place, 'second') });
    await untilReady(daemon.cri, 2);
  } finally {
    await daemon.kill();
  }
  assert.equal(withNamespaces().length, 4);
  await runtime.start({ readySandboxes: 0 }, { load: false });
  const { items } = await runtime.cri.runtime.listPodSandbox({});
  assert.deepEqual(withNamespaces().sort(), items.map(({ id }) => id).sort());
  for (const { id } of items) await removePod(id);
  assert.deepEqual(await runtime.remains(), []);
});

test('with ready_sandboxes = 0, or without fast paths, there are no ready sandboxes', async () => {
  for (const options of [{ readySandboxes: 0 }, { fastPaths: false }]) {
    await runtime.stop();
    await runtime.start(options, { load: false });
    assert.equal(await readyCount(runtime.cri), 0);
    await removePod(await runPod('plain'));
    await sleep(1000);
    assert.deepEqual(withNamespaces(), []);
  }
  await runtime.stop();
  await runtime.start({}, { load: false });
});

test(`${SANDBOXES} added and removed sandboxes do not affect the ready ones`, async () => {
  const limiter = new Limiter(8);
  const one = async (index: number) => removePod(await runPod(`many-${index}`));
  await Promise.all(Array.from({ length: SANDBOXES }, (_, index) => limiter.run(() => one(index))));
  await untilReady(runtime.cri, MOST);
  assert.equal(withNamespaces().length, MOST);
  await runtime.stop();
  assert.deepEqual(await runtime.remains(), []);
  await runtime.start({}, { load: false });
});
