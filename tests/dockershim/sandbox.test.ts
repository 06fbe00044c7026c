import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { type Logger, silentLogger, waitFor } from '@podwright/base';
import { NamespaceMode, PodSandboxState, Protocol } from '@podwright/cri';
import { FakePlugins } from '../../packages/cni/src/fake-plugin.fixture.ts';
import { recoverSandboxes } from '../../packages/dockershim/src/sandbox/recover-sandboxes.ts';
import { busyboxImage } from './docker-engine.fixture.ts';
import {
  bridgePlugin,
  dockerBridge,
  openShim,
  podConfig,
  remains,
  type SandboxShim,
  type SandboxShimOptions,
  startPlace,
  writeNetwork,
} from './sandbox-place.fixture.ts';

const { SANDBOX_READY: READY, SANDBOX_NOTREADY: NOT_READY } = PodSandboxState;

let started: Awaited<ReturnType<typeof startPlace>>;
let shims: SandboxShim[] = [];
before(async () => {
  started = await startPlace();
});
after(() => started.end());
afterEach(() => {
  for (const shim of shims) shim.close();
  shims = [];
});

async function open(options: SandboxShimOptions = {}): Promise<SandboxShim> {
  const shim = await openShim(started.place, options);
  shims.push(shim);
  return shim;
}

async function end(shim: SandboxShim, id: string): Promise<void> {
  await shim.stop(id);
  await shim.remove(id);
}

const nothingLeft = async () => assert.deepEqual(await remains(started.place), []);

const sleeper = (labels: Record<string, string>) => {
  return { Image: busyboxImage, Cmd: ['sleep', '100000'], Labels: labels, HostConfig: { NetworkMode: 'none' } };
};

test('a sandbox is run, shown, stopped and removed, and repeated calls succeed', async () => {
  const shim = await open();
  const mapping = { protocol: Protocol.TCP, containerPort: 80, hostPort: 38236, hostIp: '' };
  const id = await shim.run(podConfig('life', { portMappings: [mapping] }));
  const { network, ...status } = await shim.status(id);
  assert.match(network!.ip!, /^10\.235\./);
  assert.equal(status.state, READY);
  assert.deepEqual({ ...status.metadata }, { name: 'life', namespace: 'default', uid: 'life-uid', attempt: 0 });
  assert.deepEqual(status.annotations, { 'a/b': 'c' });
  assert.equal(status.labels?.['io.kubernetes.pod.uid'], 'life-uid');
  const [listed] = await shim.list();
  assert.deepEqual({ ...listed, linux: status.linux }, status);
  const { HostConfig } = await shim.engine.containers.inspect(id);
  const resolvConf = join(shim.checkpoints.filesOf(id), 'resolv.conf');
  assert.equal(readFileSync(resolvConf, 'utf8'), 'search svc.local\nnameserver 10.0.0.10\noptions ndots:5\n');
  assert.equal(HostConfig.IpcMode, 'shareable');
  for (let times = 0; times < 2; times++) await shim.stop(id);
  assert.equal((await shim.status(id)).state, NOT_READY);
  for (let times = 0; times < 2; times++) await shim.remove(id);
  await shim.stop(id);
  await assert.rejects(shim.status(id), { code: 'not_found' });
  await nothingLeft();
});

test('list filters also apply to sandboxes whose container was removed', async () => {
  const shim = await open();
  const [one, other] = await Promise.all([shim.run(podConfig('one')), shim.run(podConfig('other'))]);
  await shim.engine.containers.remove(other);
  const check = async (filter: object, expected: string[]) => {
    const found = await shim.list({ id: '', labelSelector: {}, ...filter });
    assert.deepEqual(found.map(({ id }) => id).sort(), expected.sort());
  };
  await check({}, [one, other]);
  await check({ id: one.slice(0, 20) }, [one]);
  await check({ id: other }, [other]);
  await check({ state: { state: READY } }, [one]);
  await check({ state: { state: NOT_READY } }, [other]);
  await check({ labelSelector: { 'io.kubernetes.pod.uid': 'other-uid' } }, [other]);
  await check({ labelSelector: { 'io.kubernetes.pod.uid': 'one-uid' }, state: { state: READY } }, [one]);
  await check({ labelSelector: { toString: 'x' } }, []);
  assert.equal((await shim.status(other)).state, NOT_READY);
  for (const id of [one, other]) await end(shim, id);
  await nothingLeft();
});

