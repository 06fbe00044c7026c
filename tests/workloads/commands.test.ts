/** The commands for workloads and other kinds, on a single node with a Kubernetes API. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { dirname, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, freePort, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;

const container = (script: string) =>
  `{name: main, image: "${exampleImage}", command: [sh, -c, "${script}"], ports: [{name: http, containerPort: 8080}]}`;
const template = (script: string, restartPolicy = 'Always') =>
  `{metadata: {labels: {app: web}}, spec: {terminationGracePeriodSeconds: 0, restartPolicy: ${restartPolicy}, ` +
  `containers: [${container(script)}]}}`;
const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: ${template('echo serving; httpd -p 8080 -h /etc; exec sleep 10000')}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: www, port: 80, targetPort: http}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec: {schedule: "0 3 1 1 *", jobTemplate: {spec: {template: ${template('echo made', 'Never').replace('app: web', 'app: job')}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {every: {type: string}}}}}}
    additionalPrinterColumns: [{name: Every, type: string, jsonPath: .spec.every}]
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`;

before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.217.0/24', { hasApi: true });
  daemon = await place.startDaemon();
  await place.loadImage();
  await place.ok('apply', place.file('shop.yaml', manifest));
  await shop('rollout', 'status', 'deploy/web', '--timeout', '40s');
});
after(async () => {
  daemon?.child.kill('SIGTERM');
  await place?.remove();
  bundle?.remove();
});

const shop = (verb: string, ...args: string[]) => place.ok(verb, ...inShop(args));
/** Adds the flag for the namespace `shop`, before the `--` that precedes a command to execute. */
function inShop(args: string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return [...args.slice(0, end), '-n', 'shop', ...args.slice(end)];
}
const refused = (message: RegExp, verb: string, ...args: string[]) => place.fails(message, verb, ...inShop(args));

