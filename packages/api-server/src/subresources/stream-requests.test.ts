import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import { sleep } from '@podwright/base';
import { LocalNodeConnector } from '../backends/local-node-connector.ts';
import { send } from '../server/test-client.fixture.ts';
import { ConnectedNode, type KubeletStub, requestUpgrade, type Upgraded } from './connected-node.fixture.ts';

const pathOf = (kind: string, pod: string, query = '') => `/api/v1/namespaces/default/pods/${pod}/${kind}${query}`;

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';

/** A kubelet that echoes what clients send on an upgraded connection, in uppercase. */
const ECHO: KubeletStub = {
  upgrade: (_, socket, head) => {
    socket.write(`${SWITCHED}hello `);
    const write = (data: Buffer) => void socket.write(data.toString().toUpperCase());
    if (head.length > 0) write(head);
    socket.on('data', write);
    socket.once('end', () => socket.end('BYE'));
  },
};

async function upgraded(node: ConnectedNode, path: string, given: { headers?: OutgoingHttpHeaders } = {}) {
  const answer = await requestUpgrade(node, { path, ...given });
  assert.ok('socket' in answer, JSON.stringify(answer));
  return answer;
}

async function refusal(node: ConnectedNode, path: string, method?: string): Promise<string> {
  const answer = await requestUpgrade(node, { path, method });
  assert.ok('text' in answer);
  const { code, reason = '', message } = JSON.parse(answer.text);
  assert.equal(code, answer.status);
  return `${code} ${reason}: ${message}`;
}

/** Returns everything that the server sends on an upgraded connection until the server closes the connection. */
async function rest({ socket, head }: Pick<Upgraded, 'socket' | 'head'>): Promise<string> {
  const chunks: Buffer[] = [head, ...(await socket.toArray())];
  return Buffer.concat(chunks).toString();
}

