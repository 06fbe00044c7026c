/** A container controls the responses to its probes: they must neither hang the probe nor exhaust the node's memory. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { Prober } from '../../packages/kubelet/src/prober/prober.ts';

/** The response of a probed server; `again` is repeated until the prober disconnects. */
type Answer = { head: string; again?: string };

const answers: Record<string, Answer> = {
  'an endless body': { head: 'HTTP/1.1 200 OK\r\n\r\n', again: 'x'.repeat(65_536) },
  'an endless body in chunks of one byte': {
    head: 'HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n',
    again: '1\r\nx\r\n'.repeat(8000),
  },
  'endless headers': { head: 'HTTP/1.1 200 OK\r\n', again: `X-A: ${'x'.repeat(60_000)}\r\n` },
  'endless provisional answers': { head: '', again: 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(100) },
  'another protocol': {
    head: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    again: 'x'.repeat(65_536),
  },
  'a redirect to itself': {
    head: 'HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  },
  'a redirect to a file': { head: 'HTTP/1.1 302 Found\r\nLocation: file:///etc/shadow\r\nContent-Length: 0\r\n\r\n' },
  'a redirect to no URL': { head: 'HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n' },
  'no HTTP': { head: '\0'.repeat(1000), again: '\0'.repeat(65_536) },
  'HTTP/2 without an end': { head: '\0\0\0\x04\0\0\0\0\0', again: '\0\0\x08\x06\0\0\0\0\0pingpong'.repeat(500) },
};

let server: Server;
let answer: Answer = { head: '' };
before(async () => {
  server = createServer(speak);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => server.close());

function speak(socket: Socket): void {
  const { head, again } = answer;
  const more = () => {
    while (again !== undefined && socket.writable && socket.write(again, 'latin1'));
  };
  socket.on('error', () => undefined).on('drain', () => setImmediate(more));
  socket.once('data', () => {
    socket.write(head, 'latin1');
    setImmediate(more);
  });
}

const prober = new Prober({ runInContainer: () => Promise.reject(new Error('not asked for')) });
const container = { name: 'c', image: 'i' };
const TIMEOUT_SECONDS = 2;

async function probe(kind: 'httpGet' | 'grpc') {
  const { port } = server.address() as AddressInfo;
  const wanted = { timeoutSeconds: TIMEOUT_SECONDS, [kind]: { port } };
  const startedAtMs = performance.now();
  const before = process.memoryUsage.rss();
  const target = { probe: wanted, container, containerId: 'id', podIps: ['127.0.0.1'] };
  const { verdict, output } = await prober.probe(target, new AbortController().signal);
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs < TIMEOUT_SECONDS * 1000 + 8000, `${tookMs} ms`);
  assert.ok(process.memoryUsage.rss() - before < 150 << 20, 'memory');
  assert.ok(output.length <= 1024);
  return verdict;
}

const verdicts: [string, 'success' | 'warning' | 'failure' | 'error'][] = [
  ['an endless body', 'success'],
  ['an endless body in chunks of one byte', 'failure'],
  ['endless headers', 'failure'],
  ['endless provisional answers', 'failure'],
  ['another protocol', 'failure'],
  ['a redirect to itself', 'failure'],
  ['a redirect to a file', 'warning'], // not followed, as all redirects to other hosts: a warning, as in upstream's kubelet
  ['a redirect to no URL', 'failure'],
  ['no HTTP', 'failure'],
];
for (const [what, verdict] of verdicts) {
  test(`an HTTP probe that is answered by ${what} ends`, { timeout: 30_000 }, async () => {
    answer = answers[what]!;
    assert.equal(await probe('httpGet'), verdict);
  });
}

for (const what of ['no HTTP', 'HTTP/2 without an end', 'an endless body']) {
  test(`a gRPC probe that is answered by ${what} ends`, { timeout: 30_000 }, async () => {
    answer = answers[what]!;
    assert.equal(await probe('grpc'), 'failure');
  });
}
