/**
 * Machines join the Kubernetes API of a standalone node: two run Podwright and, if PODWRIGHT_UPSTREAM_KUBELET names upstream's kubelet,
 * another runs that on containerd. The second Podwright node is the one that is drained and deleted.
 */
import assert from 'node:assert/strict';
import { createHash, createPrivateKey, createPublicKey, randomBytes, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { extendedKeyUsage, OID } from '@podwright/certificates/x509';
import { CertificateAuthority } from '../../packages/api-server/src/certificates/certificate-authority.ts';
import { authorityDirectory } from '../../packages/api-server/src/issue-kubeconfig.ts';
import { EXAMPLE_IMAGE_NAME } from '../../scripts/example-image.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { type Invitation, type JoinedNode, joinPodwright, joinUpstream, settingsOf } from './joined-node.fixture.ts';
import { Machine } from './machine.fixture.ts';

const UPSTREAM = process.env.PODWRIGHT_UPSTREAM_KUBELET;
const PORT = 6443;
const KUBECTL = ['kubectl', '--kubeconfig', '/run/podwright/admin.kubeconfig', '--request-timeout=20s'];

let bundle: Bundle;
let machines: Machine[] = [];
let first: Machine;
let nodes: JoinedNode[];
let drained: JoinedNode;

const kubectl = (...args: string[]) => first.ok(...KUBECTL, ...args);
const until = (check: (out: string) => boolean, ...args: string[]) => first.until(check, ...KUBECTL, ...args);
const apply = (name: string, ...items: object[]) =>
  kubectl('apply', '-f', first.file(name, JSON.stringify({ apiVersion: 'v1', kind: 'List', items })));

before(async () => {
  bundle = await buildBundle();
  machines = await Machine.startAll(bundle, UPSTREAM === undefined ? 3 : 4);
  first = machines[0]!;
  const api = `[api]\nenabled = true\nlisten = "${first.address}:${PORT}"`;
  const config = first.file('config.toml', settingsOf(first, api));
  first.start('node', 'podwright', '--config', config, 'node');
  await until(() => true, 'get', 'node', first.name);
  await first.ok('podwright', '--config', config, 'load', bundle.image);
  const invited = await invite();
  nodes = await Promise.all(machines.slice(1, 3).map((machine) => joinPodwright(machine, invited, bundle)));
  drained = nodes[1]!;
  if (UPSTREAM !== undefined) nodes.push(await joinUpstream(machines[3]!, invited, UPSTREAM));
});
after(async () => {
  for (const machine of machines.reverse()) await machine[Symbol.asyncDispose]();
  bundle?.remove();
});

/** Creates a bootstrap token with kubectl, as described in docs/cluster.md. */
async function invite(): Promise<Invitation> {
  const [id, secret] = [randomBytes(3).toString('hex'), randomBytes(8).toString('hex')];
  await apply('token.json', {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token' },
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    stringData: {
      ...{ 'token-id': id, 'token-secret': secret },
      ...{ 'usage-bootstrap-authentication': 'true', 'usage-bootstrap-signing': 'true' },
    },
  });
  const signed = `{.data.jws-kubeconfig-${id}}`;
  await until((out) => out !== '', 'get', 'configmap', '-n', 'kube-public', 'cluster-info', '-o', `jsonpath=${signed}`);
  const path = '{.clusters[0].cluster.certificate-authority-data}';
  const authority = Buffer.from(
    await kubectl('config', 'view', '--raw', '-o', `jsonpath=${path}`),
    'base64',
  ).toString();
  const key = new X509Certificate(authority).publicKey.export({ type: 'spki', format: 'der' });
  const hash = `sha256:${createHash('sha256').update(key).digest('hex')}`;
  return { server: `${first.address}:${PORT}`, token: `${id}.${secret}`, hash, authority };
}

const readyOf = '{.status.conditions[?(@.type=="Ready")].status}';
const untilReady = (name: string, status = 'True') =>
  until((out) => out === status, 'get', 'node', name, '-o', `jsonpath=${readyOf}`);

type Request = {
  metadata: { name: string };
  spec: { signerName: string; username: string };
  status: { conditions?: { type: string; reason: string }[]; certificate?: string };
};

/** Returns a node's certificate signing requests for a signer, oldest first. */
async function requestsOf(username: RegExp, signer: string): Promise<Request[]> {
  const { items } = JSON.parse(await kubectl('get', 'csr', '--sort-by=.metadata.creationTimestamp', '-o', 'json'));
  return (items as Request[]).filter(
    ({ spec }) => username.test(spec.username) && spec.signerName === `kubernetes.io/${signer}`,
  );
}

const userOf = ({ machine }: JoinedNode) => new RegExp(`^system:node:${machine.name}$`);
const certificateOf = async ({ machine, pki }: JoinedNode, name: string) =>
  new X509Certificate(await machine.ok('cat', join(pki, `${name}.pem`)));

test('nodes join with a bootstrap token, and their certificates are approved and signed', async () => {
  for (const node of nodes) {
    await untilReady(node.machine.name);
    const { subject, validToDate } = await certificateOf(node, 'kubelet-client-current');
    assert.equal(subject, `O=system:nodes\nCN=system:node:${node.machine.name}`);
    assert.ok(validToDate.getTime() > Date.now() + 300 * 86_400_000, String(validToDate));
  }
  const byToken = await requestsOf(/^system:bootstrap:/, 'kube-apiserver-client-kubelet');
  assert.equal(byToken.length, nodes.length);
  for (const { status } of byToken) {
    assert.deepEqual(
      status.conditions?.map(({ type, reason }) => [type, reason]),
      [['Approved', 'AutoApproved']],
    );
    assert.match(Buffer.from(status.certificate ?? '', 'base64').toString(), /BEGIN CERTIFICATE/);
  }
});

// tests/cluster/identity.test.ts covers the serving certificates of Podwright's kubelet
if (UPSTREAM !== undefined)
  test('a serving certificate waits for an administrator’s approval, and contains the node’s addresses', async () => {
    const upstream = nodes.at(-1)!;
    const { machine, pki } = upstream;
    await until((out) => out.includes('kubelet-serving'), 'get', 'csr');
    const [request] = await requestsOf(userOf(upstream), 'kubelet-serving');
    assert.equal(request?.status.conditions, undefined);
    await kubectl('certificate', 'approve', request!.metadata.name);
    await machine.until(() => true, 'test', '-e', join(pki, 'kubelet-server-current.pem'));
    const { subjectAltName } = await certificateOf(upstream, 'kubelet-server-current');
    assert.equal(subjectAltName, `DNS:${machine.name}, IP Address:${machine.address}`);
  });

const SERVE = 'mkdir /www; echo $NODE > /www/index.html; echo serving; exec httpd -f -p 8080 -h /www';
const agents = {
  ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agent', namespace: 'default' } },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            ...{ name: 'main', image: EXAMPLE_IMAGE_NAME, imagePullPolicy: 'Never', command: ['sh', '-c', SERVE] },
            env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
            resources: { requests: { cpu: '10m', memory: '10Mi' } },
          },
        ],
      },
    },
  },
};
const service = {
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'agent', namespace: 'default' } },
  spec: { selector: { app: 'agent' }, ports: [{ port: 80, targetPort: 8080 }] },
};

