import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { LocalNodeConnector } from '../backends/local-node-connector.ts';
import { type Call, send, WAYS } from '../server/test-client.fixture.ts';
import { ConnectedNode } from './connected-node.fixture.ts';

const PROXY = '/api/v1/nodes/n1/proxy';

/** Starts a node whose kubelet is in this process. Requests to a kubelet on a loopback address would not be proxied. */
function startLocal(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<ConnectedNode> {
  const kubelet = createServer(listener);
  const local = { nodeName: 'n1', serve: (connection: object) => void kubelet.emit('connection', connection) };
  return ConnectedNode.start({ connector: (others) => new LocalNodeConnector(() => local, others) });
}

async function refusal(node: ConnectedNode, path: string): Promise<string> {
  const { status, json } = await send(node.server, 'the unix socket', { path });
  assert.equal(json().code, status);
  return `${status} ${json().reason}: ${json().message}`;
}

describe('the proxy', () => {
  it('forwards path, query, method and body, and streams the answer', async () => {
    await using node = await startLocal(async (request, response) => {
      const body: Buffer[] = await request.toArray();
      response.writeHead(201, { 'x-answer': 'a', 'set-cookie': ['b=1', 'c=2'] });
      response.end(`${request.method} ${request.url} ${Buffer.concat(body).length}`);
    });
    for (const way of WAYS) {
      const ask = async (call: Call) => (await send(node.server, way, call)).text;
      const body = Buffer.alloc(4 << 20, 'x');
      assert.equal(
        await ask({ path: `${PROXY}/a%20b/c/?q=%2F&q`, method: 'POST', body }),
        'POST /a%20b/c/?q=%2F&q 4194304',
      );
      for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
        assert.equal(
          await ask({ path: `${PROXY}/x`, method, body: 'y', headers: { 'content-length': 1 } }),
          `${method} /x 1`,
        );
      const { status, headers, text } = await send(node.server, way, { path: `${PROXY}/` });
      assert.deepEqual([status, text, headers['x-answer']], [201, 'GET / 0', 'a']);
      assert.deepEqual(headers['set-cookie'], ['b=1', 'c=2']);
      assert.equal((await send(node.server, way, { path: `${PROXY}/x`, method: 'HEAD' })).text, '');
    }
  });

  it('does not leave the backend', async () => {
    await using node = await startLocal((request, response) => response.end(request.url));
    const check = async (path: string, expected: string) => {
      assert.equal((await send(node.server, 'HTTP/1.1 over TLS', { path: PROXY + path })).text, expected, path);
    };
    await check('/../../../secrets', '/secrets');
    await check('/..%2F..%2Fsecrets', '/secrets');
    await check('/%2e%2e/x', '/x');
    await check('/a%0d%0aHost:%20evil', '/a%0D%0AHost:%20evil');
    await check('/a%3Fb%23c', '/a%3Fb%23c');
    await check('//evil.example/x', '/evil.example/x');
    await check('/http://evil.example/', '/http:/evil.example/');
    assert.deepEqual(node.server.authorized.at(-1), 'root get nodes/proxy /n1');
  });

  it('forwards no credentials and no names of users, and returns no headers of a connection or of CORS', async () => {
    let received: IncomingMessage['headers'] = {};
    await using node = await startLocal((request, response) => {
      received = request.headers;
      const cors = ['allow-origin', 'allow-credentials', 'allow-headers', 'allow-methods'];
      for (const name of cors) response.setHeader(`access-control-${name}`, '*');
      response.writeHead(200, { 'keep-alive': 'x', connection: 'close, x-mine', 'x-mine': '1', 'x-yours': '2' }).end();
    });
    for (const way of WAYS) {
      const headers = {
        'impersonate-group': 'masters',
        'x-remote-extra-a': 'b',
        'x-forwarded-for': '192.0.2.1',
        'user-agent': 'test',
        cookie: 'a=b',
      };
      const answer = await send(node.server, way, { path: `${PROXY}/a`, user: 'root', headers });
      assert.equal(answer.status, 200);
      for (const name of ['authorization', 'impersonate-group', 'x-remote-extra-a', 'transfer-encoding', ':path'])
        assert.equal(received[name], undefined, `${way}: ${name}`);
      const client = way === 'the unix socket' ? '192.0.2.1' : '192.0.2.1, 127.0.0.1';
      assert.equal(received['x-forwarded-for'], client);
      assert.equal(received['x-forwarded-uri'], `${PROXY}/a`);
      assert.deepEqual([received['user-agent'], received.cookie], ['test', 'a=b']);
      const names = Object.keys(answer.headers);
      assert.ok(names.includes('x-yours'));
      assert.deepEqual(
        names.filter((name) => /^access-control|^keep-alive$|^x-mine$/.test(name)),
        [],
      );
    }
  });

  it('announces each body, so that the backend takes none for another request', async () => {
    const received: string[] = [];
    await using node = await startLocal(async (request, response) => {
      received.push(request.url!);
      response.end(String((await request.toArray()).join('')));
    });
    const body = `GET ${PROXY}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n`;
    for (const method of ['GET', 'DELETE', 'POST']) {
      const headers = { connection: 'close, content-length, host', 'content-length': body.length };
      const answer = await send(node.server, 'the unix socket', { path: `${PROXY}/own`, method, headers, body });
      assert.deepEqual([answer.status, answer.text], [200, body]);
    }
    assert.deepEqual(received, ['/own', '/own', '/own']);
  });

  it('redirects to the root of the backend, and passes redirects to the client', async () => {
    await using node = await startLocal((_, response) => response.writeHead(302, { location: '/login' }).end());
    const check = async (path: string, expected: [number, string]) => {
      const { status, headers } = await send(node.server, 'the unix socket', { path });
      assert.deepEqual([status, headers.location], expected);
    };
    await check(`${PROXY}?a=b`, [301, `${PROXY}/?a=b`]);
    await check(`/${PROXY}`, [301, `${PROXY}/`]);
    await check(`${PROXY}/a/b`, [302, `${PROXY}/login`]);
  });

  it('reports backends that do not answer, or cut off their answer', async () => {
    await using node = await startLocal((request, response) => {
      if (request.url === '/closed') return void request.socket.destroy();
      response.write('part');
      setImmediate(() => request.socket.destroy());
    });
    assert.equal(await refusal(node, `${PROXY}/closed`), '503 ServiceUnavailable: error trying to reach service: EOF');
    for (const way of WAYS)
      await assert.rejects(send(node.server, way, { path: `${PROXY}/cut` }), /aborted|closed|reset|ERR_/i, way);
  });

  it('reaches nodes only at addresses that are neither loopback nor link-local', async () => {
    await using node = await ConnectedNode.start();
    assert.equal(await refusal(node, `${PROXY}/healthz`), '400 BadRequest: address not allowed');
    assert.equal(await refusal(node, '/api/v1/nodes/n1:22/proxy/'), '400 BadRequest: address not allowed');
    assert.equal(
      await refusal(node, '/api/v1/nodes/ftp:n1:1/proxy/'),
      '400 BadRequest: invalid node request "ftp:n1:1"',
    );
    assert.equal(await refusal(node, '/api/v1/nodes/n2/proxy/'), '404 NotFound: nodes "n2" not found');
    const status = { addresses: [{ type: 'InternalIP', address: '169.254.169.254' }] };
    node.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'cloud' }, status });
    node.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'new' } });
    assert.equal(await refusal(node, '/api/v1/nodes/http:cloud:80/proxy/'), '400 BadRequest: address not allowed');
    assert.match(
      await refusal(node, '/api/v1/nodes/new/proxy/'),
      /^500 .*no preferred addresses found; known addresses: \[\]$/,
    );
    assert.deepEqual(node.received, []);
  });

  it('reaches pods only at such addresses, and at their declared port', async () => {
    await using node = await ConnectedNode.start();
    const put = (name: string, ip: string) =>
      node.put({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default' },
        spec: { containers: [{ name: 'a' }] },
        status: { podIPs: [{ ip }] },
      });
    const path = (id: string) => `/api/v1/namespaces/default/pods/${id}/proxy/`;
    put('local', '127.0.0.1');
    put('mapped', '::ffff:127.0.0.1');
    put('named', 'localhost');
    put('far', '192.0.2.1');
    for (const id of ['lone', 'local:22', 'mapped:22', 'https:named:22'])
      assert.equal(await refusal(node, path(id)), '400 BadRequest: address not allowed', id);
    const unreachable = '503 ServiceUnavailable: error trying to reach service: dial tcp';
    assert.equal(await refusal(node, path('far:http')), `${unreachable}: lookup tcp/http: unknown port`);
    assert.equal(await refusal(node, path('far:99999')), `${unreachable}: address 99999: invalid port`);
    assert.equal(await refusal(node, path('a:far:1')), '400 BadRequest: invalid pod request "a:far:1"');
    assert.equal(await refusal(node, path('none')), '404 NotFound: pods "none" not found');
  });
});
