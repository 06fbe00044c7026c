/**
 * `podwright run` with workloads: starts a node with a Kubernetes API, follows the pods created by the workloads, and removes everything.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.238.0/24');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const template = (script: string, rest = '') =>
  `{metadata: {labels: {app: web}}, spec: {${rest}terminationGracePeriodSeconds: 0, ` +
  `containers: [{name: main, image: "${exampleImage}", command: [sh, -c, "${script}"]}]}}`;
const job = (name: string, script: string) =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: {name: ${name}}\n` +
  `spec: {completions: 2, backoffLimit: 0, template: ${template(script, 'restartPolicy: Never, ')}}\n`;
const deployment = (name: string, script: string) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}, namespace: shop}\n` +
  `spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: ${template(script)}}\n`;

test('a Job runs to its completion, and everything is removed', async () => {
  const { code, out, err } = await place.call('run', '--once', place.file('job.yaml', job('sum', 'echo hello')));
  assert.equal(code, 0, err);
  assert.equal(out.match(/ \| hello$/gm)?.length, 2);
  assert.deepEqual(place.leftovers(), []);
});

test("a failed Job ends the run with its container's exit code and the reason", async () => {
  const { code, err } = await place.call('run', '--once', place.file('bad.yaml', job('bad', 'echo no; exit 3')));
  assert.equal(code, 3);
  assert.match(err, /BackoffLimitExceeded: /);
  assert.match(err, /the end of the log of main:\n\s+no$/m);
});

test('a Job that expires when it finishes keeps its exit code and output for the run', async () => {
  const expiring = job('brief', 'echo last words; exit 4').replace('spec: {', 'spec: {ttlSecondsAfterFinished: 0, ');
  const { code, out, err } = await place.call('run', '--once', place.file('brief.yaml', expiring));
  assert.equal(code, 4, err);
  assert.match(out, /last words$/m);
});

test('a Job whose image is permanently missing ends the run', async () => {
  const absent = job('absent', 'true').replace(/image: [^,}]+/, 'image: localhost/none:1, imagePullPolicy: Never');
  const { code, err } = await place.call('run', '--once', place.file('absent.yaml', absent));
  assert.equal(code, 1);
  assert.match(err, /ErrImageNeverPull: /);
});

test('a detached Deployment is complete when the run returns, and can be deleted through its manifest', async () => {
  const file = place.file('web.yaml', deployment('web', 'sleep 1000'));
  const { code, out, err } = await place.call('run', '--detach', file);
  assert.equal(code, 0, err);
  assert.equal(out.match(/^shop\/web-\S+ +1\/1 +Running/gm)?.length, 2, out);
  assert.match(await place.ok('apply', file), /^deployment shop\/web unchanged$/m);
  assert.match(await place.ok('delete', '-f', file), /^deployment shop\/web deleted$/m);
  await place.until(async () => !/web-/.test(await place.ok('ps', '-A')));
  await place.ok('stop', '--delete');
  assert.deepEqual(place.leftovers(), []);
});

test('a Deployment with failing pods is reported with its progress after the timeout', async () => {
  const file = place.file(
    'crash.yaml',
    deployment('crash', 'sleep 1000').replace('name: main', "name: main, readinessProbe: {exec: {command: ['false']}}"),
  );
  const { code, err } = await place.call('run', '--timeout', '3s', file);
  assert.equal(code, 1);
  assert.match(err, /not ready within 3 s .*deployment shop\/crash/);
  assert.match(err, /^deployment shop\/crash: 0 of 2 pods available/m);
  assert.deepEqual(place.leftovers(), []);
});

test('an endless workload is refused with --once', async () => {
  const { code, err } = await place.call('run', '--once', place.file('web.yaml', deployment('web', 'true')));
  assert.equal(code, 1);
  assert.match(err, /run --once: deployment shop\/web never ends/);
});

test('the reason is shown if a pod that a workload creates later has no node, or its claim is not bound', async () => {
  const port = ', ports: [{containerPort: 80, hostPort: 28743}]';
  const claim =
    '{metadata: {name: data}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}';
  const set = (name: string, claims: string) =>
    `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: ${name}}\nspec: {replicas: 2, serviceName: none, podManagementPolicy: Parallel, ${claims}` +
    `selector: {matchLabels: {app: web}}, template: ${template('sleep 1000').replace('name: main', `name: main${port}`)}}\n`;
  const file = place.file(
    'sets.yaml',
    [set('port', ''), set('disk', `volumeClaimTemplates: [${claim}], `)].join('---\n'),
  );
  const { code, err } = await place.call('run', '--timeout', '8s', file);
  assert.equal(code, 1);
  assert.match(err, /^port-1: Pending: .* didn't have free ports/m);
  assert.match(err, /^disk-0: Pending: .*\n(\s+.*\n)*?\s+claim data-disk-0: ProvisioningFailed: .*"none" not found/m);
  await place.call('delete', 'pvc', 'data-disk-0');
});

test('a manifest without pods reports what was applied, and an unknown kind reports what is missing', async () => {
  const cron =
    'apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\n' +
    `spec: {schedule: "0 3 * * *", jobTemplate: {spec: {template: ${template('true', 'restartPolicy: Never, ')}}}}\n`;
  const file = place.file('cron.yaml', cron);
  const { code, out, err } = await place.call('run', '--detach', file);
  assert.equal(code, 0, err);
  assert.match(out, /^cronjob nightly: waits for its schedule$/m);
  assert.doesNotMatch(out, /^POD/m);
  const odd = place.file('odd.yaml', `${cron}---\napiVersion: example.org/v1\nkind: Odd\nmetadata: {name: a}\n`);
  const partly = await place.call('apply', odd);
  assert.deepEqual([partly.code, partly.out], [1, 'cronjob default/nightly unchanged\n']);
  assert.match(partly.err, /apply Odd a: .* has no kind "Odd" in example.org\/v1; apply its CustomResourceDefinition/);
  const deleted = await place.call('delete', '-f', odd);
  assert.deepEqual([deleted.code, deleted.out], [1, 'cronjob default/nightly deleted\n']);
  assert.match(deleted.err, /delete odd a: .* has no kind "Odd"/);
  await place.ok('stop', '--delete');
});

test('a pod with an ephemeral volume gets a node with a Kubernetes API, which removes its claim with the pod', async () => {
  const spec = '{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}';
  const pod =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: scratch}\nspec:\n  terminationGracePeriodSeconds: 0\n' +
    `  volumes: [{name: data, ephemeral: {volumeClaimTemplate: {spec: ${spec}}}}]\n` +
    `  containers: [{name: main, image: "${exampleImage}", command: [sh, -c, sleep 1000], volumeMounts: [{name: data, mountPath: /data}]}]\n`;
  const { code, err } = await place.call('run', '--detach', place.file('scratch.yaml', pod));
  assert.equal(code, 0, err);
  assert.match(await place.ok('get', 'pvc'), /^scratch-data +Bound/m);
  await place.ok('exec', 'scratch', '--', 'touch', '/data/file');
  await place.ok('delete', 'scratch');
  await place.until(async () => !/scratch-data/.test((await place.call('get', 'pvc')).out));
  await place.until(() => readdirSync(place.path('root/volumes')).length === 0);
  await place.ok('stop', '--delete');
  assert.deepEqual(place.leftovers(), []);
});
