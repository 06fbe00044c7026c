/** Tests of extension API servers behind a complete API server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { waitFor } from '@podwright/base';
import { eventsOf, type Json, open } from './server/test-client.fixture.ts';
import { API_SERVICES, BASE, GROUP, NAME, PLACE, TestExtension } from './test-extension.fixture.ts';

const READY = [{ addresses: ['127.0.0.1'], conditions: { ready: true } }];
const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

let extension: TestExtension;
before(async () => {
  extension = await TestExtension.start();
});
after(() => extension[Symbol.asyncDispose]());
afterEach(async () => {
  await extension.call('DELETE', `${API_SERVICES}/${NAME}`);
  extension.setEndpoints(READY);
  extension.handle = () => false;
  extension.requests.length = 0;
});

const get = (path: string, headers: Record<string, string> = {}) => extension.call('GET', path, undefined, headers);

const until = <T>(probe: () => Promise<T | undefined>): Promise<T> =>
  waitFor(probe, { intervalMs: 10, signal: AbortSignal.timeout(10_000) });

async function register(spec: Json = {}): Promise<void> {
  const made = await extension.register(spec);
  assert.equal(made.status, 201, made.text);
  await extension.until('Passed');
}

/** Waits until discovery includes the group version. */
const discovered = () =>
  until(async () => {
    const { items } = (await get('/apis', { accept: V2 })).json();
    const found = items.find((one: Json) => one.metadata.name === GROUP)?.versions[0];
    return found?.freshness === 'Current' ? (found as Json) : undefined;
  });

describe('the documents of an extension API server', () => {
  it('are refused if they have too many values, which take seconds to parse', async () => {
    let reads = 0;
    extension.handle = ({ url }, response) => {
      if (url !== '/apis') return false;
      reads += 1;
      const versions = [{ version: 'v1', resources: [] }];
      const document = { items: [{ metadata: { name: GROUP }, versions }], more: Array(400_000).fill([]) };
      response.writeHead(200, { 'content-type': V2 }).end(JSON.stringify(document));
      return true;
    };
    await register();
    // accepted documents are read again after a minute, refused ones after milliseconds
    await until(async () => (reads > 1 ? true : undefined));
    const { items } = (await get('/apis', { accept: V2 })).json();
    assert.equal(items.find((one: Json) => one.metadata.name === GROUP).versions[0].freshness, 'Stale');
  });
});

