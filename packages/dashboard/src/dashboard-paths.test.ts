import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { VERSION } from '@podwright/base';
import { ServedDashboard } from './served-dashboard.fixture.ts';

const FORBIDDEN = { code: 403, body: { kind: 'Status', message: 'not for you' } };

/** Starts a dashboard whose API server returns these documents, by path. A document may be a function of the request body. */
async function serve(t: TestContext, documents: Record<string, unknown>) {
  const dashboard = await ServedDashboard.start(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const found = documents[(request.url ?? '').split('?')[0]!];
    const document = typeof found === 'function' ? found(body === '' ? undefined : JSON.parse(body)) : found;
    const code = document === undefined ? 404 : document === FORBIDDEN ? 403 : 200;
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(
      typeof document === 'string'
        ? document
        : JSON.stringify(document === FORBIDDEN ? FORBIDDEN.body : (document ?? {})),
    );
  });
  const headers = await dashboard.logIn();
  const get = async (path: string) => {
    const { status, text } = await dashboard.call({ path: `/dashboard/${path}`, headers });
    return { status, body: JSON.parse(text) };
  };
  const post = async (path: string, body: object) => {
    const call = { method: 'POST', path: `/dashboard/${path}`, headers, body: JSON.stringify(body) };
    const { status, text } = await dashboard.call(call);
    return { status, body: JSON.parse(text) };
  };
  return { get, post };
}

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

test('the session describes the API server, the user and the user’s access', async (t) => {
  const { get } = await serve(t, {
    '/version': { gitVersion: 'v1.36.0' },
    '/podwright/v1/node': { name: 'one' },
    [SELF]: { status: { userInfo: { username: 'ada', groups: ['viewers'] } } },
    [REVIEWS]: { status: { allowed: true } },
  });
  const { status, body } = await get('session');
  assert.equal(status, 200);
  assert.match(body.server, /api\.sock$/);
  assert.deepEqual(
    { ...body, server: '' },
    {
      ...{ server: '', version: VERSION, apiVersion: 'v1.36.0', startNamespace: '', node: 'one' },
      ...{ user: { username: 'ada', groups: ['viewers'] }, listsAll: true },
    },
  );
});

type Review = { spec: { resourceAttributes: { verb: string; resource: string; namespace?: string } } };

/** Answers access reviews like an API server whose user may list pods only in these namespaces. */
const allowsIn =
  (...namespaces: string[]) =>
  ({ spec: { resourceAttributes: of } }: Review) => ({
    status: { allowed: of.verb === 'list' && of.resource === 'pods' && namespaces.includes(of.namespace ?? '') },
  });
const named = (...names: string[]) => ({ items: names.map((name) => ({ metadata: { name } })) });

test('the page of a user with access to a single namespace starts there', async (t) => {
  const place = { '/version': {}, '/podwright/v1/node': { name: 'one' } };
  const own = await serve(t, { ...place, [REVIEWS]: allowsIn('default') });
  const { body } = await own.get('session');
  assert.deepEqual([body.listsAll, body.startNamespace], [false, 'default']);
  const many = Array.from({ length: 20 }, (_, index) => `n${index}`);
  let reviews = 0;
  const review = (body: Review) => {
    reviews++;
    return allowsIn('n7', 'shop')(body);
  };
  const other = await serve(t, {
    ...{ ...place, [REVIEWS]: review, '/api/v1/namespaces': named('default', ...many, 'shop') },
  });
  assert.equal((await other.get('session')).body.startNamespace, 'n7');
  assert.ok(reviews < many.length, `${reviews} reviews: the namespaces after the first one are not reviewed`);
  assert.deepEqual((await other.get('namespaces')).body, { areListed: true, names: ['n7', 'shop'] });
});

test('a user who cannot list namespaces is offered the known ones that respond', async (t) => {
  const { get } = await serve(t, { [REVIEWS]: allowsIn('default', 'shop'), '/api/v1/namespaces': FORBIDDEN });
  assert.deepEqual((await get('namespaces')).body, { areListed: false, names: ['default'] });
});

test('a user whose access cannot be reviewed is shown as having none', async (t) => {
  const { get } = await serve(t, {
    ...{ '/version': {}, '/podwright/v1/node': { name: 'one' }, [SELF]: FORBIDDEN, [REVIEWS]: FORBIDDEN },
  });
  const { body } = await get('session');
  assert.deepEqual([body.user, body.listsAll, body.startNamespace], [{ username: '', groups: [] }, false, 'default']);
});

