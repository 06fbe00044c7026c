/** The DNS server with an API server, queried by dig and by glibc's resolver. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { type DnsServer, startDns } from '@podwright/dns';
import { runChecked, runProgram } from '@podwright/host';
import type { KubeObject } from '@podwright/kube-api';
import { createKubeClient, ENDPOINT_SLICES, type KubeClient, readKubeconfig, SERVICES } from '@podwright/kube-client';
import { type Behaviour, FakeResolver } from '../../packages/dns/src/forward/resolver.fixture.ts';
import { type Cluster, startOwnCluster } from '../cluster/cluster.fixture.ts';

const ADDRESS = '127.66.0.53';
const RESOLVER = '127.66.0.54';

const scratch = mkdtempSync(join(tmpdir(), 'pw-dns-'));
const podConfiguration = join(scratch, 'pod.conf');
const stop = new AbortController();
let cluster: Cluster;
let client: KubeClient;
let resolver: FakeResolver;
let server: DnsServer;

const behaviour: Behaviour = ({ query, isTcp }) => {
  const { name } = query.question;
  if (name === 'host.example') return { answers: [{ name, ttl: 300, type: 'A', address: '192.0.2.9' }] };
  if (name !== 'long.example') return { rcode: 3 };
  if (!isTcp) return { flags: 0x0200 };
  const addresses = Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`);
  return { answers: addresses.map((address) => ({ name, ttl: 300, type: 'A', address })) };
};

before(async () => {
  ({ cluster } = await startOwnCluster());
  writeFileSync(join(scratch, 'kubeconfig'), cluster.kubeconfig(cluster.adminCredential()), { mode: 0o600 });
  client = createKubeClient(await readKubeconfig(join(scratch, 'kubeconfig')));
  resolver = await FakeResolver.start(behaviour, { address: RESOLVER, port: 53 });
  writeFileSync(join(scratch, 'node.conf'), `nameserver ${RESOLVER}\n`);
  const search = 'default.svc.cluster.local svc.cluster.local cluster.local';
  writeFileSync(podConfiguration, `nameserver ${ADDRESS}\nsearch ${search}\noptions ndots:5\n`);
  const { signal } = stop;
  const clients = ['10.88.0.0/16'];
  const upstream = join(scratch, 'node.conf');
  server = await startDns({
    client,
    address: ADDRESS,
    domain: 'cluster.local',
    upstream,
    clients,
    logger: silentLogger,
    signal,
  });
  await createObjects();
  await server.synced;
});

after(async () => {
  stop.abort();
  await server?.close(); // each may be missing if `before` failed
  await resolver?.[Symbol.asyncDispose]();
  client?.close();
  await cluster?.[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

async function createObjects(): Promise<void> {
  const spec = { ports: [{ name: 'http', port: 80 }], selector: { app: 'web' } };
  const create = (name: string, fields: object) =>
    client.create(SERVICES, { metadata: { namespace: 'default', name }, spec: { ...spec, ...fields } } as KubeObject);
  await create('web', {});
  await create('db', { clusterIP: 'None' });
  await create('many', { clusterIP: 'None' });
  await create('out', { type: 'ExternalName', externalName: 'host.example', selector: undefined });
  const slice = (of: string, endpoints: object[]) =>
    client.create(ENDPOINT_SLICES, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace: 'default', name: `${of}-1`, labels: { 'kubernetes.io/service-name': of } },
      addressType: 'IPv4',
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      endpoints,
    } as KubeObject);
  await slice('db', [{ addresses: ['10.88.0.5'], hostname: 'db-0', conditions: { ready: true } }]);
  await slice(
    'many',
    Array.from({ length: 90 }, (_, index) => ({ addresses: [`10.88.1.${index + 1}`] })),
  );
  await waitFor(async () => ((await dig('+short', 'many.default.svc.cluster.local')).length > 80 ? true : undefined), {
    intervalMs: 20,
    signal: AbortSignal.timeout(30_000),
  });
}

async function dig(...args: string[]): Promise<string[]> {
  const output = await runChecked('dig', [`@${ADDRESS}`, '+tries=1', '+time=10', ...args]);
  return output.split('\n').filter((line) => line !== '');
}

const header = async (...args: string[]) =>
  (await dig(...args)).filter((line) => /status:|flags:/.test(line)).join(' ');

/** Looks up a name with glibc's resolver, as in a pod. */
async function glibc(database: 'ahostsv4' | 'hosts', name: string): Promise<string> {
  const script = `mount --bind ${podConfiguration} /etc/resolv.conf && exec getent ${database} ${name}`;
  const { exitCode, stdout } = await runProgram('unshare', ['--mount', 'sh', '-c', script]);
  return exitCode === 0 ? stdout.split(/\s+/)[database === 'hosts' ? 1 : 0]! : `exit code ${exitCode}`;
}

test('dig returns the records of services, endpoints and pods', async () => {
  const { spec } = await client.get<KubeObject & { spec: { clusterIP: string } }>(SERVICES, {
    namespace: 'default',
    name: 'web',
  });
  const check = async (expected: string[], ...args: string[]) =>
    assert.deepEqual(await dig('+short', ...args), expected);
  await check([spec.clusterIP], 'web.default.svc.cluster.local');
  await check([], 'web.default.svc.cluster.local', 'AAAA');
  await check(['0 100 80 web.default.svc.cluster.local.'], '_http._tcp.web.default.svc.cluster.local', 'SRV');
  await check(['0 100 8080 db-0.db.default.svc.cluster.local.'], '_http._tcp.db.default.svc.cluster.local', 'SRV');
  await check(['10.88.0.5'], 'db-0.db.default.svc.cluster.local');
  await check(['web.default.svc.cluster.local.'], '-x', spec.clusterIP);
  await check(['db-0.db.default.svc.cluster.local.'], '-x', '10.88.0.5');
  await check(['10.1.2.3'], '10-1-2-3.default.pod.cluster.local');
  await check(['"1.1.0"'], 'dns-version.cluster.local', 'TXT');
  await check(['host.example.', '192.0.2.9'], 'out.default.svc.cluster.local');
});

