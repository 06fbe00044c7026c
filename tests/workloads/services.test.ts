/** Services, their DNS names, and workloads on a standalone node with a Kubernetes API, using real pods and packets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { runChecked, runProgram } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, freePort, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.237.0/24', { hasApi: true });
  daemon = await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const pods = (app: string, script: string, more = '') =>
  `selector: {matchLabels: {app: ${app}}}, template: {metadata: {labels: {app: ${app}}}, spec: {terminationGracePeriodSeconds: 0, ` +
  `containers: [{name: main, image: "${exampleImage}", command: [sh, -c, "${script}"]${more}}]}}`;
const SERVE = 'mkdir /www; hostname > /www/index.html; httpd -f -p 8080 -h /www';
const PROBE =
  ', ports: [{containerPort: 8080, name: http}], readinessProbe: {httpGet: {port: http, path: /}, periodSeconds: 1}';
const APP = [
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, ${pods('web', SERVE, PROBE)}}\n`,
  'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}\n',
  `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 2, serviceName: db, ${pods('db', 'sleep 10000')}}\n`,
  'apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {clusterIP: None, selector: {app: db}, ports: [{port: 80}]}\n',
  `apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {${pods('agent', 'sleep 10000')}}\n`,
].join('---\n');

type BalancedService = {
  spec: { healthCheckNodePort: number };
  status: { loadBalancer: { ingress?: { ip: string }[] } };
};

const dnsAddress = () => place.serviceCidr.replace(/\.0\/24$/, '.10');

async function lookUp(name: string): Promise<string[]> {
  const stdout = await runChecked('dig', ['+short', '+time=2', `@${dnsAddress()}`, `${name}.svc.cluster.local`]);
  return stdout.split('\n').filter(Boolean).sort();
}

async function addressOf(pod: string): Promise<string> {
  const found = (await place.pods()).find(({ metadata }) => metadata.name === pod);
  return found?.status?.podIP ?? '';
}

test('an application with several workloads and Services is complete when the run returns', async () => {
  const { code, out, err } = await place.call('run', '--detach', place.file('app.yaml', APP));
  assert.equal(code, 0, err);
  const rows = out.match(/^(web|db|agent)-\S+ +1\/1 +Running/gm) ?? [];
  assert.equal(rows.length, 5, out);
});

test('a Service is reachable by name from pods, including its own, and by address from the host', async () => {
  const [address = ''] = await lookUp('web.default');
  const names = (await place.pods()).map(({ metadata }) => metadata.name).filter((name) => name.startsWith('web-'));
  const calls = `for i in $(seq 20); do ${'wget -q -O - http://web'}; done`;
  for (const pod of ['db-0', names[0]!]) {
    const answers = new Set((await place.ok('exec', pod, '--', 'sh', '-c', calls)).trim().split('\n'));
    assert.deepEqual([...answers].sort(), names.sort(), `from ${pod}`);
  }
  const stdout = await runChecked('curl', ['-sS', '-m', '5', `http://${address}/`]);
  assert.ok(names.includes(stdout.trim()), stdout);
});

test('a Service sees the addresses of its client pods', async () => {
  const script = "printf '#!/bin/sh\\necho; echo $REMOTE_ADDR\\n' > /www/cgi-bin/peer; chmod 755 /www/cgi-bin/peer";
  const serve = `mkdir -p /www/cgi-bin; ${script}; httpd -f -p 8080 -h /www`;
  const peer = [
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: peer}\nspec: {replicas: 1, ${pods('peer', serve, PROBE.replace('path: /', 'path: /cgi-bin/peer'))}}\n`,
    'apiVersion: v1\nkind: Service\nmetadata: {name: peer}\nspec: {selector: {app: peer}, ports: [{port: 80, targetPort: http}]}\n',
  ].join('---\n');
  const file = place.file('peer.yaml', peer);
  assert.equal((await place.call('run', '--detach', file)).code, 0);
  const client = await addressOf('db-0');
  const seen = async () =>
    (await place.call('exec', 'db-0', '--', 'wget', '-q', '-O', '-', 'http://peer/cgi-bin/peer')).out;
  // the address is right once the proxy has noticed that bridged packets pass through the packet filter; httpd prints it as
  // `[::ffff:ADDRESS]`
  await place.until(async () => (await seen()).includes(`:${client}]`));
  await place.ok('delete', '-f', file);
});

test('the pods of a headless Service have DNS names', async () => {
  assert.deepEqual(await lookUp('db-1.db.default'), [await addressOf('db-1')]);
  assert.deepEqual(await lookUp('db.default'), [await addressOf('db-0'), await addressOf('db-1')].sort());
});

test('a Service without pods refuses connections at once', async () => {
  const none =
    'apiVersion: v1\nkind: Service\nmetadata: {name: none}\nspec: {selector: {app: none}, ports: [{port: 80}]}\n';
  await place.ok('apply', place.file('none.yaml', none));
  await place.until(async () => (await lookUp('none.default')).length === 1);
  const [address = ''] = await lookUp('none.default');
  await place.until(async () => {
    const { exitCode } = await runProgram('curl', ['-sS', '-m', '2', `http://${address}/`]);
    return exitCode === 7; // connection refused; 28 would be a time-out
  });
});

test('a network policy isolates pods as soon as it is applied', async () => {
  const policy = (name: string, from: string) =>
    `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: ${name}}\n` +
    `spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress]${from}}\n`;
  const address = (await place.pods()).find(({ metadata }) => metadata.name.startsWith('web-'))?.status?.podIP;
  const connects = async () =>
    (await place.call('exec', 'db-0', '--', 'timeout', '2', 'wget', '-q', '-O', '-', `http://${address}:8080/`))
      .code === 0;
  assert.ok(await connects());
  await place.ok('apply', place.file('deny.yaml', policy('deny', '')));
  await place.until(async () => !(await connects()));
  const allow = policy('allow', ', ingress: [{from: [{podSelector: {matchLabels: {app: db}}}]}]');
  await place.ok('apply', place.file('allow.yaml', allow));
  await place.until(connects);
  await place.ok('delete', '-f', place.file('deny.yaml', policy('deny', '')));
});

test('the claims of a StatefulSet outlive its pods, and their directories are removed with the claims', async () => {
  const claim = '{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}';
  const script = 'date +%s%N >> /data/starts; sleep 10000';
  const mounts = ', volumeMounts: [{name: data, mountPath: /data}]';
  const set =
    'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: store}\n' +
    `spec: {serviceName: store, volumeClaimTemplates: [${claim}], ${pods('store', script, mounts)}}\n`;
  const file = place.file('store.yaml', set);
  assert.equal((await place.call('run', '--detach', file)).code, 0);
  const starts = async () => {
    const { code, out } = await place.call('exec', 'store-0', '--', 'wc', '-l', '/data/starts');
    return code === 0 ? Number(out.split(' ')[0]) : 0;
  };
  await place.until(async () => (await starts()) === 1);
  await place.ok('delete', 'store-0');
  await place.until(async () => (await starts()) === 2);
  const directories = () => readdirSync(place.path('root/volumes'));
  assert.equal(directories().length, 1);
  await place.ok('delete', '-f', file);
  await place.until(async () => (await addressOf('store-0')) === '');
  await place.ok('delete', 'pvc', 'data-store-0');
  await place.until(() => directories().length === 0);
});

test('a LoadBalancer Service is reachable at the node’s address, and its health check port reports its pods', async () => {
  const [port, other] = [await freePort(), await freePort()];
  const balanced = (name: string, spec: string) =>
    `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\nspec: {type: LoadBalancer, selector: {app: web}, ${spec}}\n`;
  const ports = (of: number) => `ports: [{port: ${of}, targetPort: http}]`;
  await place.ok('apply', place.file('lb.yaml', balanced('lb', `externalTrafficPolicy: Local, ${ports(port)}`)));
  await place.ok('apply', place.file('class.yaml', balanced('class', `loadBalancerClass: a/b, ${ports(other)}`)));
  const services = '/api/v1/namespaces/default/services';
  const addressOfService = async (name: string) =>
    (await place.api<BalancedService>(`${services}/${name}`)).status.loadBalancer.ingress?.[0]?.ip;
  await place.until(async () => (await addressOfService('lb')) !== undefined);
  const address = (await addressOfService('lb'))!;
  const { spec } = await place.api<BalancedService>(`${services}/lb`);
  const answer = (at: string) => runProgram('curl', ['-sS', '-m', '5', `http://${at}`]);
  await place.until(async () => /^web-/.test((await answer(`${address}:${port}/`)).stdout));
  assert.match(await place.ok('exec', 'db-0', '--', 'wget', '-q', '-O', '-', `http://${address}:${port}`), /^web-/);
  const health = JSON.parse((await answer(`${address}:${spec.healthCheckNodePort}/healthz`)).stdout);
  assert.deepEqual([health.localEndpoints, health.service.name], [2, 'lb']);
  assert.equal(await addressOfService('class'), undefined);
  await place.ok('delete', '-f', place.file('lb.yaml', balanced('lb', ports(port))));
  await place.until(async () => (await answer(`${address}:${port}/`)).exitCode === 7);
});

test('after a kill the node takes over its pods, Services and names', async () => {
  const before = (await place.pods()).map(({ metadata }) => metadata.uid).sort();
  const closed = once(daemon.child, 'close');
  daemon.child.kill('SIGKILL');
  await closed;
  daemon = await place.startDaemon();
  await place.until(async () => (await lookUp('web.default')).length === 1);
  const answer = await place.ok('exec', 'db-0', '--', 'wget', '-q', '-O', '-', 'http://web');
  assert.match(answer, /^web-/);
  assert.deepEqual((await place.pods()).map(({ metadata }) => metadata.uid).sort(), before);
});

test('stop --delete removes the workloads, and the host is back in its original state', async () => {
  assert.match(await place.ok('stop', '--delete'), /^deployment default\/web deleted$/m);
  await daemon.ended();
  assert.deepEqual(place.leftovers(), []);
  const stdout = await runChecked('ip', ['-4', 'address', 'show', 'lo']);
  assert.ok(!stdout.includes(dnsAddress()), stdout);
  const tables = await runChecked('nft', ['list', 'tables']);
  assert.ok(!tables.includes(place.serviceCidr.replace('/', '-')), tables);
});
