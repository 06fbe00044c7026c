import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { open, send, WAYS } from '../server/test-client.fixture.ts';
import { ConnectedNode } from './connected-node.fixture.ts';

const pathOf = (pod: string, query = '') => `/api/v1/namespaces/default/pods/${pod}/log${query}`;

async function refusal(node: ConnectedNode, pod: string, query?: string): Promise<string> {
  const { status, json } = await send(node.server, 'the unix socket', { path: pathOf(pod, query) });
  const { code, reason, message } = json();
  assert.equal(code, status);
  return `${code} ${reason ?? ''}: ${message}`;
}

describe('logs', () => {
  it("are the kubelet's answer", async () => {
    await using node = await ConnectedNode.start({ kubelet: { request: (_, response) => response.end('one\ntwo\n') } });
    for (const way of WAYS) {
      const { status, headers, text } = await send(node.server, way, { path: pathOf('lone') });
      assert.deepEqual([status, headers['content-type'], text], [200, 'text/plain', 'one\ntwo\n']);
    }
    assert.deepEqual([...new Set(node.received)], ['GET /containerLogs/default/lone/main by kubelet-client']);
  });

  it('have the options of the client', async () => {
    await using node = await ConnectedNode.start();
    const check = async (query: string, expected: string) => {
      await send(node.server, 'the unix socket', { path: pathOf('many', `?container=first&${query}`) });
      assert.equal(node.received.pop(), `GET /containerLogs/default/many/first${expected} by kubelet-client`);
    };
    await check('', '');
    await check('follow=true&tailLines=0&timestamps', '?follow=true&tailLines=0&timestamps=true');
    await check('follow=false&previous=1&limitBytes=7&sinceSeconds=5', '?limitBytes=7&previous=true&sinceSeconds=5');
    await check('sinceTime=2026-01-02T03:04:05.6%2B01:00&x=y', '?sinceTime=2026-01-02T02%3A04%3A05Z');
    await check('stream=All&tailLines=3', '?tailLines=3');
    await check('stream=Stderr', '?stream=Stderr');
  });

  it('are refused with invalid options', async () => {
    await using node = await ConnectedNode.start();
    const check = async (query: string, expected: string) => assert.equal(await refusal(node, 'lone', query), expected);
    const invalid = (text: string) => `422 Invalid: PodLogOptions "lone" is invalid: ${text}`;
    await check('?tailLines=x', '400 BadRequest: strconv.ParseInt: parsing "x": invalid syntax');
    await check('?tailLines=-1', invalid('tailLines: Invalid value: -1: must be greater than or equal to 0'));
    await check('?limitBytes=0', invalid('limitBytes: Invalid value: 0: must be greater than 0'));
    await check('?sinceSeconds=0', invalid('sinceSeconds: Invalid value: 0: must be greater than 0'));
    await check(
      '?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      invalid('[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'),
    );
    await check(
      '?sinceTime=today',
      '400 BadRequest: parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"',
    );
    await check(
      '?stream=Both',
      invalid('stream: Unsupported value: "Both": supported values: "All", "Stderr", "Stdout"'),
    );
    await check(
      '?stream=Stdout&tailLines=1',
      invalid('[]: Forbidden: `tailLines` and specific `stream` are mutually exclusive for now'),
    );
    assert.deepEqual(node.received, []);
  });

  it('need a container of a pod on a node', async () => {
    await using node = await ConnectedNode.start();
    assert.equal(await refusal(node, 'none'), '404 NotFound: pods "none" not found');
    assert.equal(
      await refusal(node, 'many'),
      '400 BadRequest: a container name must be specified for pod many, choose one of: [first a b debug]',
    );
    assert.equal(await refusal(node, 'lone', '?container=x'), '400 BadRequest: container x is not valid for pod lone');
    assert.equal(await refusal(node, 'adrift'), '404 NotFound: nodes "n9" not found');
    const status = {
      addresses: [{ type: 'Hostname', address: 'no-such-host.invalid' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    };
    node.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n9' }, status });
    assert.match(await refusal(node, 'adrift'), /: dial tcp: lookup no-such-host\.invalid: no such host$/);
    assert.match(await refusal(node, 'adrift'), /"https:\/\/no-such-host\.invalid:10250\/containerLogs/);
    const waiting = await send(node.server, 'the unix socket', { path: pathOf('waiting') });
    assert.deepEqual([waiting.status, waiting.text], [204, '']);
  });

  it("carry the kubelet's errors", async () => {
    let answer = { code: 400, text: 'container "main" in pod "lone" is waiting to start: no logs yet' };
    await using node = await ConnectedNode.start({
      kubelet: { request: (_, response) => response.writeHead(answer.code).end(answer.text) },
    });
    const check = async (code: number, text: string, expected: string) => {
      answer = { code, text };
      assert.equal(await refusal(node, 'lone'), expected);
    };
    await check(400, 'waiting to start', '400 BadRequest: waiting to start');
    await check(500, 'broken', '500 InternalError: Internal error occurred: broken');
    await check(404, 'gone', '404 NotFound: the server could not find the requested resource ( pods/log lone)');
    await check(403, 'Forbidden (user=x)', '403 Forbidden: Forbidden (user=x) ( pods/log lone)');
    const { port } = node;
    await check(307, '', `500 : Get "https://127.0.0.1:${port}/containerLogs/default/lone/main": redirects forbidden`);
    await node.stopKubelet();
    assert.equal(
      await refusal(node, 'lone'),
      `500 : Get "https://127.0.0.1:${port}/containerLogs/default/lone/main": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
  });

  it('arrive while the container writes them, and end with their client', async () => {
    const ended = Promise.withResolvers<void>();
    await using node = await ConnectedNode.start({
      kubelet: {
        request: (_, response) => {
          response.write('one\n');
          response.once('close', () => ended.resolve());
        },
      },
    });
    for (const way of WAYS) {
      const { body, close } = await open(node.server, way, { path: pathOf('lone', '?follow=true') });
      const [first] = await once(body, 'data');
      assert.equal(String(first), 'one\n');
      close();
      await ended.promise;
    }
  });

  it('are read from the kubelet only as fast as the client reads them', async () => {
    let sentBytes = 0;
    const chunk = Buffer.alloc(1 << 16);
    await using node = await ConnectedNode.start({
      kubelet: {
        request: (_, response) => {
          const more = () => {
            do sentBytes += chunk.length;
            while (response.write(chunk) && sentBytes < 1 << 30);
          };
          response.on('drain', more);
          more();
        },
      },
    });
    const { close } = await open(node.server, 'HTTP/1.1 over TLS', { path: pathOf('lone') });
    let before = -1;
    while (before !== sentBytes) {
      before = sentBytes;
      await new Promise((resolve) => void setTimeout(resolve, 200));
    }
    close();
    assert.ok(sentBytes < 32 << 20, `the kubelet sent ${sentBytes} bytes`);
  });

  it('verify the kubelet by its CA if there is one, unless the client prefers not to', async () => {
    await using node = await ConnectedNode.start({ kubeletAuthority: (own) => own });
    assert.equal((await send(node.server, 'the unix socket', { path: pathOf('lone') })).status, 200);
    await using other = await ConnectedNode.start({ kubeletAuthority: () => node.server.certificate });
    assert.match(await refusal(other, 'lone'), /^500 : Get "https:.*: .*certificate/);
    assert.deepEqual(other.received, []);
    const insecure = await send(other.server, 'the unix socket', {
      path: pathOf('lone', '?insecureSkipTLSVerifyBackend=true'),
    });
    assert.equal(insecure.status, 200);
  });
});
