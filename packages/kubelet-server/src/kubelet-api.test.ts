import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { serveApi, type TestApi } from './served-api.fixture.ts';

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, uid: '1234'}
spec:
  containers: [{name: server, image: 'busybox:1'}, {name: side, image: 'busybox:1', tty: true}]
`;

const isRunning = ({ status }: Pod) => status?.phase === 'Running';

async function withPod(t: TestContext): Promise<TestApi> {
  const api = await serveApi(t, { manifest: POD });
  await api.fake.pod('web', isRunning);
  return api;
}

test('pods have their spec and status, without a kind on each item', async (t) => {
  const { ask } = await withPod(t);
  const { status, body, headers } = await ask('/pods');
  const list = JSON.parse(body) as { kind: string; apiVersion: string; items: Pod[] };
  assert.deepEqual(
    [status, headers['content-type'], list.kind, list.apiVersion],
    [200, 'application/json', 'PodList', 'v1'],
  );
  const [pod] = list.items;
  assert.deepEqual(Object.keys(pod!), ['metadata', 'spec', 'status']);
  assert.equal(pod!.status?.containerStatuses?.length, 2);
  assert.equal((await ask('/pods/')).status, 200);
});

test('/pods shows the current status of small and large pods', async (t) => {
  const { ask, fake } = await withPod(t);
  const big = POD.replace('web', 'big').replace(
    "uid: '1234'",
    `uid: '5678', annotations: {x: '${'x'.repeat(50_000)}'}`,
  );
  fake.apply(`${POD}---\n${big}`);
  await fake.pod('big', isRunning);
  const shown = async () => {
    const { items } = JSON.parse((await ask('/pods')).body) as { items: Pod[] };
    return items.toSorted((a, b) => b.metadata.name.localeCompare(a.metadata.name));
  };
  const before = await shown();
  assert.deepEqual(await shown(), before);
  for (const name of ['web', 'big']) {
    const [container] = fake.runtime.containers.filter(
      ({ config }) => config.labels['io.kubernetes.pod.name'] === name,
    );
    fake.runtime.exitContainer(container!.id, { exitCode: 3 });
    await fake.pod(name, ({ status }) => status!.containerStatuses!.some(({ restartCount }) => restartCount === 1));
  }
  const restarts = (await shown()).map(({ status }) =>
    status!.containerStatuses!.map((one) => one.restartCount).sort(),
  );
  assert.deepEqual(restarts, [
    [0, 1],
    [0, 1],
  ]);
});

test('/runningpods lists the runtime’s pods', async (t) => {
  const { ask } = await withPod(t);
  const { items } = JSON.parse((await ask('/runningpods/')).body) as { items: Pod[] };
  items[0]!.spec.containers.sort((a, b) => a.name.localeCompare(b.name));
  const container = (name: string) => ({ name, image: 'busybox:1', resources: {} });
  assert.deepEqual(items, [
    {
      metadata: { name: 'web', namespace: 'shop', uid: '1234' },
      spec: { containers: [container('server'), container('side')] },
      status: {},
    },
  ]);
});

test('the startup steps of a pod are served by its UID', async (t) => {
  const { ask } = await withPod(t);
  const [{ status, body, headers }, same] = await Promise.all([
    ask('/podwright/v1/traces/1234'),
    ask('/podwright/v1/traces/1234'),
  ]);
  const names = (JSON.parse(body) as { name: string }[]).map(({ name }) => name);
  assert.deepEqual([status, headers['content-type'], same.body], [200, 'application/json', body]);
  assert.ok(names.includes('run sandbox'), names.join());
  assert.equal((await ask('/podwright/v1/traces/none')).body, '[]');
  assert.equal((await ask('/podwright/v1/traces/1234', { method: 'POST' })).status, 405);
  assert.equal((await ask('/podwright/v1/traces/')).status, 404);
});

test('wrong paths, methods and parameters get upstream’s errors', async (t) => {
  const { ask } = await withPod(t);
  for (const [path, method, status, body] of [
    ['/', 'GET', 404, '404 page not found\n'],
    ['/checkpoints/x', 'GET', 404, '404 page not found\n'],
    ['/exec', 'GET', 404, '404: Page Not Found'],
    ['/containerLogs/shop/web', 'GET', 404, '404: Page Not Found'],
    ['/debug/pprof/', 'GET', 404, '404: Page Not Found'],
    ['/stats', 'GET', 307, '<a href="/stats/">Temporary Redirect</a>.\n\n'],
    ['/logs?a="<', 'GET', 307, '<a href="/logs/?a=&#34;&lt;">Temporary Redirect</a>.\n\n'],
    ['/runningpods', 'POST', 307, ''],
    ['/pods', 'POST', 405, '405: Method Not Allowed'],
    ['/exec/shop/web/server', 'DELETE', 405, '405: Method Not Allowed'],
    ['/%zz', 'GET', 400, '400 Bad Request\n'],
    ['/exec/shop/web/server?command=ls', 'POST', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['/exec/shop/none/server?output=1', 'POST', 404, 'pod does not exist'],
    ['/exec/shop/web/none?output=1', 'POST', 500, 'container not found ("none")'],
    ['/exec/shop/web/other-uid/server?output=1', 'POST', 500, 'container not found ("server")'],
    ['/exec/shop/web/1234/server?output=1', 'POST', 500, 'Upgrade request required\n'],
    ['/attach/shop/web/none?output=1', 'GET', 500, 'container none not found in pod web_shop'],
    ['/portForward/shop/none', 'POST', 404, 'pod does not exist'],
    ['/portForward/shop/web/other-uid', 'POST', 404, 'pod not found'],
    ['/run/shop/none/server?cmd=ls', 'POST', 404, 'pod does not exist'],
    ['/checkpoint/shop/web/none', 'POST', 404, 'container none does not exist'],
    ['/checkpoint/shop/web/server?timeout=x', 'POST', 404, 'cannot parse value of timeout parameter'],
    ['/containerLogs/shop/none/server', 'GET', 404, 'pod "none" does not exist'],
    ['/containerLogs/shop/web/none', 'GET', 404, 'container "none" not found in pod "web"'],
    ['/containerLogs/shop/web/server?tailLines=x', 'GET', 400, '{"message": "Unable to decode query."}'],
    ['/containerLogs/shop/web/server?limitBytes=0', 'GET', 422, '{"message": "Invalid request."}'],
    [
      '/containerLogs/shop/web/server?previous=true',
      'GET',
      400,
      'previous terminated container "server" in pod "web" not found',
    ],
  ] as const) {
    const answer = await ask(path, { method });
    assert.deepEqual([path, answer.status, answer.body], [path, status, body]);
  }
});

test('container logs are filtered by line, stream and bytes', async (t) => {
  const { ask, fake } = await withPod(t);
  const lines = [
    '2026-01-01T00:00:00.000000000Z stdout F one',
    '2026-01-01T00:00:01.000000000Z stderr F two',
    '2026-01-01T00:00:02.000000000Z stdout F three',
  ];
  const directory = join(fake.handle.options.podLogsDir, 'shop_web_1234/server');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, '0.log'), `${lines.join('\n')}\n`);
  const log = async (query: string) => (await ask(`/containerLogs/shop/web/server?${query}`)).body;
  assert.equal(await log(''), 'one\ntwo\nthree\n');
  assert.equal(await log('tailLines=1'), 'three\n');
  assert.equal(await log('tail=2'), 'two\nthree\n');
  assert.equal(await log('tail=all'), 'one\ntwo\nthree\n');
  assert.equal(await log('stream=Stderr'), 'two\n');
  assert.equal(await log('limitBytes=5'), 'one\nt');
  assert.equal(await log('sinceTime=2026-01-01T00:00:01Z'), 'two\nthree\n');
  assert.equal(await log('timestamps=1&tailLines=1'), '2026-01-01T00:00:02.000000000Z three\n');
});

test('/run runs a command in the container', async (t) => {
  const api = await withPod(t);
  const calls = api.fake.runtime.calls;
  const answer = await api.ask('/run/shop/web/server?cmd=echo%20a%20b', { method: 'POST' });
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/json']);
  const request = calls.findLast(({ method }) => method === 'execSync')!.request as { cmd: string[] };
  assert.deepEqual(request.cmd, ['echo', 'a', 'b']);
});

test('/healthz reports all checks, and each check individually', async (t) => {
  const { ask } = await serveApi(t);
  assert.deepEqual((await ask('/healthz')).body, 'ok');
  for (const part of ['ping', 'log', 'syncloop']) assert.equal((await ask(`/healthz/${part}`)).body, 'ok');
  const verbose = '[+]ping ok\n[+]log ok\n[+]syncloop excluded: ok\nhealthz check passed\n';
  assert.equal((await ask('/healthz?verbose&exclude=syncloop')).body, verbose);
});

test('/configz and other endpoints about the kubelet are served', async (t) => {
  const { ask } = await serveApi(t);
  const configz = (await ask('/configz')).body;
  const { kubeletconfig } = JSON.parse(configz) as { kubeletconfig: Record<string, unknown> };
  assert.deepEqual([kubeletconfig.kind, kubeletconfig.maxPods], ['KubeletConfiguration', 110]);
  assert.doesNotMatch(configz, /secret/);
  assert.match(String(kubeletconfig.tlsCertFile), /\/pki\/kubelet\.crt$/);
  assert.deepEqual(kubeletconfig.authentication, {
    anonymous: { enabled: true },
    webhook: { enabled: true, cacheTTL: '2m0s' },
  });
  assert.deepEqual(
    [kubeletconfig.nodeLeaseDurationSeconds, kubeletconfig.address, kubeletconfig.staticPodURLHeader],
    [40, '127.0.0.1', { authorization: ['<masked>'] }],
  );
  assert.match((await ask('/flagz')).body, /^\nkubelet flagz\nWarning: .*\nconfig=\/x\nv=2\n$/);
  const named = { accept: 'application/json;v=v1beta1;g=config.k8s.io;as=Statusz' };
  const status = JSON.parse((await ask('/statusz', { headers: named })).body) as Record<string, unknown>;
  assert.deepEqual([status.kind, status.apiVersion], ['Statusz', 'config.k8s.io/v1beta1']);
  assert.deepEqual(status.paths, ['/configz', '/debug', '/flagz', '/healthz', '/metrics']);
  const refused = await ask('/statusz', { headers: { accept: 'application/json' } });
  assert.deepEqual([refused.status, (JSON.parse(refused.body) as { reason: string }).reason], [406, 'NotAcceptable']);
  const text = (await ask('/statusz')).body;
  assert.match(text, /^Started: {2}\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d UTC \d{4}\nUp: {2}0 hr 00 min \d\d sec$/m);
  assert.match(text, /^Paths: {2}\/configz \/debug /m);
});

test('metrics have upstream’s names, each on its own endpoint', async (t) => {
  const { ask } = await withPod(t);
  const metrics = (await ask('/metrics')).body;
  for (const line of [
    /^kubelet_node_name\{node="node"\} 1$/m,
    /^kubelet_running_pods 1$/m,
    /^kubelet_running_containers\{container_state="running"\} 2$/m,
    /^kubelet_desired_pods\{static="true"\} 1$/m,
    /^kubelet_working_pods\{lifecycle="sync",config="desired",static="true"\} 1$/m,
    /^kubelet_restarted_pods_total\{static="true"\} 0$/m,
    /^kubelet_pod_worker_start_duration_seconds_count 1$/m,
    /^kubelet_orphan_pod_cleaned_volumes_errors 0$/m,
    /^process_max_fds \d+$/m,
    /^kubelet_started_pods_total 1$/m,
    /^kubelet_started_containers_total\{container_type="container"\} 2$/m,
    /^kubelet_pod_start_duration_seconds_count 1$/m,
    /^kubelet_pod_start_sli_duration_seconds_count 1$/m,
    /^kubelet_pod_worker_duration_seconds_count\{operation_type="create"\} 1$/m,
    /^kubelet_run_podsandbox_duration_seconds_count\{runtime_handler=""\} 1$/m,
    /^kubelet_http_requests_total\{method="GET",path="metrics",server_type="readwrite",long_running="false"\} 1$/m,
  ])
    assert.match(metrics, line);
  // the fake runtime reports no statistics, so there are only an error count, machine metrics and process metrics
  assert.match((await ask('/metrics/resource')).body, /^resource_scrape_error 1$/m);
  const cadvisor = (await ask('/metrics/cadvisor')).body;
  assert.match(cadvisor, /^machine_cpu_cores \d+$/m);
  assert.match(cadvisor, /^container_fs_limit_bytes\{.*id="\/".*\} [1-9]\d*$/m);
  assert.match((await ask('/metrics/probes')).body, /^process_start_time_seconds \d+/m);
});

test('profiles are V8 profiles of the kubelet, limited in time and one at a time', async (t) => {
  const { ask } = await serveApi(t);
  const [cpu, second] = await Promise.all([ask('/debug/pprof/profile?seconds=1'), ask('/debug/pprof/heap?seconds=1')]);
  const profile = JSON.parse(cpu.body) as { nodes: { callFrame: object }[]; samples: number[]; startTime: number };
  assert.ok(profile.nodes[0]!.callFrame && profile.samples.length > 0 && profile.startTime > 0);
  assert.deepEqual([second.status, second.body], [500, 'Could not enable profiling: a profile is being taken\n']);
  const heap = JSON.parse((await ask('/debug/pprof/heap?seconds=1')).body) as { head: object; samples: object[] };
  assert.ok(heap.head && Array.isArray(heap.samples));
  for (const seconds of ['0', '121', '-1', '1e1', '', 'x', '9'.repeat(20)])
    assert.equal((await ask(`/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds);
  for (const name of ['', 'goroutine', 'profile/x', '__proto__'])
    assert.deepEqual(await ask(`/debug/pprof/${name}`).then(({ status }) => status), 404, name);
});