test('get prints the server’s tables for any kind', async () => {
  assert.match(await shop('get', 'deploy'), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +2\/2 +2 +2 +\d+s\n$/);
  assert.match(
    await shop('get', 'deploy,svc', '-o', 'wide'),
    /^deployment\.apps\/web .* app=web\n\nNAME .*\nservice\/web +ClusterIP/m,
  );
  const names =
    /^(?:pod\/web-\S+\n){2}service\/web\ndeployment\.apps\/web\nreplicaset\.apps\/web-\S+\ncronjob\.batch\/nightly\n$/;
  assert.match(await shop('get', 'all', '-o', 'name'), names);
  assert.equal(await shop('get', 'deployments.apps', 'web', '-o', 'jsonpath={.spec.replicas}'), '2');
  await refused(/^podwright: deployments\.apps "nope" not found$/m, 'get', 'deploy', 'nope');
  await refused(/the server doesn't have a resource type "nope"/, 'get', 'nope');
  const watched = place.start('get', 'deploy', '-A', '--watch');
  await place.until(() => /^shop +web +2\/2/m.test(watched.out));
  watched.child.kill('SIGTERM');
});

test('a custom resource is listed, changed, described and deleted', async () => {
  const tab =
    'apiVersion: example.com/v1\nkind: CronTab\nmetadata: {name: mine, namespace: shop}\nspec: {every: hour}\n';
  await place.ok('apply', place.file('tab.yaml', tab));
  assert.match(await shop('get', 'ct'), /^NAME +EVERY\nmine +hour\n$/);
  assert.equal(await shop('label', 'crontab/mine', 'a=b'), 'crontab.example.com/mine labeled\n');
  assert.equal(
    await shop('patch', 'ct', 'mine', '--type', 'merge', '-p', '{spec: {every: day}}'),
    'crontab.example.com/mine patched\n',
  );
  assert.match(await shop('describe', 'ct', 'mine'), /^Labels: +a=b$(?:.*\n)*^Spec:\n {2}Every: +day$/m);
  assert.equal(await shop('delete', 'ct', '-l', 'a=b'), 'crontab.example.com "mine" deleted from shop namespace\n');
  assert.equal(await shop('wait', '--for=delete', 'ct/mine'), 'crontab.example.com/mine condition met\n');
});

test('describe shows a Deployment and a Service with their related objects', async () => {
  const deployment = await shop('describe', 'deploy', 'web');
  assert.match(deployment, /^Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable$/m);
  assert.match(deployment, /^NewReplicaSet: +web-\S+ \(2\/2 replicas created\)$/m);
  assert.match(deployment, /^ {2}Normal +ScalingReplicaSet .* Scaled up replica set web-\S+ from 0 to 2$/m);
  assert.match(await shop('describe', 'svc/web'), /^Endpoints: +[\d.]+:8080,[\d.]+:8080$/m);
});

test('logs, exec and port-forward choose a pod of a workload or Service', async () => {
  const logs = await place.call('logs', 'deploy/web', '-n', 'shop');
  assert.deepEqual([logs.code, logs.out], [0, 'serving\n']);
  assert.match(logs.err, /^Found 2 pods, using pod\/web-/);
  assert.match(
    await shop('logs', 'svc/web', '--all-pods'),
    /^\[pod\/web-\S+\/main\] serving\n\[pod\/web-\S+\/main\] serving\n$/,
  );
  const name = await shop('exec', 'svc/web', '--', 'cat', '/etc/hostname');
  assert.match(name, /^web-\S+\n$/);
  const port = await freePort();
  const forward = place.start('port-forward', '-n', 'shop', 'svc/web', `${port}:www`);
  await place.until(() => forward.out.includes(`Forwarding from 127.0.0.1:${port} -> 8080`));
  assert.match(await read(`http://127.0.0.1:${port}/hostname`), /^web-\S+\n$/);
  forward.child.kill('SIGINT');
  await refused(/Service web does not have a service port 81/, 'port-forward', 'svc/web', '81');
  await refused(/this kind does not select pods/, 'logs', 'cronjob/nightly');
});

test('cp copies from a pod of a workload, and edit changes objects in an editor', async () => {
  const file = place.path('input/hosts');
  await shop('cp', 'deploy/web:/etc/hosts', file);
  assert.match(readFileSync(file, 'utf8'), /localhost/);
  const edited = async (editor: string, ...args: string[]) => {
    const script = place.file('editor', `#!/bin/sh\n${editor}\n`);
    const program = place.command('edit', '-n', 'shop', ...args);
    const ended = await place.startProgram('env', `KUBE_EDITOR=sh ${script}`, ...program).ended();
    return `${ended.code} ${ended.out}${ended.err}`;
  };
  const label = 'sed -i "s/^  namespace: shop/  labels: {edited: yes-1}\\n&/" "$1"';
  assert.equal(await edited(label, 'svc/web'), '0 service/web edited\n');
  assert.match(await shop('get', 'svc', 'web', '--show-labels'), /edited=yes-1/);
  assert.match(await edited('true', 'svc/web'), /^0 edit cancelled: nothing was changed/);
  assert.match(await edited(': > "$1"', 'svc/web', 'deploy/web'), /^0 edit cancelled: the file is empty/);
  // the second time the editor is started, the text explains why the change was rejected, and the script corrects the field
  const correct = 'grep -q "^# .*replicas" "$1" && sed -i "s/replicas: -1/replicas: 2/" "$1" || ';
  const text = await edited(
    `${correct}sed -i "s/^  replicas: 2/  replicas: -1/; s/^  minReady.*//" "$1"`,
    'deploy/web',
  );
  assert.match(text, /^0 deployment\.apps\/web skipped\n.*replicas/s);
  const kept = await edited('sed -i "s/^  replicas: 2/  replicas: -1/" "$1"', 'deploy/web');
  assert.match(kept, /^1 (.*\n)*the changes are in \S+\/object\.yaml/);
  rmSync(dirname(/the changes are in (\S+)/.exec(kept)![1]!), { recursive: true });
});

test('a pod with scheduling gates waits until they are removed', async () => {
  const gated =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: gated, namespace: shop}\nspec:\n  terminationGracePeriodSeconds: 0\n' +
    `  schedulingGates: [{name: example.com/wait}]\n  containers: [${container('exec sleep 10000')}]\n`;
  await place.ok('apply', place.file('gated.yaml', gated));
  const phase = () => shop('get', 'pod', 'gated', '-o', 'jsonpath={.status.phase} {.status.conditions[*].reason}');
  await place.until(async () => (await phase()) === 'Pending SchedulingGated');
  await shop('patch', 'pod', 'gated', '--type', 'json', '-p', '[{op: remove, path: /spec/schedulingGates}]');
  await place.until(async () => (await phase()).startsWith('Running'));
  await shop('delete', 'pod', 'gated');
});

const read = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text));
    }).on('error', reject);
  });