describe('requests for a registered group version', () => {
  it('reach the extension API server with the user of the request', async () => {
    await register();
    const impersonated = {
      'impersonate-user': 'jane',
      'impersonate-group': 'system:masters',
      'impersonate-uid': 'u 7',
    };
    const extra = { 'impersonate-extra-scopes%2fa': 'x' };
    const answer = await get(`${BASE}/namespaces/a%20b/things?limit=1&x=%2F`, { ...impersonated, ...extra });
    assert.equal(answer.status, 404);
    const { url, headers } = extension.requests.at(-1)!;
    assert.equal(url, `${BASE}/namespaces/a%20b/things?limit=1&x=%2F`);
    assert.deepEqual(
      [
        headers['x-remote-user'],
        headers['x-remote-group'],
        headers['x-remote-uid'],
        headers['x-remote-extra-scopes%2fa'],
      ],
      ['jane', 'system:masters, system:authenticated', 'u 7', 'x'],
    );
    assert.deepEqual([...extension.clients], ['CN=front-proxy-client']);
    assert.equal(headers.host, `127.0.0.1:${extension.port}`);
    assert.equal(headers['audit-id'], answer.headers['audit-id']);
    assert.deepEqual(
      [headers['x-forwarded-proto'], headers['x-forwarded-host'], headers['x-forwarded-uri']],
      ['https', headers.host, `${BASE}/namespaces/a%20b/things`],
    );
    assert.equal(headers['impersonate-user'], undefined);
  });

  it('lose the headers with which a client would choose another user', async () => {
    await register();
    const forged = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'X-Remote-Extra-a': 'b' };
    const jane = { 'impersonate-user': 'jane', 'impersonate-group': 'readers' };
    const rules = [{ apiGroups: [GROUP], resources: ['things'], verbs: ['list'] }];
    await extension.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'things' },
      rules,
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'things' };
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }];
    const binding = { metadata: { name: 'things' }, roleRef, subjects };
    await extension.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding);
    const connection = { connection: 'x-remote-uid, audit-id' };
    await until(
      async () => (await get(`${BASE}/things`, { ...forged, ...jane, ...connection })).status === 200 || undefined,
    );
    const { headers } = extension.requests.at(-1)!;
    assert.deepEqual(
      [headers['x-remote-user'], headers['x-remote-group'], headers['x-remote-extra-a']],
      ['jane', 'readers, system:authenticated', undefined],
    );
    const seen = extension.requests.length;
    assert.equal((await get(`${BASE}/others`, jane)).status, 403, 'authorization is that of this server');
    assert.equal(extension.requests.length, seen);
  });

  it('over HTTP/2 have the user of the certificate, with its extra attributes', async () => {
    await register();
    const { server } = extension;
    const kubeconfig = server.kubeconfig({ username: 'zoë', groups: ['system:masters'] });
    const pem = (name: string) =>
      Buffer.from(new RegExp(`${name}: "?([A-Za-z0-9+/=]+)`).exec(kubeconfig)![1]!, 'base64').toString();
    const [cert, key] = [pem('client-certificate-data'), pem('client-key-data')];
    const session = connectHttp2(server.url!, { ca: server.caCertificate, cert, key });
    const body = '{"kind":"Thing"}';
    const stream = session.request({
      ':method': 'POST',
      ':path': `${BASE}/things?dryRun=All`,
      'x-remote-user': 'root',
    });
    stream.end(body);
    let received = '';
    extension.handle = (request, response) => {
      if (request.method !== 'POST') return false;
      request.on('data', (data) => {
        received += data;
      });
      request.on('end', () => response.writeHead(201, { 'x-own': '1' }).end('made'));
      return true;
    };
    const [answer] = await once(stream, 'response');
    assert.deepEqual([answer[':status'], answer['x-own'], received], [201, '1', body]);
    assert.equal(Buffer.concat(await stream.toArray()).toString(), 'made');
    session.close();
    const { headers, httpVersion, url } = extension.requests.at(-1)!;
    assert.deepEqual([httpVersion, url], ['1.1', `${BASE}/things?dryRun=All`]);
    assert.equal(Buffer.from(String(headers['x-remote-user']), 'latin1').toString(), 'zoë');
    assert.match(
      String(headers['x-remote-extra-authentication.kubernetes.io%2fcredential-id']),
      /^X509SHA256=[0-9a-f]+$/,
    );
  });

  it('may have a body, and the answer is that of the server', async () => {
    await register();
    extension.handle = (request, response) => {
      if (request.method !== 'POST') return false;
      response.writeHead(422, { 'content-type': 'application/x', 'x-own': '1', connection: 'x-hop', 'x-hop': '1' });
      request.pipe(response);
      return true;
    };
    const answer = await extension.call('POST', `${BASE}/things`, { a: 'b' });
    assert.deepEqual([answer.status, answer.text, answer.headers['content-type']], [422, '{"a":"b"}', 'application/x']);
    assert.deepEqual([answer.headers['x-own'], answer.headers['x-hop']], ['1', undefined]);
  });

  it('share connections, and those without a body are repeated if the server has closed theirs', async () => {
    await register();
    const ports = new Set<number | undefined>();
    const ask = async (method = 'GET', expected = 200) => {
      const body = method === 'POST' ? { a: 'b' } : undefined;
      assert.equal((await extension.call(method, `${BASE}/things`, body)).status, expected);
      ports.add(extension.requests.at(-1)!.socket.remotePort);
    };
    for (const method of ['GET', 'POST', 'DELETE', 'GET']) await ask(method);
    assert.equal(ports.size, 1);
    let closed = 0;
    extension.handle = ({ socket }) => {
      if (closed > 0) return false;
      closed += 1;
      socket.destroy();
      return true;
    };
    await ask();
    assert.equal(ports.size, 2);
    closed = 0;
    const seen = extension.requests.length;
    await ask('POST', 503);
    assert.equal(extension.requests.length, seen + 1, 'a request that the server might have processed is not repeated');
  });

  it('that came at the same time leave their connections for others', async () => {
    await register();
    const burst = async () => {
      const held: (() => void)[] = [];
      extension.handle = ({ url }, response) => {
        if (url !== `${BASE}/things`) return false;
        held.push(() => response.end('{}'));
        return true;
      };
      const answers = Array.from({ length: 8 }, () => get(`${BASE}/things`));
      await until(async () => held.length === 8 || undefined);
      for (const answer of held) answer();
      await Promise.all(answers);
    };
    extension.requests.length = 0;
    await burst();
    await burst();
    assert.equal(new Set(extension.requests.map(({ socket }) => socket.remotePort)).size, 8);
  });

  it('are answered with one write if the answer is complete', async () => {
    await register();
    const client = connect(extension.socketPath).setEncoding('utf8');
    const chunks: string[] = [];
    client.on('data', (chunk: string) => chunks.push(chunk));
    client.write(`GET ${BASE}/things HTTP/1.1\r\nhost: a\r\n\r\n`);
    await until(async () => chunks.join('').includes('"items":[]}') || undefined);
    assert.equal(chunks.length, 1);
    client.destroy();
  });

  it('stream watches until the server ends them', async () => {
    await register();
    let send: (event: object) => void = () => undefined;
    extension.handle = ({ url }, response) => {
      if (!url?.includes('watch=1')) return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      send = (event) => response.write(`${JSON.stringify(event)}\n`);
      return true;
    };
    const target = { socketPath: extension.socketPath, port: 0, certificate: '' };
    const watch = await open(target, 'the unix socket', { path: `${BASE}/things?watch=1` });
    const events = eventsOf(watch.body);
    send({ type: 'ADDED' });
    assert.deepEqual((await events.next()).value, { type: 'ADDED' });
    send({ type: 'DELETED' });
    assert.deepEqual((await events.next()).value, { type: 'DELETED' });
    const { socket } = extension.requests.at(-1)!;
    watch.close();
    await once(socket, 'close');
  });

  it('may be upgraded to another protocol, whatever their resource', async () => {
    await register();
    extension.upgrade = (request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n');
      socket.write(`${request.headers['x-remote-user']}:`);
      socket.pipe(socket);
    };
    const client = connect(extension.socketPath).setEncoding('utf8');
    const head = 'host: a\r\nconnection: upgrade\r\nupgrade: echo\r\nx-remote-user: root\r\n';
    client.write(`GET ${BASE}/namespaces/a/things/b/console HTTP/1.1\r\n${head}\r\nhello`);
    let received = '';
    client.on('data', (data) => {
      received += data;
    });
    await until(async () => received.includes('hello') || undefined);
    assert.match(received, /^HTTP\/1\.1 101 [\s\S]*\r\n\r\nsystem:admin:hello$/);
    client.destroy();
  });

  it('are refused if the server redirects them, or their path leaves the group version', async () => {
    await register();
    extension.handle = (_, response) => {
      response.writeHead(302, { location: 'https://elsewhere.example/' }).end();
      return true;
    };
    const redirected = await get(`${BASE}/things`);
    const message = 'the backend attempted to redirect this request, which is not permitted\n';
    assert.deepEqual([redirected.status, redirected.text], [502, message]);
    const seen = extension.requests.length;
    assert.equal((await get(`${BASE}/../../../api/v1/secrets`)).status, 404);
    assert.equal(extension.requests.length, seen);
  });
});