test('a profile ends when its client disconnects, and profiling can be disabled', async (t) => {
  const { ask, port } = await serveApi(t);
  const leaving = request({
    host: '127.0.0.1',
    port,
    path: '/debug/pprof/profile?seconds=120',
    rejectUnauthorized: false,
  });
  leaving.on('error', () => undefined).end();
  const busy = () => ask('/debug/pprof/profile?seconds=1').then(({ status }) => status === 500 || undefined);
  await waitFor(busy, { intervalMs: 10, signal: AbortSignal.timeout(30_000) });
  leaving.destroy();
  const free = () => ask('/debug/pprof/profile?seconds=1').then(({ status }) => status === 200 || undefined);
  await waitFor(free, { intervalMs: 10, signal: AbortSignal.timeout(30_000) });
  const off = await serveApi(t, { enableProfilingHandler: false });
  const answer = await off.ask('/debug/pprof/profile?seconds=1');
  assert.deepEqual([answer.status, answer.body], [405, 'profiling endpoint is disabled.\n']);
});

test('without debugging handlers, only the open endpoints are served', async (t) => {
  const { ask } = await serveApi(t, { enableDebuggingHandlers: false });
  assert.equal((await ask('/pods')).status, 200);
  assert.equal((await ask('/metrics')).status, 200);
  assert.equal((await ask('/run')).headers.location, '/run/');
  for (const path of [
    '/exec/a/b/c?output=1',
    '/logs/',
    '/runningpods/',
    '/containerLogs/a/b/c',
    '/debug/pprof/profile',
  ])
    assert.deepEqual(await ask(path).then(({ status, body }) => [status, body]), [
      405,
      'Debug endpoints are disabled.\n',
    ]);
  assert.equal((await ask('/configz')).status, 404);
});