type Pod = { metadata: { name: string; uid: string }; spec: { nodeName: string }; status: PodStatus };
type PodStatus = { podIP: string; phase: string; containerStatuses?: { restartCount: number; containerID: string }[] };

async function agentOf(node: string): Promise<Pod> {
  const { items } = JSON.parse(await kubectl('get', 'pods', '-l', 'app=agent', '-o', 'json'));
  return (items as Pod[]).find(({ spec }) => spec.nodeName === node)!;
}

test('a DaemonSet runs on all nodes, and logs, exec, port-forward and top work through the API', async () => {
  await apply('agents.json', agents, service);
  await kubectl('rollout', 'status', 'daemonset/agent', '--timeout=55s');
  for (const { machine } of nodes) {
    const { metadata } = await agentOf(machine.name);
    assert.equal(await kubectl('logs', metadata.name), 'serving\n', machine.name);
    assert.equal(await kubectl('exec', metadata.name, '--', 'cat', '/www/index.html'), `${machine.name}\n`);
    const port = String(18_000 + machine.number);
    const forward = `${KUBECTL.join(' ')} port-forward ${metadata.name} ${port}:8080 > forward.log & trap "kill $!" EXIT
      until grep -q Forwarding forward.log; do sleep 0.1; done; curl -sS -m 10 http://127.0.0.1:${port}/`;
    assert.equal(await first.ok('sh', '-c', forward), `${machine.name}\n`);
    const isMeasured = (out: string) => /\d+m +[\d.]+% +\d+Mi/.test(out);
    await until(isMeasured, 'top', 'node', machine.name, '--no-headers');
    await until((out) => /\d+m +\d+Mi/.test(out), 'top', 'pod', metadata.name, '--no-headers');
  }
});