describe('an extension API server that is not available', () => {
  const check = async (reason: string, message: string | RegExp) => {
    const condition = await extension.until(reason);
    assert.equal(condition.status, 'False');
    if (typeof message === 'string') assert.equal(condition.message, message);
    else assert.match(condition.message, message);
    const answer = await get(`${BASE}/things`);
    assert.deepEqual([answer.status, answer.text], [503, 'service unavailable\n']);
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
  };

  it('has the reason of upstream in its condition', async () => {
    await extension.register({ service: { ...PLACE, name: 'none' } });
    await check('ServiceNotFound', 'service/none in "default" is not present');
    const update = (spec: Json) => extension.call('PATCH', `${API_SERVICES}/${NAME}`, { spec });
    await update({ service: { ...PLACE, port: 444 } });
    await check('ServicePortError', 'service/extension in "default" is not listening on port 444');
    extension.setEndpoints([{ addresses: ['127.0.0.1'], conditions: { ready: false } }]);
    await update({ service: { ...PLACE, port: 443 } });
    const missing = 'endpointslices for service/extension in "default" have no addresses with port name "https"';
    await check('MissingEndpoints', missing);
    extension.setEndpoints(READY);
    await extension.until('Passed');
    await update({ caBundle: null, insecureSkipTLSVerify: false });
    const url = `https://127\\.0\\.0\\.1:\\d+${BASE.replaceAll('.', '\\.')}`;
    const unknown = 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    await check(
      'FailedDiscoveryCheck',
      new RegExp(`^failing or missing response from ${url}: Get "${url}": ${unknown}$`),
    );
    await update({ insecureSkipTLSVerify: true });
    const passed = await extension.until('Passed');
    assert.deepEqual([passed.status, passed.message], ['True', 'all checks passed']);
  });

  it('is checked again when its own Service changes, and not when others of the namespace do', async () => {
    let checks = 0;
    extension.handle = ({ url, headers }) => {
      if (url === BASE && headers['x-remote-user'] === 'system:kube-aggregator') checks++;
      return false;
    };
    await register();
    await discovered();
    const before = checks;
    const spec = { ports: [{ port: 80 }] };
    for (let count = 0; count < 5; count++) {
      const name = `other-${count}`;
      const made = await extension.call('POST', '/api/v1/namespaces/default/services', { metadata: { name }, spec });
      assert.equal(made.status, 201, made.text);
    }
    const slice = { addressType: 'IPv4', endpoints: [], metadata: { name: 'extension-of-other' } };
    await extension.call('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', slice);
    extension.setEndpoints(READY);
    await until(async () => (checks > before ? true : undefined));
    assert.equal(checks, before + 1);
  });

  it('has a failed check if its discovery is not found', async () => {
    extension.handle = (_, response) => {
      response.writeHead(404).end();
      return true;
    };
    await extension.register();
    await check('FailedDiscoveryCheck', /^failing or missing response from (\S+): bad status from \1: 404$/);
  });

  it('is answered with a text if it fails after its last check', async () => {
    await register();
    extension.setEndpoints([{ addresses: ['127.0.0.2'], conditions: { ready: true } }]);
    const answer = await get(`${BASE}/things`);
    assert.equal(answer.status, 503);
    assert.match(
      answer.text,
      /^(service unavailable|error trying to reach service: dial tcp 127\.0\.0\.2:\d+: connect: .*)\n$/,
    );
  });

  it('is shown as stale by discovery', async () => {
    await register();
    await discovered();
    extension.setEndpoints([]);
    await extension.until('MissingEndpoints');
    await until(async () => {
      const { items } = (await get('/apis', { accept: V2 })).json();
      const [version] = items.find((one: Json) => one.metadata.name === GROUP).versions;
      return version.freshness === 'Stale' && version.resources.length === 1 ? true : undefined;
    });
  });
});