describe('streams of pods', () => {
  it('are joined byte by byte, also after the client has ended its side', async () => {
    await using node = await ConnectedNode.start({ kubelet: ECHO });
    const { socket, head, headers } = await upgraded(
      node,
      pathOf('exec', 'lone', '?command=ls&command=-l&stdout=true'),
    );
    assert.equal(headers.upgrade, 'SPDY/3.1');
    socket.write('one ');
    socket.end('two ');
    assert.equal(await rest({ socket, head }), 'hello ONE TWO BYE');
    assert.deepEqual(node.received, ['POST /exec/default/lone/main?command=ls&command=-l&output=1 by kubelet-client']);
  });

  it('have the options of the client', async () => {
    await using node = await ConnectedNode.start({ kubelet: ECHO });
    const check = async (path: string, expected: string) => {
      const { socket } = await upgraded(node, path);
      socket.destroy();
      assert.equal(node.received.pop(), `POST ${expected} by kubelet-client`);
    };
    const all = 'container=b&stdin=1&stdout=true&stderr=false&tty=true';
    await check(
      pathOf('exec', 'many', `?${all}&command=a%26b+c`),
      '/exec/default/many/b?command=a%26b+c&input=1&output=1&tty=1',
    );
    await check(pathOf('attach', 'many', `?${all}&command=x`), '/attach/default/many/b?input=1&output=1&tty=1');
    await check(pathOf('portforward', 'lone'), '/portForward/default/lone');
    await check(pathOf('portforward', 'lone', '?ports=80,443&ports=1'), '/portForward/default/lone?port=80%2C443%2C1');
  });

  it('have the options that admission has changed', async () => {
    const changes = { container: 'a', command: ['date'], tty: true, stdin: 'x', ports: [8080, '1', { a: 1 }] };
    const mutate = (options: object) => ({ ...options, ...changes }) as never;
    await using node = await ConnectedNode.start({ kubelet: ECHO, mutate });
    const check = async (path: string, expected: string) => {
      const { socket } = await upgraded(node, path);
      socket.destroy();
      assert.equal(node.received.pop(), `POST ${expected} by kubelet-client`);
    };
    await check(
      pathOf('exec', 'many', '?container=b&command=ls&stdout=1'),
      '/exec/default/many/a?command=date&output=1&tty=1',
    );
    await check(pathOf('portforward', 'lone', '?ports=80'), '/portForward/default/lone?port=8080');
  });

  it('carry handshake headers, but no credentials and no names of users', async () => {
    await using node = await ConnectedNode.start({ kubelet: ECHO });
    const headers = {
      'x-stream-protocol-version': ['v4.channel.k8s.io', 'channel.k8s.io'],
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io',
      authorization: 'Bearer token-alice',
      'impersonate-user': 'bob',
      'x-remote-user': 'root',
      connection: 'Upgrade, X-Hop',
      'x-hop': 'dropped',
    };
    const { socket } = await upgraded(node, pathOf('exec', 'lone'), { headers });
    socket.destroy();
    const { rawHeaders } = node.requests[0]!;
    assert.equal(rawHeaders.filter((name) => name.toLowerCase() === 'x-stream-protocol-version').length, 2);
    const received = node.requests[0]!.headers;
    assert.equal(received['sec-websocket-protocol'], 'v5.channel.k8s.io');
    assert.equal(received['content-length'], '0');
    for (const name of ['authorization', 'impersonate-user', 'x-remote-user', 'x-hop'])
      assert.equal(received[name], undefined, name);
  });

  it('need a running kubelet, a container and an upgrade', async () => {
    await using node = await ConnectedNode.start({ kubelet: ECHO });
    assert.equal(
      await refusal(node, pathOf('exec', 'waiting')),
      '400 BadRequest: pod waiting does not have a host assigned',
    );
    assert.match(await refusal(node, pathOf('exec', 'many')), /choose one of: \[first a b debug\]$/);
    assert.equal(await refusal(node, pathOf('exec', 'none')), '404 NotFound: pods "none" not found');
    assert.equal(await refusal(node, pathOf('exec', 'lone', '?dryRun=All')), '400 BadRequest: dryRun is not supported');
    assert.equal(
      await refusal(node, pathOf('portforward', 'lone', '?ports=http')),
      '400 BadRequest: strconv.ParseInt: parsing "http": invalid syntax',
    );
    const plain = await send(node.server, 'HTTP/2 over TLS', { path: pathOf('exec', 'lone'), method: 'POST' });
    assert.deepEqual([plain.status, plain.json().message], [400, 'Upgrade request required']);
    const { port } = node;
    await node.stopKubelet();
    assert.equal(
      await refusal(node, pathOf('exec', 'lone')),
      `500 : error dialing backend: dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
  });

  it('need the permission to create them, also by GET', async () => {
    await using node = await ConnectedNode.start({
      kubelet: ECHO,
      decide: ({ verb }) => (verb === 'get' ? 'allow' : 'no opinion'),
    });
    for (const kind of ['exec', 'attach', 'portforward'])
      assert.equal(await refusal(node, pathOf(kind, 'lone'), 'GET'), '403 Forbidden: pods "lone" is forbidden: no');
    assert.deepEqual(node.received, []);
  });

  it("carry the kubelet's refusal, and no answer that is neither", async () => {
    let code = 500;
    await using node = await ConnectedNode.start({
      kubelet: {
        upgrade: (_, socket) =>
          void socket.end(`HTTP/1.1 ${code} X\r\nContent-Length: 9\r\nContent-Type: text/plain\r\n\r\nnot found`),
      },
    });
    const answer = await requestUpgrade(node, { path: pathOf('exec', 'lone') });
    assert.deepEqual(answer, { status: 500, text: 'not found' });
    code = 200;
    assert.equal(await refusal(node, pathOf('exec', 'lone')), '500 : invalid upgrade response: status code 200');
  });

  it('are read only as fast as the other side takes the data', async () => {
    const flood = (socket: Duplex, count: (bytes: number) => void) => {
      const chunk = Buffer.alloc(1 << 16);
      const more = () => {
        do count(chunk.length);
        while (socket.write(chunk) && !socket.destroyed);
      };
      socket.on('drain', more);
      more();
    };
    let downBytes = 0;
    await using node = await ConnectedNode.start({
      kubelet: {
        upgrade: (_, socket) => {
          socket.write(SWITCHED);
          socket.pause();
          flood(socket, (bytes) => {
            downBytes += bytes;
          });
        },
      },
    });
    const { socket } = await upgraded(node, pathOf('attach', 'lone'));
    let upBytes = 0;
    flood(socket, (bytes) => {
      upBytes += bytes;
    });
    let before = -1;
    while (before !== upBytes + downBytes) {
      before = upBytes + downBytes;
      await sleep(200);
    }
    socket.destroy();
    assert.ok(upBytes < 32 << 20 && downBytes < 32 << 20, `${upBytes} and ${downBytes} bytes`);
  });

  it('end with the kubelet, with the client and with the server', async () => {
    const sockets: Duplex[] = [];
    await using node = await ConnectedNode.start({
      kubelet: {
        upgrade: (_, socket) => {
          sockets.push(socket);
          socket.write(SWITCHED);
          socket.resume();
        },
      },
    });
    const first = await upgraded(node, pathOf('attach', 'lone'));
    sockets[0]!.destroy();
    await once(first.socket.resume(), 'close');
    const second = await upgraded(node, pathOf('attach', 'lone'));
    second.socket.destroy();
    await once(sockets[1]!, 'close');
    const third = await upgraded(node, pathOf('attach', 'lone'));
    const closed = [third.socket.resume(), sockets[2]!].map((socket) => once(socket, 'close'));
    const startMs = performance.now();
    await node.server.listeners.stop(10_000);
    assert.ok(performance.now() - startMs < 5_000, 'the stream ends at once');
    await Promise.all(closed);
  });

  it('reach the kubelet in this process without a network', async () => {
    const { createServer } = await import('node:http');
    const kubelet = createServer().on('upgrade', ECHO.upgrade!);
    await using node = await ConnectedNode.start({
      connector: (others) =>
        new LocalNodeConnector(
          () => ({ nodeName: 'n1', serve: (connection) => void kubelet.emit('connection', connection) }),
          others,
        ),
    });
    await node.stopKubelet();
    const { socket, head } = await upgraded(node, pathOf('exec', 'lone'));
    socket.end('one ');
    assert.equal(await rest({ socket, head }), 'hello ONE BYE');
  });
});