test('dig shows why a name has no answer, and how long that remains valid', async () => {
  assert.match(
    await header('absent.default.svc.cluster.local'),
    /status: NXDOMAIN.*flags: qr aa rd ra;.*ANSWER: 0, AUTHORITY: 1/,
  );
  assert.match(await header('web.default.svc.cluster.local', 'MX'), /status: NOERROR.*ANSWER: 0, AUTHORITY: 1/);
  const [authority] = (await dig('absent.default.svc.cluster.local')).filter(
    (line) => /\sSOA\s/.test(line) && !line.startsWith(';'),
  );
  assert.match(
    authority!,
    /^cluster\.local\.\s+30\s+IN\s+SOA\s+ns\.dns\.cluster\.local\. hostmaster\.cluster\.local\. \d+ 7200 1800 86400 30$/,
  );
  assert.match(await header('version.bind', 'CH', 'TXT'), /status: REFUSED/);
  assert.match(await header('+opcode=UPDATE', 'cluster.local'), /status: (?:NOTIMP|FORMERR)/);
  assert.match(await header('+edns=1', '+noednsnegotiation', 'web.default.svc.cluster.local'), /status: BADVERS/);
  assert.match((await runProgram('dig', [`@${ADDRESS}`, 'cluster.local', 'AXFR'])).stdout, /Transfer failed/);
});

test('a long response is truncated over UDP and complete over TCP', async () => {
  const name = 'many.default.svc.cluster.local';
  assert.match(await header('+ignore', name), /flags: qr aa tc rd ra;/);
  assert.equal((await dig('+short', name)).length, 90); // dig asks again by TCP
  assert.equal((await dig('+tcp', '+short', name)).length, 90);
  assert.match(await header('+ignore', '+noedns', name), /flags: qr aa tc rd ra;.*ANSWER: 29/);
});

test('other names are forwarded to the resolver, falling back to TCP', async () => {
  assert.deepEqual(await dig('+short', 'host.example'), ['192.0.2.9']);
  assert.equal((await dig('+short', 'long.example')).length, 100);
  assert.match(await header('absent.example'), /status: NXDOMAIN/);
  const asked = resolver.names.length;
  await dig('+short', 'HOST.example');
  assert.equal(resolver.names.length, asked);
});

test('glibc resolves services by their short names, and other names through the search path', async () => {
  const { spec } = await client.get<KubeObject & { spec: { clusterIP: string } }>(SERVICES, {
    namespace: 'default',
    name: 'web',
  });
  assert.equal(await glibc('ahostsv4', 'web'), spec.clusterIP);
  assert.equal(await glibc('ahostsv4', 'web.default'), spec.clusterIP);
  assert.equal(await glibc('ahostsv4', 'WEB.default.svc.cluster.local'), spec.clusterIP);
  assert.equal(await glibc('ahostsv4', 'out'), '192.0.2.9');
  assert.equal(await glibc('ahostsv4', 'host.example'), '192.0.2.9');
  assert.equal(await glibc('hosts', '10.88.0.5'), 'db-0.db.default.svc.cluster.local');
  assert.equal(await glibc('ahostsv4', 'absent'), 'exit code 2');
});

test('names of deleted services are removed', async () => {
  await client.delete(SERVICES, { namespace: 'default', name: 'web' });
  await waitFor(async () => (/NXDOMAIN/.test(await header('web.default.svc.cluster.local')) ? true : undefined), {
    intervalMs: 20,
    signal: AbortSignal.timeout(30_000),
  });
});

test('clients from other networks are refused', async () => {
  const { signal } = stop;
  const shared = { client, domain: 'cluster.local', upstream: '/dev/null', logger: silentLogger, signal };
  const inside = 'pw-dns-test';
  await runChecked('ip', ['netns', 'add', inside]);
  const ip = (...args: string[]) => runChecked('ip', args);
  try {
    await ip('link', 'add', 'pw-dns0', 'type', 'veth', 'peer', 'name', 'pw-dns1', 'netns', inside);
    await ip('addr', 'add', '198.18.66.1/24', 'dev', 'pw-dns0');
    await ip('link', 'set', 'pw-dns0', 'up');
    await ip('-n', inside, 'addr', 'add', '198.18.66.2/24', 'dev', 'pw-dns1');
    await ip('-n', inside, 'link', 'set', 'pw-dns1', 'up');
    const ask = async (clients: string[]) => {
      const one = await startDns({ ...shared, address: '198.18.66.1', port: 5366, clients });
      await one.synced;
      const name = 'db-0.db.default.svc.cluster.local';
      const args = ['netns', 'exec', inside, 'dig', '@198.18.66.1', '-p', '5366', '+tries=3', '+time=5', name];
      const output = await runChecked('ip', args);
      await one.close();
      return /status: (\w+)/.exec(output)![1];
    };
    assert.equal(await ask(['10.88.0.0/16']), 'REFUSED');
    assert.equal(await ask(['198.18.66.0/24']), 'NOERROR');
  } finally {
    await runProgram('ip', ['link', 'del', 'pw-dns0']);
    await ip('netns', 'del', inside);
  }
});
