/** A standalone node with its own API server: kubectl creates pods, and the kubelet runs them as in a cluster. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { findProgram } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, freePort, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const KUBECTL = process.env.PODWRIGHT_KUBECTL ?? findProgram('kubectl') ?? 'kubectl';
const NODE = 'solo';
const SECRET = 'sesame-7361';
const SECRET_IN_ANY_FORM = new RegExp(`${SECRET}|${Buffer.from(SECRET).toString('base64')}`);
const PATIENCE_MS = 60_000;

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
/** The log that a node daemon had written before it was killed. */
let logged = '';
let kubeconfig = '';

type Result = { code: number | null; out: string; err: string };

function kubectl(...args: string[]): Result {
  const env = { PATH: process.env.PATH!, HOME: place.directory };
  const own = ['--kubeconfig', kubeconfig, '--cache-dir', place.path('cache')];
  const { status, stdout, stderr } = spawnSync(KUBECTL, [...own, ...args], { encoding: 'utf8', env });
  return { code: status, out: stdout, err: stderr };
}

/** Lists Secrets, authenticated with a token instead of the administrator's certificate. */
function withToken(token: string): Result {
  const text = readFileSync(kubeconfig, 'utf8').replace(/^( +)client-certificate-data:.*\n.*$/m, `$1token: ${token}`);
  return kubectl('--kubeconfig', place.file('token.kubeconfig', text), 'get', 'secrets');
}

