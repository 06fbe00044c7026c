/** `podwright controllers` and `podwright proxy` as separate daemons, on an API server that they are not part of. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiServer, startApiServer } from '@podwright/api-server';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { runChecked, runProgram } from '@podwright/host';
import type { KubeObject, Lease, Pod } from '@podwright/kube-api';
import { ENDPOINT_SLICES, type KubeClient, LEASES, NODES, PODS, SERVICES } from '@podwright/kube-client';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { freePort } from '../pods/node.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';

const USER = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
const DEPLOYMENTS = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const LEASE = { namespace: 'kube-system', name: 'podwright-controllers' };
const TABLE = 'podwright-services';
const SERVICE_RANGE = '10.173.243.0/24';

let bundle: Bundle;
let server: ApiServer;
let client: KubeClient;
const directory = mkdtempSync(join(tmpdir(), 'pw-parts-'));
const kubeconfig = join(directory, 'kubeconfig');
const programs: StartedProgram[] = [];

before(async () => {
  bundle = await buildBundle();
  server = await startApiServer({
    directory: join(directory, 'data'),
    socketPath: join(directory, 'api.sock'),
    listen: { host: '127.0.0.1', port: 0 },
    serviceRange: SERVICE_RANGE,
    logger: silentLogger,
  });
  writeFileSync(kubeconfig, server.kubeconfig(USER));
  client = server.client(USER);
});
after(async () => {
  for (const { child } of programs) child.kill('SIGKILL');
  await server.stop();
  await runProgram('nft', ['delete', 'table', 'inet', TABLE]);
  rmSync(directory, { recursive: true });
  bundle.remove();
});

function start(name: string, ...args: string[]): StartedProgram {
  const places = ['--root', join(directory, name, 'root'), '--state', join(directory, name, 'state')];
  const program = new StartedProgram([
    process.execPath,
    bundle.program,
    ...places,
    ...args,
    '--kubeconfig',
    kubeconfig,
  ]);
  programs.push(program);
  return program;
}

async function until<T>(check: () => Promise<T | false | undefined>): Promise<T> {
  using signal = withTimeout(undefined, 90_000, `wait for ${check}`);
  return await waitFor(async () => (await check()) || undefined, { intervalMs: 100, signal });
}

const holder = async () => (await client.get<Lease>(LEASES, LEASE).catch(() => undefined))?.spec?.holderIdentity;

async function deploy(name: string): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await client.create(DEPLOYMENTS, { metadata: { namespace: 'default', name }, ...{ spec } } as KubeObject);
}

const podsOf = async (app: string) =>
  (await client.list<Pod>(PODS, { namespace: 'default', labelSelector: `app=${app}` })).items.length;

test('controllers manage a remote API server, one process at a time, and are stopped by a signal', async () => {
  const metricsPort = await freePort();
  const first = start('one', '--metrics-address', `127.0.0.1:${metricsPort}`, 'controllers');
  const leader = await until(holder);
  const second = start('two', 'controllers');
  await deploy('web');
  await until(async () => (await podsOf('web')) === 2);
  assert.equal(await (await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).text(), 'ok');
  first.child.kill('SIGTERM');
  assert.equal((await first.ended()).code, 0);
  await until(async () => {
    const now = await holder();
    return now !== '' && now !== leader;
  });
  await deploy('next');
  await until(async () => (await podsOf('next')) === 2);
  second.child.kill('SIGTERM');
  assert.equal((await second.ended()).code, 0);
  assert.equal(await holder(), '');
});

test('a proxy serves the Services of a remote API server on this host, and its rules remain', async () => {
  const address = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  assert.ok(address !== undefined, 'the host has no address');
  const node = await client.create<KubeObject>(NODES, { metadata: { name: 'here' } });
  const status = { addresses: [{ type: 'InternalIP', address }] };
  await client.update(NODES, { ...node, ...{ status } }, { subresource: 'status' });
  const backend: Server = createServer((_, response) => response.end('answer')).listen(0, address);
  const port = await until(async () => (backend.address() as { port: number } | null)?.port);
  const metadata = { namespace: 'default', name: 'web' };
  const ports = [{ port: 80, protocol: 'TCP' }];
  const service = await client.create<KubeObject & { spec: { clusterIP: string } }>(SERVICES, {
    ...{ metadata, spec: { ports } },
  } as KubeObject);
  const slice = {
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ port, protocol: 'TCP' }],
  };
  await client.create(ENDPOINT_SLICES, slice as KubeObject);
  const proxy = start('proxy', 'proxy', '--node-name', 'here');
  const ask = () => runProgram('curl', ['-sS', '-m', '2', `http://${service.spec.clusterIP}/`]);
  await until(async () => (await ask()).stdout === 'answer');
  proxy.child.kill('SIGTERM');
  assert.equal((await proxy.ended()).code, 0);
  assert.equal((await ask()).stdout, 'answer');
  assert.match(await runChecked('nft', ['list', 'tables']), new RegExp(TABLE));
  backend.close();
});