test('/logs/ serves the host’s logs, but no other files via any path or symlink', async (t) => {
  const { ask, directory, fake } = await serveApi(t);
  const log = join(directory, 'log');
  const pods = fake.handle.options.podLogsDir;
  for (const made of [join(log, 'sub'), pods]) mkdirSync(made, { recursive: true });
  writeFileSync(join(log, 'messages'), '0123456789');
  writeFileSync(join(directory, 'secret'), 'secret');
  writeFileSync(join(pods, 'x.log'), 'of a pod');
  symlinkSync(join(directory, 'secret'), join(log, 'link'));
  symlinkSync('/etc', join(log, 'etc'));
  symlinkSync(join(pods, 'x.log'), join(log, 'pod.log'));
  const listing = (await ask('/logs/')).body;
  assert.match(listing, /^<pre>\n<a href="etc">etc<\/a>\n<a href="link">link<\/a>\n<a href="messages">messages<\/a>/m);
  assert.equal((await ask('/logs/messages')).body, '0123456789');
  const part = await ask('/logs/messages', { headers: { range: 'bytes=-3' } });
  assert.deepEqual([part.status, part.body, part.headers['content-range']], [206, '789', 'bytes 7-9/10']);
  assert.equal((await ask('/logs/pod.log')).body, 'of a pod');
  assert.deepEqual(await ask('/logs/sub').then(({ status, headers }) => [status, headers.location]), [301, 'sub/']);
  for (const path of [
    ...['link', 'etc/passwd', '../secret', '..%2fsecret', '%2e%2e/secret', 'sub/../../secret', 'messages%00', 'none'],
    ...['sub/..%2f..%2fsecret', '/etc/passwd', '%2fetc%2fpasswd', 'messages/'],
  ])
    assert.equal((await ask(`/logs/${path}`)).status, 404, path);
});