test('scale changes replicas, and wait waits for them', async () => {
  assert.equal(await shop('scale', 'deploy/web', '--replicas=3', '--timeout', '60s'), 'deployment.apps/web scaled\n');
  assert.equal(
    await shop('wait', '--for=jsonpath={.status.readyReplicas}=3', 'deploy/web'),
    'deployment.apps/web condition met\n',
  );
  assert.equal(
    await shop('wait', '--for=condition=Available', 'deploy', '--all'),
    'deployment.apps/web condition met\n',
  );
  await refused(
    /^podwright: Expected replicas to be 7, was 3$/m,
    'scale',
    'deploy/web',
    '--replicas=1',
    '--current-replicas=7',
  );
  await refused(/cronjobs\.batch "nightly" cannot be scaled/, 'scale', 'cronjob/nightly', '--replicas=1');
  assert.equal(await shop('scale', 'deploy', '--all', '--replicas=1'), 'deployment.apps/web scaled\n');
});

test('a rollout is restarted, watched, listed, undone and paused', async () => {
  assert.equal(await shop('rollout', 'restart', 'deploy/web'), 'deployment.apps/web restarted\n');
  assert.match(await shop('rollout', 'status', 'deploy/web'), /^deployment "web" successfully rolled out\n$/m);
  assert.match(await shop('rollout', 'history', 'deploy/web'), /^REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>$/m);
  assert.match(await shop('rollout', 'history', 'deploy/web', '--revision', '2'), /restartedAt/);
  assert.equal(await shop('rollout', 'undo', 'deploy/web'), 'deployment.apps/web rolled back\n');
  assert.match(await shop('rollout', 'history', 'deploy/web'), /^2 +<none>\n3 +<none>$/m);
  assert.equal(await shop('rollout', 'pause', 'deploy/web'), 'deployment.apps/web paused\n');
  await refused(/^podwright: deployments\.apps "web" is already paused$/m, 'rollout', 'pause', 'deploy/web');
  assert.equal(await shop('rollout', 'resume', 'deploy/web'), 'deployment.apps/web resumed\n');
});

test('expose, create job and autoscale create objects from others', async () => {
  assert.equal(
    await shop('expose', 'deploy/web', '--name', 'extra', '--port', '81', '--target-port', 'http'),
    'service/extra exposed\n',
  );
  assert.match(await shop('get', 'svc', 'extra'), /^extra +ClusterIP .* 81\/TCP/m);
  assert.equal(await shop('create', 'job', 'now', '--from=cronjob/nightly'), 'job.batch/now created\n');
  await shop('wait', '--for=condition=Complete', 'job/now');
  assert.equal(await shop('logs', 'job/now'), 'made\n');
  const autoscaler = await shop('autoscale', 'deploy/web', '--max=3', '--cpu=80%', '--dry-run=server');
  assert.equal(autoscaler, 'horizontalpodautoscaler.autoscaling/web autoscaled (server dry run)\n');
});

test('delete removes a workload with its pods', async () => {
  assert.equal(await shop('delete', 'deploy', 'web'), 'deployment.apps "web" deleted from shop namespace\n');
  await place.until(async () => !/web-/.test(await place.ok('ps', '-A')));
  await refused(/^podwright: deployments\.apps "web" not found$/m, 'delete', 'deploy', 'web');
  assert.equal(await shop('delete', 'deploy', 'web', '--ignore-not-found'), '');
  assert.equal(
    await shop('delete', 'svc,cronjob', '--all'),
    [
      'service "extra" deleted from shop namespace',
      'service "web" deleted from shop namespace',
      'cronjob.batch "nightly" deleted from shop namespace',
      '',
    ].join('\n'),
  );
});

test('up prints the commands for a running node', async () => {
  const ways = /^'podwright .* get all -A' lists what runs, 'podwright .* stop' stops the node\n$/;
  assert.match(await place.ok('up'), ways);
});

test('an ephemeral node prints its kubeconfig, and leaves nothing', async () => {
  const flags = ['--subnet', '10.172.218.0/24', '--service-cidr', '10.173.218.0/24'];
  const node = place.startProgram(process.execPath, bundle.program, ...flags, 'up', '--ephemeral');
  await place.until(() => node.out.includes('\n') || node.child.exitCode !== null);
  const kubeconfig = node.out.trim();
  assert.match(readFileSync(kubeconfig, 'utf8'), /server: https:\/\/127\.0\.0\.1:\d+/, node.err);
  const directory = resolve(kubeconfig, '../..');
  node.child.kill('SIGINT');
  const { code, err } = await node.ended();
  assert.equal(code, 0, err);
  assert.equal(existsSync(directory), false);
});