test("a pod on the host's network does not have its own network", async () => {
  const shim = await open();
  const namespaceOptions = { network: NamespaceMode.NODE, pid: NamespaceMode.NODE, ipc: NamespaceMode.NODE };
  const id = await shim.run(podConfig('hosted', { hostname: '', linux: { securityContext: { namespaceOptions } } }));
  const { network, linux, state } = await shim.status(id);
  assert.deepEqual([state, network?.ip], [READY, '']);
  const { network: net, pid, ipc } = linux!.namespaces!.options!;
  assert.deepEqual({ network: net, pid, ipc }, namespaceOptions);
  await end(shim, id);
  await nothingLeft();
});

test('features not supported by the Engine are rejected with the reason', async () => {
  const shim = await open();
  await assert.rejects(
    shim.run(podConfig('x'), 'kata'),
    /"kata" is not a runtime of the Docker Engine, which has .*runc/,
  );
  const usernsOptions = { mode: NamespaceMode.POD, uids: [{ hostId: 70000, containerId: 0, length: 65536 }], gids: [] };
  const linux = { securityContext: { namespaceOptions: { usernsOptions } } };
  await assert.rejects(shim.run(podConfig('x', { linux })), {
    code: 'failed_precondition',
    message: /user namespace of a pod/,
  });
  await nothingLeft();
  await end(shim, await shim.run(podConfig('x'), 'runc'));
});

test('the name of a dead or incomplete sandbox is freed, a running one keeps it, and one taken by a foreign container gets a suffix', async () => {
  const shim = await open();
  const name = 'k8s_POD_taken_default_taken-uid_0';
  const labels = { 'io.kubernetes.docker.type': 'podsandbox', 'io.kubernetes.container.name': 'POD' };
  const { containers } = shim.engine;
  const created = await containers.create(name, sleeper(labels));
  const id = await shim.run(podConfig('taken'));
  await assert.rejects(containers.inspect(created), { code: 'not_found' });
  await assert.rejects(shim.run(podConfig('taken')), { code: 'already_exists', message: /it exists and runs/ });
  assert.equal((await shim.status(id)).state, READY);
  await shim.stop(id);
  const again = await shim.run(podConfig('taken'));
  await end(shim, again);
  const foreign = await containers.create(name, sleeper({}));
  const suffixed = await shim.run(podConfig('taken'));
  assert.deepEqual((await shim.status(suffixed)).metadata?.uid, 'taken-uid');
  await end(shim, suffixed);
  await containers.inspect(foreign);
  await containers.remove(foreign);
  await nothingLeft();
});

test('containers in a sandbox are stopped with it; foreign ones with the same labels are never touched', async () => {
  const shim = await open();
  const id = await shim.run(podConfig('full'));
  const { containers } = shim.engine;
  const inside = { 'io.kubernetes.docker.type': 'container', 'io.kubernetes.sandbox.id': id };
  const sandbox = { 'io.kubernetes.docker.type': 'podsandbox' };
  const hostile: [name: string, labels: Record<string, string>][] = [
    ['shop_db', inside],
    ['k8s_db', { 'io.kubernetes.sandbox.id': id }],
    ['k8s_main_full_default_full-uid_7', { ...inside, 'io.kubernetes.docker.type': '../../x' }],
    ['pause', { ...sandbox, 'io.podwright.details': '{"createdAtNs":"x"}' }],
    ['k8s_web_a_b_c_0', { ...sandbox, 'io.kubernetes.container.name': 'POD', __proto__: 'x' }],
  ];
  const foreign: string[] = [];
  for (const [name, labels] of hostile) foreign.push(await containers.create(name, sleeper(labels)));
  const ours = await containers.create('k8s_main_full_default_full-uid_0', sleeper(inside));
  for (const container of [...foreign, ours]) await containers.start(container);
  await recoverSandboxes(shim.dependencies, AbortSignal.timeout(60_000));
  assert.deepEqual(
    (await shim.list()).map((listed) => listed.id),
    [id],
  );
  for (const container of foreign) {
    await assert.rejects(shim.status(container), { code: 'not_found' });
    await shim.stop(container);
    await shim.remove(container);
  }
  for (const name of ['pause', 'k8s_POD_full_default_full-uid_0']) await shim.remove(name);
  await shim.stop(id);
  assert.equal((await containers.inspect(ours)).State.Running, false);
  await shim.remove(id);
  await assert.rejects(containers.inspect(ours), { code: 'not_found' });
  for (const container of foreign) {
    assert.equal((await containers.inspect(container)).State.Running, true);
    await containers.remove(container);
  }
  await nothingLeft();
});