test('a Service reaches the pods of all nodes from the first node and, with `podwright proxy`, from a second one', async () => {
  const address = await kubectl('get', 'service', 'agent', '-o', 'jsonpath={.spec.clusterIP}');
  const names = machines.map(({ name }) => name).sort();
  const script = `for i in $(seq 60); do curl -sS -m 5 http://${address}/ || true; done`;
  const found = (out: string) => [...new Set(out.split('\n').filter(Boolean))].sort();
  const second = machines[1]!;
  const kubeconfig = second.file('admin.conf', await kubectl('config', 'view', '--raw'));
  const places = ['--root', second.path('proxy'), '--state', second.path('proxy.run')];
  second.start('proxy', 'podwright', ...places, 'proxy', '--kubeconfig', kubeconfig, '--node-name', second.name);
  for (const machine of [first, second]) {
    const seen = await machine.until((out) => found(out).length >= names.length, 'sh', '-c', script);
    assert.deepEqual(found(seen), names, machine.name);
  }
});

const brief = ['not-ready', 'unreachable'].map((name) => ({
  ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 },
}));

const briefPod = (node: string) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: `brief-${node}`, namespace: 'default' } },
  spec: {
    ...{ nodeName: node, tolerations: brief, terminationGracePeriodSeconds: 1 },
    containers: [{ name: 'main', image: EXAMPLE_IMAGE_NAME, imagePullPolicy: 'Never', command: ['sleep', '10000'] }],
  },
});

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----\n/;

/** Replaces a node's client certificate with one for the same key that is about to expire. */
async function age({ machine, pki }: JoinedNode): Promise<void> {
  const path = join(pki, 'kubelet-client-current.pem');
  const [key] = PRIVATE_KEY.exec(await machine.ok('cat', path))!;
  const data = first.path('host/var/lib/podwright/api-server');
  const authority = await CertificateAuthority.open(authorityDirectory(data), Date.now);
  const certificate = authority.sign({
    subject: { commonName: `system:node:${machine.name}`, organizations: ['system:nodes'] },
    publicKey: createPublicKey(createPrivateKey(key)),
    extensions: [extendedKeyUsage(OID.clientAuth)],
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 300_000),
  });
  await machine.ok('cp', machine.file('aged.pem', `${certificate}${key}`), path); // follows the link
}