describe('documents', () => {
  it('have the group version in the order of its priority, until it is no longer registered', async () => {
    await register({ groupPriorityMinimum: 17_780 });
    const { resources } = await discovered();
    assert.deepEqual(
      resources.map((one: Json) => one.resource),
      ['things'],
    );
    const names = async () => (await get('/apis')).json().groups.map((one: Json) => one.name);
    assert.deepEqual((await names()).slice(0, 4), ['apiregistration.k8s.io', 'apps', GROUP, 'events.k8s.io']);
    const group = (await get(`/apis/${GROUP}`)).json();
    assert.deepEqual(group.preferredVersion, { groupVersion: `${GROUP}/v1`, version: 'v1' });
    assert.deepEqual((await get(BASE)).json(), { kind: 'APIResourceList', groupVersion: `${GROUP}/v1`, resources: [] });
    await extension.call('DELETE', `${API_SERVICES}/${NAME}`);
    await until(async () => ((await names()).includes(GROUP) ? undefined : true));
    assert.equal((await get(`${BASE}/things`)).status, 404);
  });

  it('have only what discovery knows, of resources as of lists of older servers', async () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const things = '"resource":"things","scope":"Namespaced","verbs":["get",7],"shortNames":["th"]';
    const version = `{"version":"v1","resources":[{${things},"deep":${deep}},7],"more":${deep}}`;
    const groups = `{"items":[{"metadata":{"name":"${GROUP}"},"versions":[${version}]}],"deep":${deep}}`;
    let isAggregated = true;
    extension.handle = ({ url }, response) => {
      const list = [
        {
          name: 'others',
          singularName: 'other',
          namespaced: false,
          kind: 'Other',
          verbs: ['list'],
          categories: ['all'],
        },
        { name: 'others/status', namespaced: false, kind: 'Other', verbs: ['get'] },
      ];
      if (url === '/apis' && isAggregated) response.setHeader('content-type', V2).end(groups);
      else if (url === '/apis') response.writeHead(404).end();
      else if (url === BASE) response.end(JSON.stringify({ kind: 'APIResourceList', resources: list }));
      else return false;
      return true;
    };
    await register();
    const kind = { group: '', version: '', kind: '' };
    const { resources } = await discovered();
    assert.equal(resources.length, 1);
    assert.deepEqual(resources[0], {
      ...{ resource: 'things', responseKind: kind, scope: 'Namespaced', singularResource: '' },
      ...{ verbs: ['get', ''], shortNames: ['th'] },
    });
    isAggregated = false;
    await extension.call('PATCH', `${API_SERVICES}/${NAME}`, { spec: { versionPriority: 11 } });
    const other = { group: '', version: '', kind: 'Other' };
    const expected = {
      ...{ resource: 'others', responseKind: other, scope: 'Cluster', singularResource: 'other', verbs: ['list'] },
      ...{ categories: ['all'], subresources: [{ subresource: 'status', responseKind: other, verbs: ['get'] }] },
    };
    await until(async () => {
      const { resources } = await discovered();
      return resources[0].resource === 'others' ? (assert.deepEqual(resources, [expected]) ?? true) : undefined;
    });
  });

  it('of OpenAPI include those of the extension API server', async () => {
    await register();
    await discovered();
    const { paths } = (await get('/openapi/v3')).json();
    assert.equal(paths[`apis/${GROUP}/v1`].serverRelativeURL, `/openapi/v3${BASE}?hash=1`);
    assert.match(paths['api/v1'].serverRelativeURL, /^\/openapi\/v3\/api\/v1\?hash=/);
    const document = (await get(paths[`apis/${GROUP}/v1`].serverRelativeURL)).json();
    assert.equal(document.info.title, 'extension');
    assert.equal(paths[`apis/${GROUP}`].serverRelativeURL, `/openapi/v3/apis/${GROUP}?hash=2`);
    assert.equal((await get(paths[`apis/${GROUP}`].serverRelativeURL)).json().info.title, 'group');
    assert.equal((await get('/openapi/v3/apis/other.example.com')).status, 404);
    const v2 = (await get('/openapi/v2', { accept: 'application/json' })).json();
    assert.ok(v2.paths[`${BASE}/things`] && v2.paths['/api/v1/']);
    assert.ok(v2.definitions['com.example.Thing'] && v2.definitions['io.k8s.api.core.v1.Pod']);
    assert.equal(v2.definitions['com.example.Unused'], undefined);
    const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    assert.ok((await get('/openapi/v2', { accept: protobuf })).text.includes('com.example.Thing'));
  });
});

