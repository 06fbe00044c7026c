import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { ShellServer } from '../server/shell.fixture.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { runRemoteCommand } from './remote-command.ts';

const shells = new ShellServer();
before(() => shells.server.listen());
after(() => shells.server.close());

const sink = () => new PassThrough().resume();

/** Starts a fake streaming server for one connection; `serve` receives each stream that the client opens. */
async function fakeServer(
  protocol: string | undefined,
  serve: (stream: SpdyStream, connection: SpdyConnection) => void,
): Promise<{ url: string } & Disposable> {
  const server: Server = createServer();
  server.on('upgrade', (_request, socket, head) => {
    const line = protocol === undefined ? '' : `X-Stream-Protocol-Version: ${protocol}\r\n`;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${line}\r\n`);
    const connection: SpdyConnection = new SpdyConnection(socket, {
      role: 'server',
      head,
      onStream: (stream) => {
        setImmediate(() => serve(stream, connection));
        return 'accept';
      },
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/exec/x`, [Symbol.dispose]: () => server.close() };
}

test('losing the connection before the exit status is an error', async () => {
  using server = await fakeServer('v4.channel.k8s.io', (stream, connection) => {
    if (stream.headers.streamtype === 'stdout') stream.write('some', () => connection.destroy());
  });
  const stdout = new PassThrough();
  await assert.rejects(runRemoteCommand(server, { stdout, tty: false }), { code: 'unavailable' });
  stdout.end();
  assert.equal(await text(stdout), 'some');
});

test('streams that are reset after their last bytes are read to the end', async () => {
  using server = await fakeServer('v4.channel.k8s.io', (stream) => {
    const words = stream.headers.streamtype === 'error' ? '{"status":"Success"}' : 'output';
    stream.write(words, () => stream.destroy());
  });
  const stdout = new PassThrough();
  assert.equal(await runRemoteCommand(server, { stdout, tty: false }), 0);
  stdout.end();
  assert.equal(await text(stdout), 'output');
});

test('the final status is parsed according to the protocol, and an invalid one is an error', async () => {
  for (const [protocol, words, expected] of [
    ['v4.channel.k8s.io', '{"status":"Success"}', 0],
    ['v4.channel.k8s.io', '{"status":"Failure","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}', 7],
    ['v4.channel.k8s.io', '{"status":"Failure","message":"no such container"}', /no such container/],
    ['v4.channel.k8s.io', '{"status":"Failure","details":{"causes":[null]}}', /could not be run/],
    ['v4.channel.k8s.io', 'null', /null/],
    ['v4.channel.k8s.io', '', /ended before/],
    ['v2.channel.k8s.io', '', 0],
    ['v2.channel.k8s.io', 'exit status 1', /exit status 1/],
    [undefined, '', 0],
  ] as const) {
    using server = await fakeServer(protocol, (stream) =>
      stream.end(stream.headers.streamtype === 'error' ? words : ''),
    );
    const running = runRemoteCommand(server, { stdout: sink(), tty: false });
    if (typeof expected === 'number') assert.equal(await running, expected);
    else await assert.rejects(running, expected);
  }
});

test('a local write error ends the command', async () => {
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const running = runRemoteCommand({ url: shells.shell('yes', { stderr: false }) }, { stdout, tty: false });
  await assert.rejects(running, /write the command's output: EPIPE/);
});

test('an abort ends a command at once, even before it runs', async () => {
  const reason = new Error('enough');
  await assert.rejects(
    runRemoteCommand({ url: shells.shell('true') }, { tty: false }, AbortSignal.abort(reason)),
    reason,
  );
  const hanging = createServer().on('upgrade', () => undefined);
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const { port } = hanging.address() as { port: number };
  const cut = new AbortController();
  const running = runRemoteCommand({ url: `http://127.0.0.1:${port}/` }, { tty: false }, cut.signal);
  setTimeout(() => cut.abort(reason), 20);
  await assert.rejects(running, reason);
  hanging.closeAllConnections();
  hanging.close();
});

test('a server’s response without an upgrade becomes the error', async () => {
  const answers: [number, string, object][] = [
    [404, 'pod gone', { code: 'not_found', message: 'pod gone' }],
    [400, '{"kind":"Status","message":"which container?"}', { code: 'invalid_argument', message: 'which container?' }],
    [500, '', { code: 'internal', message: 'the server answered 500 instead of upgrading to SPDY' }],
    [200, 'null', { code: 'internal', message: 'null' }],
  ];
  for (const [status, body, expected] of answers) {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await assert.rejects(runRemoteCommand({ url: `http://127.0.0.1:${port}/` }, { tty: false }), expected);
    server.close();
  }
});