/** Kills nodes until their pods are deleted, and starts them again. */
async function killAndRestart(lost: readonly JoinedNode[]): Promise<void> {
  for (const { machine } of lost) await apply('brief.json', briefPod(machine.name));
  const running = (out: string) => out === 'Running';
  for (const { machine } of lost)
    await until(running, 'get', 'pod', `brief-${machine.name}`, '-o', 'jsonpath={.status.phase}');
  const before = await Promise.all(lost.map(({ machine }) => agentOf(machine.name)));
  for (const node of lost) await node.kill();
  const killedMs = Date.now();
  for (const { machine } of lost) {
    await untilReady(machine.name, 'Unknown');
    assert.ok(Date.now() - killedMs > 30_000, 'the grace period has passed');
    const taints = (out: string) =>
      ['NoSchedule', 'NoExecute'].every((effect) => out.includes(`unreachable:${effect}`));
    const path = '{range .spec.taints[*]}{.key}:{.effect} {end}';
    await until(taints, 'get', 'node', machine.name, '-o', `jsonpath=${path}`);
    const deleted = '{.metadata.deletionTimestamp}';
    await until((out) => out !== '', 'get', 'pod', `brief-${machine.name}`, '-o', `jsonpath=${deleted}`);
  }
  const requests = await Promise.all(lost.map((node) => requestsOf(userOf(node), 'kube-apiserver-client-kubelet')));
  for (const node of lost) await age(node);
  for (const node of lost) await node.start();
  for (const [index, node] of lost.entries()) {
    const { name } = node.machine;
    await untilReady(name);
    await until((out) => out === '', 'get', 'node', name, '-o', 'jsonpath={.spec.taints}');
    await until((out) => out === '', 'get', 'pod', `brief-${name}`, '--ignore-not-found');
    const { metadata, status } = await agentOf(name);
    const container = ({ containerStatuses }: PodStatus) => containerStatuses?.[0]?.containerID;
    assert.deepEqual(
      [metadata.uid, container(status)],
      [before[index]!.metadata.uid, container(before[index]!.status)],
    );
    const isRenewed = (pem: string) => new X509Certificate(pem).validToDate.getTime() > Date.now() + 86_400_000;
    await node.machine.until(isRenewed, 'cat', join(node.pki, 'kubelet-client-current.pem'));
    const renewals = await requestsOf(userOf(node), 'kube-apiserver-client-kubelet');
    assert.equal(renewals.length, requests[index]!.length + 1, name);
    const lease = ['get', 'lease', '-n', 'kube-node-lease', name, '-o', 'jsonpath={.spec.renewTime}'];
    const renewed = await kubectl(...lease);
    await until((out) => out > renewed, ...lease);
  }
}

const web = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        nodeSelector: { pool: 'web' },
        terminationGracePeriodSeconds: 1,
        containers: [
          { name: 'main', image: EXAMPLE_IMAGE_NAME, imagePullPolicy: 'Never', command: ['sleep', '10000'] },
        ],
      },
    },
  },
};

/** Moves a node's pods to the first node, deletes the node, and starts it again. */
async function drainAndDelete(node: JoinedNode): Promise<void> {
  const { machine } = node;
  await kubectl('label', 'node', first.name, machine.name, 'pool=web');
  await kubectl('cordon', first.name);
  await apply('web.json', web);
  await kubectl('rollout', 'status', 'deployment/web', '--timeout=55s');
  const places = async () =>
    (await kubectl('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.nodeName}')).split(' ');
  assert.deepEqual(new Set(await places()), new Set([machine.name]));
  await kubectl('uncordon', first.name);
  await kubectl('drain', machine.name, '--ignore-daemonsets', '--timeout=55s');
  await kubectl('rollout', 'status', 'deployment/web', '--timeout=55s');
  assert.deepEqual(new Set(await places()), new Set([first.name]));
  const { metadata } = await agentOf(machine.name);
  await node.kill();
  await kubectl('delete', 'node', machine.name);
  await until((out) => out === '', 'get', 'pod', metadata.name, '--ignore-not-found');
  await node.start();
  await untilReady(machine.name);
}

// concurrently, because each waits for upstream's time: 50 s until a node is unreachable, 40 s until pods of a deleted node are removed
describe('a node that is lost', { concurrency: true }, () => {
  test('is unreachable if it is killed, and its pods are deleted; when started again it recovers, with a new certificate', () =>
    killAndRestart(nodes.filter((node) => node !== drained)));
  test('is cordoned and drained, and its pods are removed once it is deleted', () => drainAndDelete(drained));
});