test('an object is explained with its events and the end of its log', async (t) => {
  const pod = '/api/v1/namespaces/default/pods/web';
  const waiting = {
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 3, reason: 'Error' } },
  };
  const { get } = await serve(t, {
    [pod]: {
      ...{
        metadata: { name: 'web', namespace: 'default', uid: 'u' },
        spec: { containers: [{ name: 'main', image: 'i' }] },
      },
      status: { phase: 'Running', containerStatuses: [{ name: 'main', ready: false, restartCount: 2, ...waiting }] },
    },
    [`${pod}/log`]: 'no database\n',
    '/api/v1/namespaces/default/events': { items: [] },
  });
  const { body } = await get('why?kind=pods&namespace=default&name=web');
  assert.equal(body.finding.cause, 'crash');
  assert.deepEqual(body.finding.log.lines, ['no database']);
  assert.equal((await get('why?kind=pods&namespace=default&name=none')).status, 404);
  assert.equal((await get('why?kind=nodes&namespace=default&name=web')).status, 400);
  assert.equal((await get('why?kind=pods')).status, 400);
});

test("a page reads the node's usage", async (t) => {
  const { get } = await serve(t, {
    '/podwright/v1/node': { name: 'one' },
    '/api/v1/nodes/one': { status: { capacity: { cpu: '1500m', memory: '2Ki' } } },
    '/stats/summary': { node: { cpu: { usageNanoCores: 7 } }, pods: [] },
  });
  const { body } = await get('usage');
  assert.deepEqual([body.node, body.cpuCores, body.memoryBytes], ['one', 1.5, 2048]);
  assert.equal(body.samples[0].cpuNanoCores, 7);
  assert.deepEqual((await get(`usage?after=${body.samples[0].time}`)).body.samples, []);
});

test('a pod’s steps are read from its node, via the socket or through the API server', async (t) => {
  const span = { name: 'run sandbox', startMs: 1, endMs: 2 };
  const { get } = await serve(t, {
    '/podwright/v1/node': { name: 'one' },
    '/podwright/v1/traces/uid-1': [span],
    '/api/v1/nodes/two/proxy/podwright/v1/traces/uid-2': [{ ...span, open: true }, { name: 1 }, null],
    '/api/v1/nodes/other/proxy/podwright/v1/traces/uid-3': '<html>',
    '/api/v1/nodes/closed/proxy/podwright/v1/traces/uid-4': FORBIDDEN,
  });
  assert.deepEqual((await get('traces?node=one&uid=uid-1')).body, [span]);
  assert.deepEqual((await get('traces?node=two&uid=uid-2')).body, [{ ...span, open: true }]);
  assert.equal((await get('traces?node=two&uid=uid-1')).status, 404);
  assert.equal((await get('traces?node=other&uid=uid-3')).status, 404);
  assert.equal((await get('traces?node=closed&uid=uid-4')).status, 403);
  for (const value of ['', '..', '..%2fnode', 'a/b', 'a%3fb']) {
    assert.equal((await get(`traces?node=one&uid=${value}`)).status, 400, value);
    assert.equal((await get(`traces?node=${value}&uid=uid-1`)).status, 400, value);
  }
});

test('a user not allowed to read statistics is rejected, and the node is not sampled', async (t) => {
  let reads = 0;
  const refuse = () => {
    reads++;
    return FORBIDDEN;
  };
  const { get } = await serve(t, {
    ...{ '/podwright/v1/node': { name: 'one' }, '/api/v1/nodes/one': {}, '/stats/summary': refuse },
  });
  const { status, body } = await get('usage');
  assert.deepEqual([status, body.message, reads], [403, 'not for you', 1]);
});

test('a Service without a cluster IP, or with a loopback address, is looked up but not connected to', async (t) => {
  const of = (spec: object) => ({ spec: { ports: [{ port: 80 }], ...spec } });
  const { post } = await serve(t, {
    '/api/v1/namespaces/default/services/headless': of({ clusterIP: 'None' }),
    '/api/v1/namespaces/default/services/hostile': of({ clusterIP: '127.0.0.1', clusterIPs: ['127.0.0.1', '::1'] }),
    '/api/v1/namespaces/kube-system/services/kube-dns': { spec: { clusterIP: '127.0.0.1' } },
  });
  for (const service of ['headless', 'hostile']) {
    const { status, body } = await post('try', { namespace: 'default', service, port: 80 });
    assert.deepEqual([status, body.connects, body.dns.server], [200, [], undefined], service);
    assert.match(body.dns.error, /no Service kube-system\/kube-dns/);
  }
  assert.equal((await post('try', { namespace: 'default', service: 'headless', port: 81 })).status, 404);
  assert.equal((await post('try', { namespace: 'default', service: 'none', port: 80 })).status, 404);
  assert.equal((await post('try', { namespace: 'default', service: 'headless', port: '80' })).status, 400);
});