test('the network of a sandbox removed by another client is released when it is stopped or at the next start', async () => {
  const shim = await open();
  const [stopped, recovered] = [await shim.run(podConfig('stopped')), await shim.run(podConfig('recovered'))];
  for (const id of [stopped, recovered]) await shim.engine.containers.remove(id);
  await shim.stop(stopped);
  await shim.remove(stopped);
  const next = await open();
  await recoverSandboxes(next.dependencies, AbortSignal.timeout(60_000));
  assert.deepEqual(await next.list(), []);
  await shim.remove(recovered);
  await nothingLeft();
});

test('a corrupt checkpoint is logged with its path, and its sandbox is removed without it', async () => {
  const warned: object[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields) => void warned.push(fields) };
  const shim = await open({ logger });
  const [first, second] = [await shim.run(podConfig('first')), await shim.run(podConfig('second'))];
  const pathOf = (id: string) => join(started.place.root, 'sandboxes', `${id}.json`);
  for (const id of [first, second]) writeFileSync(pathOf(id), readFileSync(pathOf(id), 'utf8').replace('cni', 'xxx'));
  await shim.engine.containers.remove(second);
  const next = await open({ logger });
  await recoverSandboxes(next.dependencies, AbortSignal.timeout(60_000));
  const named = warned
    .flatMap((fields) => ('path' in fields ? [fields.path] : []))
    .filter((path) => String(path).includes('sandboxes'));
  assert.deepEqual(named.sort(), [pathOf(first), pathOf(second)].sort());
  assert.deepEqual(
    (await next.list()).map(({ id, state }) => [id, state]),
    [[first, READY]],
  );
  assert.match((await next.status(first)).network!.ip!, /^10\.235\./);
  await end(next, first);
  await nothingLeft();
});

test('a network setup that fails or hangs leaves nothing behind, and its error is reported', async () => {
  await using fake = await FakePlugins.create();
  const place = { ...started.place, binDirs: [...started.place.binDirs, fake.directory] };
  const failing = { type: 'failing' };
  await fake.install('failing', 'echo \'{"code":11,"msg":"the pool is empty"}\'; [ "$CNI_COMMAND" != ADD ]; exit $?');
  await fake.install('hanging', '[ "$CNI_COMMAND" = ADD ] && exec sleep 1000; exit 0');
  try {
    writeNetwork(place, [bridgePlugin(place), failing]);
    const shim = await openShim(place);
    shims.push(shim);
    await assert.rejects(shim.run(podConfig('poor')), /the pool is empty/);
    await nothingLeft();
    writeNetwork(place, [bridgePlugin(place), { type: 'hanging' }]);
    const cancelled = new AbortController();
    const hasty = await openShim(place, { signal: cancelled.signal });
    shims.push(hasty);
    const run = hasty.run(podConfig('poor'));
    await Promise.all([
      assert.rejects(run, /client went away/),
      waitForHang(fake).then(() => cancelled.abort(new Error('client went away'))),
    ]);
    await nothingLeft();
  } finally {
    writeNetwork(started.place, [bridgePlugin(started.place)]);
  }
});

