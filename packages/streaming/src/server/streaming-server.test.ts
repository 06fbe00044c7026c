import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { WebSocket } from 'ws';
import { runRemoteCommand } from '../client/remote-command.ts';
import { connectSpdy } from '../client/upgrade.ts';
import type { RemoteProcess, StreamChoice } from '../remote-process.ts';
import { SPDY_PORT_FORWARD } from './protocols.ts';
import { StreamingServer } from './streaming-server.ts';

const server = new StreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
const sizes: string[] = [];
let live = 0;

before(() => server.listen());
after(() => server.close());

/** A real process of the host behind a streaming URL. */
function shell(script: string, choice: Partial<StreamChoice> = {}): string {
  const wanted = { stdin: false, stdout: true, stderr: true, tty: false, ...choice };
  const start = async (): Promise<RemoteProcess> => {
    const child = spawn('sh', ['-c', script]);
    live++;
    return {
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      resize: (columns, rows) => sizes.push(`${columns}x${rows}`),
      exit: new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 137))),
      close: () => {
        child.kill('SIGKILL');
        live--;
      },
    };
  };
  return server.url({ kind: 'exec', choice: wanted, start });
}

async function collect(script: string, input?: Buffer) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const url = shell(script, { stdin: input !== undefined });
  const stdin = input && Readable.from([input]);
  const outputs = Promise.all([buffer(stdout), text(stderr)]);
  const exitCode = await runRemoteCommand({ url }, { stdin, stdout, stderr, tty: false });
  stdout.end();
  stderr.end();
  const [out, err] = await outputs;
  return { exitCode, out, err };
}

test('a command gives its output, its errors and its exit code', async () => {
  const { exitCode, out, err } = await collect('echo out; echo err >&2; exit 3');
  assert.deepEqual([exitCode, out.toString(), err], [3, 'out\n', 'err\n']);
});

test('the end of standard input reaches the command, and binary data passes both ways whole', async () => {
  const sent = Buffer.alloc(5 << 20, Buffer.from([0, 255, 10, 13, 128]));
  const { exitCode, out } = await collect('cat', sent);
  assert.equal(exitCode, 0);
  assert.ok(out.equals(sent));
});

test('a URL can be used once', async () => {
  const url = shell('true', { stderr: false });
  await runRemoteCommand({ url }, { stdout: new PassThrough().resume(), tty: false });
  await assert.rejects(runRemoteCommand({ url }, { tty: false }), { code: 'not_found' });
});

test('sizes of the terminal reach the process', async () => {
  sizes.length = 0;
  const url = shell('exec sleep 0.2', { tty: true, stderr: false });
  const resize = (listener: (size: { Width: number; Height: number }) => void) => {
    listener({ Width: 80, Height: 24 });
    return { [Symbol.dispose]: () => undefined };
  };
  await runRemoteCommand({ url }, { stdout: new PassThrough().resume(), tty: true, resize });
  assert.deepEqual(sizes, ['80x24']);
});

test('a command that cannot be started tells why', async () => {
  const start = async () => {
    throw new Error('no such container');
  };
  const url = server.url({ kind: 'exec', choice: { stdin: false, stdout: true, stderr: false, tty: false }, start });
  await assert.rejects(runRemoteCommand({ url }, { stdout: new PassThrough(), tty: false }), /no such container/);
});

test('sessions cut in any order leave no process', async () => {
  for (let round = 0; round < 20; round++) {
    const cut = new AbortController();
    const running = runRemoteCommand(
      { url: shell('exec sleep 60', { stdin: round % 2 === 0 }) },
      {
        stdin: round % 2 === 0 ? new PassThrough() : undefined,
        stdout: new PassThrough(),
        stderr: new PassThrough(),
        tty: false,
      },
      cut.signal,
    );
    setTimeout(() => cut.abort(new Error('cut')), round % 5);
    await assert.rejects(running);
  }
  const deadline = Date.now() + 5000;
  while (live > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(live, 0);
});

test('over WebSocket v5 standard input can be closed alone, and the status is told', async () => {
  const socket = new WebSocket(shell('cat; exit 4', { stdin: true }).replace('http:', 'ws:'), ['v5.channel.k8s.io']);
  const received: Record<number, string> = {};
  socket.on('message', (data: Buffer) => {
    received[data[0]!] = (received[data[0]!] ?? '') + data.subarray(1).toString();
  });
  await new Promise((resolve) => socket.on('open', resolve));
  socket.send(Buffer.from('\0hello'));
  socket.send(Buffer.from([255, 0]));
  await new Promise((resolve) => socket.on('close', resolve));
  assert.equal(received[1], 'hello');
  assert.match(received[3]!, /"ExitCode","message":"4"/);
});

test('port-forward carries several connections and tells of those that fail', async () => {
  const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  const { connect } = await import('node:net');
  const port = (echo.address() as { port: number }).port;
  const dial = async (wanted: number) => {
    if (wanted !== port) throw new Error('connection refused');
    return connect(port, '127.0.0.1');
  };
  const { connection } = await connectSpdy(
    { url: server.url({ kind: 'portforward', dial }) },
    { protocols: [SPDY_PORT_FORWARD] },
  );
  const open = async (requestId: number, wanted: number) => {
    const headers = { port: String(wanted), requestid: String(requestId) };
    const error = await connection.open({ ...headers, streamtype: 'error' });
    error.end();
    return { error, data: await connection.open({ ...headers, streamtype: 'data' }) };
  };
  const good = await open(0, port);
  const bad = await open(1, 1);
  bad.data.on('error', () => undefined);
  good.data.end('ping');
  assert.equal(await text(good.data), 'ping');
  assert.match(await text(bad.error), /connection refused/);
  connection.close();
  echo.close();
});

test('a request that is no upgrade, or of an unknown token, is answered in words', async () => {
  const base = shell('true').split('/').slice(0, 3).join('/');
  assert.equal((await fetch(`${base}/exec/x`)).status, 404);
  await assert.rejects(
    connectSpdy({ url: `${base}/exec/unknown` }, { protocols: ['v4.channel.k8s.io'] }),
    /unknown, used up or expired/,
  );
});
