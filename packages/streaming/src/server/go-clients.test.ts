/** Recorded requests of Go clients (`echo hello | crictl exec -i CONTAINER cat`), replayed against the streaming server. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { randomPieces, seededRandom } from '../random.fixture.ts';
import { FrameParser } from '../spdy/frames.ts';
import { ShellServer } from './shell.fixture.ts';

const shells = new ShellServer();
before(() => shells.server.listen());
after(() => shells.server.close());

/** The subprotocols that each client offers, in its order of preference. */
const OFFERS = {
  'crictl 1.20': ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'],
  'crictl 1.36': ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'],
};
/**
 * The SPDY frames that both crictl versions send up to the end of the input: streams 1 error, 3 stdin, 5 stdout, 7 stderr; `hello` on 3.
 */
const FRAMES = Buffer.from(
  'gAMAAQAAACkAAAABAAAAAAAAePnjxqfCYmBgYASns5Ki1MRcaFHCmgoKaAAAAAD//4ADAAEAAAAXAAAAAwAAAAAAAMIuVVySkpkHAAAA//+AAwABAAAAGQAA' +
    'AAUAAAAAAADCKsVWXJKSX1oCAAAA//+AAwABAAAAFQAAAAcAAAAAAADCKZdaVAQAAAD//wAAAAMAAAAGaGVsbG8KAAAAAwEAAAA=',
  'base64',
);
/** The frame that crictl 1.36 sends after the end of the input: a reset of stream 7. */
const LAST_FRAME = Buffer.from('gAMAAwAAAAgAAAAHAAAABQ==', 'base64');

function upgradeRequest(url: string, protocols: string[]): Buffer {
  const { host, pathname } = new URL(url);
  const lines = [`POST ${pathname} HTTP/1.1`, `Host: ${host}`, 'User-Agent: Go-http-client/1.1', 'Content-Length: 0'];
  const offers = protocols.map((protocol) => `X-Stream-Protocol-Version: ${protocol}`);
  return Buffer.from([...lines, 'Connection: Upgrade', 'Upgrade: SPDY/3.1', ...offers, '', ''].join('\r\n'));
}

/** Sends the chunks to the streaming server and returns its complete response. */
async function answerTo(url: string, pieces: Iterable<Buffer>): Promise<Buffer> {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true, allowHalfOpen: true });
  const answer = buffer(socket);
  for (const piece of pieces) {
    await new Promise((written) => socket.write(piece, written));
    await new Promise((tick) => setImmediate(tick));
  }
  return answer.finally(() => socket.end(LAST_FRAME));
}

/** Splits the server's response into the HTTP head and the data of each SPDY stream. */
function read(answer: Buffer): { head: string; data: Map<number, string> } {
  const end = answer.indexOf('\r\n\r\n') + 4;
  const data = new Map<number, string>();
  for (const frame of new FrameParser().push(answer.subarray(end))) {
    if (frame.kind === 'data') data.set(frame.streamId, (data.get(frame.streamId) ?? '') + frame.payload.toString());
  }
  return { head: answer.toString('latin1', 0, end), data };
}

for (const [client, protocols] of Object.entries(OFFERS)) {
  test(`${client} is answered, whether its bytes arrive at once or in chunks`, async () => {
    for (const pieces of [
      (bytes: Buffer) => [bytes],
      (bytes: Buffer) => randomPieces(seededRandom(client.length), bytes),
    ]) {
      const url = shells.shell('cat', { stdin: true });
      const { head, data } = read(await answerTo(url, pieces(Buffer.concat([upgradeRequest(url, protocols), FRAMES]))));
      assert.match(head, /^HTTP\/1\.1 101 .*\r\n[\s\S]*X-Stream-Protocol-Version: v4\.channel\.k8s\.io\r\n/);
      assert.equal(data.get(5), 'hello\n');
      assert.equal(data.get(7) ?? '', '');
      assert.deepEqual(JSON.parse(data.get(1)!), { metadata: {}, status: 'Success' });
    }
  });
}