async function waitForHang(fake: FakePlugins): Promise<void> {
  const hangs = async () => (await fake.journal()).includes('ADD hanging') || undefined;
  await waitFor(hangs, { intervalMs: 20, signal: AbortSignal.timeout(60_000) });
}

test('a hanging network teardown does not keep the sandbox running', async () => {
  await using fake = await FakePlugins.create();
  const place = { ...started.place, binDirs: [...started.place.binDirs, fake.directory] };
  const pass = '[ "$CNI_COMMAND" = ADD ] && printf %s "$config" | sed \'s/.*"prevResult"://; s/}$//\'; exit 0';
  await fake.install('hanging', `[ "$CNI_COMMAND" = DEL ] && exec sleep 1000\n${pass}`);
  try {
    writeNetwork(place, [bridgePlugin(place), { type: 'hanging' }]);
    const cancelled = new AbortController();
    const hasty = await openShim(place, { signal: cancelled.signal });
    const patient = await openShim(place);
    shims.push(hasty, patient);
    const id = await patient.run(podConfig('stuck'));
    const hangs = async () => (await fake.journal()).includes('DEL hanging') || undefined;
    const abort = waitFor(hangs, { intervalMs: 20, signal: AbortSignal.timeout(60_000) }).then(() =>
      cancelled.abort(new Error('client went away')),
    );
    await Promise.all([assert.rejects(hasty.stop(id), /client went away/), abort]);
    assert.equal((await patient.status(id)).state, NOT_READY);
    await fake.install('hanging', 'exit 0');
    await end(patient, id);
    await nothingLeft();
  } finally {
    writeNetwork(started.place, [bridgePlugin(started.place)]);
  }
});

for (const stage of [
  'sandbox-run/checkpointed',
  'sandbox-run/started',
  'sandbox-stop/network-down',
  'sandbox-remove/network-down',
]) {
  test(`an Engine that is killed and started again at ${stage} at most fails the call, and a retry succeeds`, async () => {
    let restart: (() => Promise<void>) | undefined = () => started.engine.restart();
    const failpoint = async (reached: string) => {
      if (reached !== stage) return;
      const work = restart;
      restart = undefined;
      await work?.();
    };
    const shim = await open({ failpoint });
    const again = async <T>(work: () => Promise<T>) => await work().catch(work);
    const id = await again(() => shim.run(podConfig('retried')));
    assert.match((await shim.status(id)).network!.ip!, /^10\.235\./);
    await again(() => shim.stop(id));
    await again(() => shim.remove(id));
    assert.equal(restart, undefined);
    await nothingLeft();
  });
}

test('with Docker’s own bridge, resolv.conf keeps the pod’s DNS settings across an Engine restart', async () => {
  const shim = await open({ network: dockerBridge() });
  const id = await shim.run(
    podConfig('resolved', { dnsConfig: { servers: ['10.9.9.9'], searches: ['.'], options: [] } }),
  );
  const { ResolvConfPath } = await shim.engine.containers.inspect(id);
  const content = () => readFileSync(ResolvConfPath, 'utf8');
  assert.equal(content(), 'search .\nnameserver 10.9.9.9\n');
  await started.engine.restart();
  assert.equal(content(), 'search .\nnameserver 10.9.9.9\n');
  const { State } = await shim.engine.containers.inspect(id);
  assert.match(readFileSync(`/proc/${State.Pid}/root/etc/resolv.conf`, 'utf8'), /10\.9\.9\.9/);
  await end(shim, id);
  await nothingLeft();
});

test('twenty sandboxes, run and removed five at a time, leave nothing behind', async () => {
  const shim = await open();
  const lives = Array.from({ length: 20 }, (_, index) => async () => {
    const mapping = { protocol: Protocol.UDP, containerPort: 53, hostPort: 38240 + index, hostIp: '127.0.0.1' };
    await end(shim, await shim.run(podConfig(`one-of-20-${index}`, { portMappings: [mapping] })));
  });
  const worker = async () => {
    for (let life = lives.pop(); life !== undefined; life = lives.pop()) await life();
  };
  await Promise.all(Array.from({ length: 5 }, worker));
  await nothingLeft();
});