it('a namespace is removed once the extension API server has deleted its objects', async () => {
  await register();
  await discovered();
  let count = 2;
  let finishes = false;
  extension.handle = ({ method, url = '' }, response) => {
    if (!url.startsWith(`${BASE}/namespaces/ending/things`)) return false;
    if (method === 'DELETE' && finishes) count = 0;
    response.end(
      JSON.stringify({
        items: Array.from({ length: Math.min(count, 1) }),
        metadata: { remainingItemCount: Math.max(count - 1, 0) },
      }),
    );
    return true;
  };
  const path = '/api/v1/namespaces/ending';
  await extension.call('POST', '/api/v1/namespaces', { metadata: { name: 'ending' } });
  await extension.call('DELETE', path);
  const conditions = async () => (await get(path)).json().status?.conditions ?? [];
  const remaining = 'Some resources are remaining: things.apis.example.com has 2 resource instances';
  await until(async () => (await conditions()).find((one: Json) => one.message === remaining));
  const { headers, url } = extension.requests.find(({ method }) => method === 'DELETE')!;
  assert.equal(url, `${BASE}/namespaces/ending/things?propagationPolicy=Background`);
  assert.equal(headers['x-remote-user'], 'system:serviceaccount:kube-system:namespace-controller');
  extension.setEndpoints([]);
  await until(async () =>
    (await conditions()).find((one: Json) => one.reason === 'DiscoveryFailed' && one.message.includes(`${GROUP}/v1`)),
  );
  finishes = true;
  extension.setEndpoints(READY);
  await until(async () => ((await get(path)).status === 404 ? true : undefined));
});
