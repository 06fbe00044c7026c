import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore } from '@podwright/api-machinery';
import { metricsText, Registry } from '@podwright/base';
import { Schema } from '@podwright/kube-schema';
import { open, send, WAYS } from '../server/test-client.fixture.ts';
import { TestServer } from '../server/test-server.fixture.ts';
import { objectMetrics } from './object-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';

const schema = await Schema.load();
const PODS = '/api/v1/namespaces/x/pods';

async function measured() {
  const registry = new Registry();
  const server = await TestServer.start({ observers: [new RequestMetrics(registry, schema)] });
  const linesOf = async (name: string) => {
    const text = await metricsText(registry, (one) => one === name);
    return text.split('\n').filter((line) => line.startsWith(name));
  };
  return { server, linesOf };
}

test('requests are counted with upstream’s labels, which have bounded values', async () => {
  const { server, linesOf } = await measured();
  await using _ = server;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ metadata: { name: 'a' } });
  await send(server, WAYS[0], { path: PODS });
  await send(server, WAYS[0], { path: PODS });
  await send(server, WAYS[0], { path: `${PODS}/a` });
  await send(server, WAYS[0], { method: 'POST', path: '/api/v1/namespaces/x/configmaps?dryRun=All', headers, body });
  await send(server, WAYS[0], { method: 'PATCH', path: `${PODS}/a/status`, headers: APPLY, body: '{}' });
  await send(server, WAYS[0], { path: '/apis/example.com/v1/things' });
  await send(server, WAYS[0], { path: '/livez' });
  await send(server, WAYS[1], { path: PODS, user: '' });
  const lines = await linesOf('apiserver_request_total');
  const label = (name: string, line: string) => new RegExp(`${name}="([^"]*)"`).exec(line)?.[1];
  const short = lines.map((line) => {
    const values = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'code'];
    return `${values.map((name) => label(name, line)).join('|')} ${line.split(' ').at(-1)}`;
  });
  assert.deepEqual(short.sort(), [
    'APPLY|||v1|pods|status|resource|422 1',
    'GET|||v1|pods||resource|404 1',
    'GET|||||||200 1',
    'GET|||||||404 1',
    'LIST|||v1|pods||namespace|200 2',
    'LIST|||v1|pods||namespace|401 1',
    'POST|All||v1|configmaps||namespace|201 1',
  ]);
  const [first] = (await linesOf('apiserver_request_duration_seconds')).filter((line) => line.includes('_count'));
  assert.match(first ?? '', /verb="\w+".* \d$/);
});

const APPLY = { 'content-type': 'application/apply-patch+yaml' };

test('requests in flight are counted, with watches as long-running requests', async () => {
  const { server, linesOf } = await measured();
  await using _ = server;
  const watch = await open(server, WAYS[1], { path: `${PODS}?watch=1` });
  const running = async () => (await linesOf('apiserver_longrunning_requests')).map((line) => line.split(' ').at(-1));
  assert.deepEqual(await running(), ['1']);
  watch.close();
  while ((await running())[0] !== '0') await new Promise(setImmediate);
  assert.deepEqual((await linesOf('apiserver_current_inflight_requests')).sort(), [
    'apiserver_current_inflight_requests{request_kind="mutating"} 0',
    'apiserver_current_inflight_requests{request_kind="readOnly"} 0',
  ]);
});

test('stored objects are counted', async () => {
  const registry = new Registry();
  const store = new MemoryStore();
  for (const name of ['a', 'b', 'c'])
    store.create({ resource: 'jobs.batch', namespace: 'x', name }, { metadata: { name, namespace: 'x' } });
  objectMetrics(registry, store, ['pods', 'jobs.batch']);
  const text = await metricsText(registry, () => true);
  assert.match(text, /^apiserver_resource_objects\{group="batch",resource="jobs"\} 3$/m);
  assert.match(text, /^apiserver_resource_objects\{group="",resource="pods"\} 0$/m);
});