/** Runs kubectl, which must succeed, and returns its output. */
function ok(...args: string[]): string {
  const { code, out, err } = kubectl(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}${out}`);
  return out;
}

async function eventually(holds: () => boolean | Promise<boolean>, what: () => string = () => ''): Promise<void> {
  using signal = withTimeout(undefined, PATIENCE_MS, `wait for ${holds}`);
  const probe = async () => (await holds()) || undefined;
  await waitFor(probe, { intervalMs: 100, signal }).catch((error: unknown) => {
    throw new Error(`${error}\n${what()}\n${daemon.err.slice(-5000)}`);
  });
}

async function startNode(): Promise<void> {
  daemon = await place.startDaemon('--config', place.path('input/config.toml'), 'node');
}

type Identity = { name: string; uid: string; containers: string[] };

/** Returns the pods in the namespace `default` with their containers. */
function pods(): Identity[] {
  const { items } = JSON.parse(ok('get', 'pods', '-o', 'json'));
  return items.map(
    ({
      metadata,
      status,
    }: {
      metadata: { name: string; uid: string };
      status: Record<string, { containerID: string }[]>;
    }) => ({
      name: metadata.name,
      uid: metadata.uid,
      containers: (status.containerStatuses ?? []).map(({ containerID }) => containerID),
    }),
  );
}

/** Returns the containers and their restart counts, as reported by the node's own API. */
async function containersOnNode(): Promise<string[]> {
  const statuses = (await place.pods()).flatMap(({ status }) => status?.containerStatuses ?? []);
  return statuses.map(({ containerID, restartCount }) => `${containerID} ${restartCount}`).sort();
}

const isReady = (name: string) => /^\S+ +1\/1 +Running /m.test(kubectl('get', 'pod', name, '--no-headers').out);
const described = (name: string) => () => kubectl('describe', 'pod', name).out;

const NEEDS = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: red}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {word: ${SECRET}}
`;

const WEB = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 2
  volumes:
  - {name: settings, configMap: {name: settings}}
  - {name: password, secret: {secretName: password}}
  containers:
  - name: main
    image: ${exampleImage}
    imagePullPolicy: Never
    command: [sh, -c, ${JSON.stringify(`echo ready; env >/tmp/env; ${forever}`)}]
    env: [{name: COLOUR, valueFrom: {configMapKeyRef: {name: settings, key: colour}}}]
    volumeMounts:
    - {name: settings, mountPath: /settings}
    - {name: password, mountPath: /password}
`;

suite('a standalone node with the Kubernetes API', () => {
  before(async () => {
    bundle = await buildBundle();
    place = new NodePlace(bundle, '10.129.214.0/23');
    const port = await freePort();
    const range = `service_cidr = "${place.serviceCidr}"`;
    const listen = `listen = "0.0.0.0:${port}"`;
    const api = ['[api]', 'enabled = true', range, listen, `audit_log = "${place.path('audit.log')}"`];
    place.file('config.toml', [`node_name = "${NODE}"`, ...api, 'durability = "power"', ''].join('\n'));
    await startNode();
    await place.loadImage();
    kubeconfig = place.file('kubeconfig', await place.ok('kubeconfig'));
    await eventually(
      () => /^solo +Ready /m.test(kubectl('get', 'nodes').out),
      () => kubectl('describe', 'node', NODE).out,
    );
  });
  after(async () => {
    await place?.remove();
    bundle?.remove();
  });

  test('describes the node, which has no taints', async () => {
    assert.match(ok('describe', 'node', NODE), /KubeletReady/);
    await eventually(() => /^Taints: +<none>$/m.test(ok('describe', 'node', NODE)));
    await eventually(() => /^solo +solo /m.test(kubectl('-n', 'kube-node-lease', 'get', 'lease', NODE).out));
  });

  test('syncs its writes to disk with the durability setting `power`', () => {
    const { stdout } = spawnSync('ls', ['-l', `/proc/${daemon.child.pid}/fd`], { encoding: 'utf8' });
    // SQLite opens the WAL for writing, and the code that syncs it to disk opens it for reading
    assert.equal(stdout.match(/^lr-x.*\/objects\.db-wal$/gm)?.length, 1, stdout);
  });

  test('runs a pod applied by kubectl, with a ConfigMap and a Secret', async () => {
    ok('apply', '-f', place.file('needs.yaml', NEEDS));
    ok('apply', '-f', place.file('web.yaml', WEB));
    await eventually(() => isReady('web'), described('web'));
    const inPod = async (script: string) => (await place.ok('exec', 'web', '--', 'sh', '-c', script)).trim();
    assert.equal(await inPod('cat /settings/colour /password/word; echo $COLOUR'), `red${SECRET}red`);
    const text = described('web')();
    assert.match(text, /^Node: +solo\//m);
    assert.match(text, /Normal +Started .* Container started/);
  });

  test('gives pods a token, the CA certificate and the API address', async () => {
    const inPod = async (script: string) => (await place.ok('exec', 'web', '--', 'sh', '-c', script)).trim();
    const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
    assert.match(await inPod(`cat ${directory}/ca.crt`), /^-----BEGIN CERTIFICATE/);
    const token = await inPod(`cat ${directory}/token`);
    assert.match(withToken(token).err, /"system:serviceaccount:default:default" cannot list resource "secrets"/);
    assert.match(withToken(`${token}x`).err, /logged in|Unauthorized/);
    const host = await inPod('echo $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT');
    assert.equal(host, `${place.serviceCidr.replace(/0\/24$/, '1')} 443`);
    await inPod('nc -w 5 $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT </dev/null');
  });

  test('serves logs, commands and the kubelet API to kubectl, without a kubelet port', async () => {
    assert.equal(ok('logs', 'web'), 'ready\n');
    const { code, out, err } = kubectl('exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3');
    assert.deepEqual([code, out], [3, 'out\n']);
    assert.match(err, /^err\ncommand terminated with exit code 3\n$/);
    const copied = place.file('copied', 'x'.repeat(1 << 20));
    ok('cp', copied, 'web:/tmp/copied');
    assert.equal(ok('exec', 'web', '--', 'wc', '-c', '/tmp/copied'), '1048576 /tmp/copied\n');
    assert.equal(ok('get', '--raw', `/api/v1/nodes/${NODE}/proxy/healthz`), 'ok');
    const follow = place.startProgram(KUBECTL, '--kubeconfig', kubeconfig, 'logs', '--follow', 'web');
    await follow.until(/^ready$/m);
    follow.child.kill('SIGTERM');
    await follow.ended();
    ok('exec', 'web', '--', 'httpd', '-p', '8080', '-h', '/settings');
    const forward = place.startProgram(KUBECTL, '--kubeconfig', kubeconfig, 'port-forward', 'web', ':8080');
    const [, port] = await forward.until(/Forwarding from 127\.0\.0\.1:(\d+)/);
    const get = async () => (await fetch(`http://127.0.0.1:${port}/colour`)).text();
    assert.deepEqual(await Promise.all([get(), get(), get()]), ['red', 'red', 'red']);
    forward.child.kill('SIGTERM');
    await forward.ended();
  });

  test('updates the volume of a changed ConfigMap', async () => {
    ok('patch', 'configmap', 'settings', '-p', '{"data":{"colour":"blue"}}');
    await eventually(async () => (await place.call('exec', 'web', '--', 'cat', '/settings/colour')).out === 'blue');
  });

  test('shows a manifest as a mirror pod', async () => {
    writeFileSync(place.path('root/manifests/static.yaml'), podManifest('static', forever));
    await eventually(() => isReady(`static-${NODE}`), described(`static-${NODE}`));
    assert.match(ok('get', 'pod', `static-${NODE}`, '-o', 'yaml'), /kubernetes\.io\/config\.mirror:/);
  });

  test('keeps pods and objects across kill -9 and a restart', async () => {
    const before = pods();
    assert.deepEqual(
      before.map(({ name }) => name),
      [`static-${NODE}`, 'web'],
    );
    const containers = await containersOnNode();
    daemon.child.kill('SIGKILL');
    await daemon.ended().catch(() => undefined);
    logged = daemon.err;
    const restarted = new Date().toISOString();
    await startNode();
    const renewal = ['get', 'lease', NODE, '-o', 'jsonpath={.spec.renewTime}'];
    await eventually(() => kubectl('-n', 'kube-node-lease', ...renewal).out > restarted); // by the new kubelet
    assert.deepEqual(await containersOnNode(), containers);
    await eventually(() => isReady('web') && isReady(`static-${NODE}`), described('web'));
    assert.deepEqual(pods(), before);
    assert.equal((await place.pods()).length, 2);
    assert.equal(ok('get', 'configmap', 'settings', '-o', 'jsonpath={.data.colour}'), 'blue');
    assert.equal(ok('get', 'nodes', '-o', 'name'), `node/${NODE}\n`);
  });

  test('removes a deleted pod, and keeps running its manifest', async () => {
    ok('delete', 'pod', 'web');
    assert.deepEqual(
      pods().map(({ name }) => name),
      [`static-${NODE}`],
    );
    assert.deepEqual(
      (await place.pods()).map(({ metadata }) => metadata.name),
      [`static-${NODE}`],
    );
    await place.fails(/it comes from \S+static\.yaml; remove it there/, 'delete', 'pod', `static-${NODE}`);
    rmSync(place.path('root/manifests/static.yaml'));
    await eventually(() => pods().length === 0);
  });

  test('logs requests by clients and by the node, without the contents of Secrets', async () => {
    type Logged = { user: { username: string }; verb: string; objectRef?: { resource: string; name?: string } };
    const text = () => readFileSync(place.path('audit.log'), 'utf8');
    const isThere = (username: string, verb: string, resource: string) =>
      text()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Logged)
        .some((one) => one.user.username === username && one.verb === verb && one.objectRef?.resource === resource);
    await eventually(
      () => isThere('kubernetes-admin', 'delete', 'pods') && isThere(`system:node:${NODE}`, 'patch', 'pods'),
    );
    assert.doesNotMatch(text(), SECRET_IN_ANY_FORM);
  });

  test('does not write Secrets to its log', () => {
    assert.match(logged + daemon.err, /the Kubernetes API is available/);
    assert.doesNotMatch(logged + daemon.err, SECRET_IN_ANY_FORM);
  });
});
