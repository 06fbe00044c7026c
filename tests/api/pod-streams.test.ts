/**
 * kubectl with pods on a node joined to the API server: logs, exec, attach, cp, port-forward, proxies. Fails if kubectl is not installed.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { JoinedNode, NODE } from './joined-node.fixture.ts';

let node: JoinedNode;

const SERVER = `
echo "started"; echo "warned" >&2
mkdir /www; echo page > /www/index.html
trap "exit 0" TERM
httpd -f -p 8080 -h /www &
i=0; while :; do sleep 0.2; i=$((i+1)); test $i -le 5 && echo "line $i"; done`;

const ENDPOINTS = (ip: string) => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'web' },
  subsets: [
    {
      addresses: [{ ip, targetRef: { kind: 'Pod', namespace: 'default', name: 'web' } }],
      ports: [{ name: 'http', port: 8080 }],
    },
  ],
});

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
};

suite('kubectl on the pods of a joined node', () => {
  before(async () => {
    node = await JoinedNode.start('10.129.212.0/24');
    node.ok('create', 'configmap', 'colours', '--from-literal=SKY=blue');
    node.ok('create', 'secret', 'generic', 'passwords', '--from-literal=DOOR=open');
    const envFrom = [{ configMapRef: { name: 'colours' } }, { secretRef: { name: 'passwords' } }];
    await node.run(
      { name: 'web', scripts: { main: SERVER }, container: { ports: [{ containerPort: 8080 }] } },
      { name: 'two', scripts: { a: 'echo a; sleep 3600', b: 'echo b; sleep 3600' }, container: { envFrom } },
      { name: 'shell', scripts: { main: 'exec sh' }, container: { stdin: true, tty: true } },
      {
        name: 'reader',
        scripts: { main: 'while read -r line; do echo "read $line"; done' },
        container: { stdin: true },
      },
    );
  });
  after(() => node?.remove());

  test('the node and its pods are in the API', async () => {
    assert.match(node.ok('get', 'pods', '-o', 'wide'), /^web +1\/1 +Running +0 +\S+ +10\.129\.212\.\d+ +worker /m);
    assert.match(node.ok('describe', 'pod', 'web'), /Normal +Started /);
    const leases = () => node.ok('get', 'leases', '-n', 'kube-node-lease');
    await node.until(() => /^worker +worker /m.test(leases()), leases);
    const environment = node.ok('exec', 'two', '-c', 'a', '--', 'env');
    for (const line of [/^SKY=blue$/m, /^DOOR=open$/m]) assert.match(environment, line);
    assert.match(node.ok('exec', 'web', '--', 'cat', '/var/run/secrets/kubernetes.io/serviceaccount/token'), /^eyJ/);
  });

  test('logs', async () => {
    const follow = node.start('logs', '--follow', 'web');
    await follow.until(/^line 5$/m);
    assert.match(follow.out, /^started$/m);
    follow.child.kill('SIGTERM');
    await follow.ended();
    assert.match(node.ok('logs', 'web'), /^(started\nwarned|warned\nstarted)\nline 1\n/);
    assert.equal(node.ok('logs', 'web', '--tail=2'), 'line 4\nline 5\n');
    assert.match(node.ok('logs', 'web', '--tail=1', '--timestamps', '--since=1h'), /^\d{4}-\d\d-\d\dT\S+ line 5\n$/);
    assert.equal(node.ok('logs', 'web', '--limit-bytes=4').length, 4);
    assert.equal(node.ok('logs', 'two', '-c', 'b'), 'b\n');
    assert.match(node.fails('logs', 'two', '-c', 'none'), /container none is not valid for pod two/);
    assert.match(
      node.fails('logs', 'web', '--previous'),
      /previous terminated container "main" in pod "web" not found/,
    );
    assert.match(node.fails('logs', 'none'), /pods "none" not found/);
  });

  test('exec', () => {
    const { code, out, err } = node.api.kubectl('exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3');
    assert.deepEqual([code, out], [3, 'out\n']);
    assert.match(err, /^err\ncommand terminated with exit code 3\n$/);
    const input = 'x'.repeat(3 << 20);
    const counted = node.api.kubectlWithInput(input, 'exec', '-i', 'web', '--', 'wc', '-c');
    assert.deepEqual([counted.code, counted.out], [0, `${input.length}\n`], counted.err);
    assert.equal(node.ok('exec', 'web', '--', 'head', '-c', '5000000', '/dev/zero').length, 5_000_000);
    assert.match(node.fails('exec', 'web', '-c', 'none', '--', 'true'), /container none is not valid for pod web/);
    assert.match(node.fails('exec', 'web', '--', '/none'), /no such file or directory|not found/);
  });

  test('exec on a terminal', async () => {
    const terminal = node.api.startOnTerminal('exec', '-it', 'web', '--', 'sh');
    await terminal.until(/[#$] /);
    terminal.type('test -t 0 && echo is-"a"-terminal; exit 4\n');
    const { code, out } = await terminal.ended();
    assert.match(out, /is-a-terminal\r/);
    assert.equal(code, 4);
  });

  test('attach', async () => {
    const attached = node.start('attach', '-i', 'reader');
    attached.type('hello\n');
    await attached.until(/^read hello$/m);
    attached.child.kill('SIGTERM');
    await attached.ended();
    const terminal = node.api.startOnTerminal('attach', '-it', 'shell');
    terminal.type('echo at"tach"ed\n');
    await terminal.until(/attached\r/);
    terminal.child.kill('SIGTERM');
    await terminal.ended();
  });

  test('cp', () => {
    const text = 'y'.repeat(1 << 20);
    const file = node.api.file('copied', text);
    node.ok('cp', file, 'web:/tmp/copied');
    node.ok('cp', 'web:/tmp/copied', `${file}.back`);
    assert.equal(readFileSync(join(node.api.directory, 'copied.back'), 'utf8'), text);
  });

  test('port-forward', async () => {
    const forward = node.start('port-forward', 'pod/web', ':8080');
    const [, port] = await forward.until(/Forwarding from 127\.0\.0\.1:(\d+)/);
    const get = async () => (await fetch(`http://127.0.0.1:${port}/index.html`)).text();
    assert.deepEqual(await Promise.all([get(), get(), get()]), ['page\n', 'page\n', 'page\n']);
    forward.child.kill('SIGTERM');
    await forward.ended();
  });

  test('proxies to the node, to a pod and to a service', async () => {
    assert.equal(node.ok('get', '--raw', `/api/v1/nodes/${NODE}/proxy/healthz`), 'ok');
    assert.match(node.ok('get', '--raw', `/api/v1/nodes/${NODE}/proxy/stats/summary`), /"nodeName": ?"worker"/);
    const pods = '/api/v1/namespaces/default/pods';
    assert.equal(node.ok('get', '--raw', `${pods}/web/proxy/index.html`), 'page\n');
    const ip = node.ok('get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}');
    node.ok('create', '-f', node.api.file('service.json', JSON.stringify(SERVICE)));
    node.ok('create', '-f', node.api.file('endpoints.json', JSON.stringify(ENDPOINTS(ip))));
    const services = '/api/v1/namespaces/default/services';
    for (const id of ['web:http', 'http:web:80'])
      assert.equal(node.ok('get', '--raw', `${services}/${id}/proxy/`), 'page\n');
    const proxy = node.start('proxy', '--port=0');
    const [, port] = await proxy.until(/Starting to serve on 127\.0\.0\.1:(\d+)/);
    const answer = await fetch(`http://127.0.0.1:${port}${pods}/web:8080/proxy/none`);
    assert.equal(answer.status, 404);
    proxy.child.kill('SIGTERM');
    await proxy.ended();
  });

  test("the steps of a pod's start can be read from its kubelet by users with access to nodes/proxy", () => {
    const uid = node.ok('get', 'pod', 'web', '-o', 'jsonpath={.metadata.uid}');
    const path = `/api/v1/nodes/${NODE}/proxy/podwright/v1/traces/${uid}`;
    const spans = JSON.parse(node.ok('get', '--raw', path)) as { name: string }[];
    assert.ok(spans.some(({ name }) => name === 'RunPodSandbox'));
    assert.match(node.fails('get', '--raw', path, '--as', 'eve'), /is forbidden/);
  });

  test('a pod from a manifest has a mirror pod, including logs and commands', async () => {
    node.writeManifest('static.json', { name: 'static', scripts: { main: 'echo of a file; sleep 3600' } });
    const name = `static-${NODE}`;
    await node.until(
      () => node.ok('logs', name) === 'of a file\n',
      () => node.api.kubectl('describe', 'pod', name).out,
    );
    assert.equal(node.ok('exec', name, '--', 'hostname'), `${name}\n`);
    assert.match(
      node.ok('get', 'pod', name, '-o', 'jsonpath={.metadata.annotations}'),
      /kubernetes\.io\/config\.mirror/,
    );
  });

  test('restricts commands to users with permission to create them', () => {
    node.ok('create', 'role', 'reader', '--verb=get', '--resource=pods,pods/exec,pods/log');
    node.ok('create', 'rolebinding', 'readers', '--role=reader', '--user=bob');
    assert.match(node.ok('logs', 'web', '--tail=1', '--as', 'bob'), /^line 5\n$/);
    assert.match(node.fails('exec', 'web', '--as', 'bob', '--', 'true'), /is forbidden/);
    assert.match(node.fails('port-forward', 'web', ':80', '--as', 'bob'), /is forbidden/);
  });

  test('pods are deleted once their containers have terminated', () => {
    assert.match(node.ok('delete', 'pod', 'reader', 'two', '--timeout=40s'), /^pod "two" deleted/m);
    assert.match(node.fails('logs', 'two', '-c', 'a'), /pods "two" not found/);
  });
});
