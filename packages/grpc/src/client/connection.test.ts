import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { create, toBinary } from '@bufbuild/protobuf';
import { errorCode, errorMessage, isCancelled } from '@podwright/base';
import { EchoResponseSchema, Test } from '../gen/podwright/test/v1/test_pb.js';
import { MAX_MESSAGE_BYTES } from '../limits.ts';
import { withPrefix } from '../message-reader.ts';
import { Connection } from './connection.ts';
import { createServiceClient } from './service-client.ts';

const ANSWER = withPrefix(toBinary(EchoResponseSchema, create(EchoResponseSchema, { text: 'ours' })));
const OK = { 'grpc-status': '0' };

type Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** Starts a server that handles each call's stream with `answer`, and connects a client to it. */
async function served(t: TestContext, answer: Answer) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-grpc-'));
  const path = join(directory, 'cri.sock');
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  let connections = 0;
  server.on('session', (session) => {
    connections++;
    sessions.add(session);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream, headers);
  });
  await once(server.listen(path), 'listening');
  const outcomes: string[] = [];
  const observer = { started: () => (error?: unknown) => void outcomes.push(errorCode(error)) };
  const connection = new Connection({ kind: 'unix', path }, { observer });
  const cut = () => {
    for (const session of sessions) session.destroy();
  };
  t.after(async () => {
    connection.close();
    cut();
    server.close();
    await rm(directory, { recursive: true });
  });
  return {
    ...createServiceClient(Test, connection),
    connection,
    cut,
    path,
    outcomes,
    connections: () => connections,
  };
}

/** Responds with the body in these chunks, followed by the trailers. If `trailers` is omitted, the response has none. */
function reply(stream: ServerHttp2Stream, chunks: Buffer[], trailers?: Record<string, string>): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => (trailers === undefined ? stream.close() : stream.sendTrailers(trailers)));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
}

test('malformed responses fail with an error that describes them', async (t) => {
  const head = (headers: Record<string, string | number>) => (stream: ServerHttp2Stream) =>
    stream.respond(headers, { endStream: true });
  const cases: [Answer, string][] = [
    [(stream) => reply(stream, [ANSWER.subarray(0, 3), ANSWER.subarray(3)], OK), 'ours'],
    [(stream) => reply(stream, [], OK), 'unimplemented: an answer without a message'],
    [(stream) => reply(stream, [ANSWER, ANSWER, ANSWER], OK), 'unimplemented: an answer of several messages, not one'],
    [
      (stream) => reply(stream, [ANSWER], { 'grpc-status': '5', 'grpc-message': 'no%20%C3%BC%' }),
      'not_found: no%20%C3%BC%',
    ],
    [(stream) => reply(stream, [], { 'grpc-status': '5', 'grpc-message': 'no%20%C3%BC' }), 'not_found: no ü'],
    [(stream) => reply(stream, [], { 'grpc-status': '99' }), 'unknown: '],
    [
      (stream) => reply(stream, [Buffer.from([1, 0, 0, 0, 0])], OK),
      'unimplemented: compressed messages are not supported',
    ],
    [(stream) => reply(stream, [withPrefix(Buffer.from([0x0f]))], OK), 'internal: the answer cannot be read'],
    [(stream) => reply(stream, [ANSWER]), 'internal: the call ended without a status'],
    [head({ ':status': 200, 'grpc-status': 14, 'grpc-message': 'closing' }), 'unavailable: closing'],
    [head({ ':status': 404 }), 'unimplemented: HTTP status 404, not gRPC'],
    [
      (stream) => {
        stream.respond({ ':status': 503, 'content-type': 'text/html' });
        stream.write('<html>'); // and never ends
      },
      'unavailable: HTTP status 503, not gRPC',
    ],
    [
      (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'text/html' });
        stream.end('<html>');
      },
      'unknown: an answer of content-type text/html, not gRPC',
    ],
    [head({ ':status': 418 }), 'unknown: HTTP status 418, not gRPC'],
    [(stream) => stream.close(7), 'unavailable: the call was reset, code 7'],
    [(stream) => stream.close(11), 'resource_exhausted: the call was reset, code 11'],
    [(stream) => stream.close(1), 'internal: the call was reset, code 1'],
  ];
  let answer: Answer;
  const { echo, connections } = await served(t, (...call) => answer(...call));
  for (const [given, expected] of cases) {
    answer = given;
    const seen = await echo({}).then(
      ({ text }) => text,
      (error: unknown) => `${errorCode(error)}: ${errorMessage(error)}`,
    );
    assert.ok(seen.startsWith(expected), `${seen}, not ${expected}`);
  }
  assert.equal(connections(), 1);
});

test('a call sends its deadline, and is cancelled at the deadline or when its signal aborts', async (t) => {
  const events: string[] = [];
  const ended = Promise.withResolvers<void>();
  const { echo, wait } = await served(t, (stream, headers) => {
    events.push(String(headers['grpc-timeout']));
    stream.on('close', () => {
      events.push(`reset ${stream.rstCode}`);
      if (events.length === 4) ended.resolve();
    });
  });
  await assert.rejects(echo({}, { timeoutMs: 20 }), { code: 'deadline_exceeded' });
  const controller = new AbortController();
  const call = wait({}, { timeoutMs: Number.POSITIVE_INFINITY, signal: controller.signal });
  setTimeout(() => controller.abort(new Error('no more')), 20);
  await assert.rejects(call, { message: 'no more' });
  await ended.promise;
  assert.deepEqual(events, ['20m', 'reset 8', 'undefined', 'reset 8']);
});

test('calls on a lost connection fail, and the next call reconnects', async (t) => {
  let answers = false;
  const { echo, watch, cut, path, connections } = await served(t, (stream) => {
    if (answers) reply(stream, [ANSWER], OK);
    else setImmediate(cut);
  });
  const lost = { code: 'unavailable', message: `the connection to unix://${path} was lost` };
  await assert.rejects(echo({}), lost);
  await assert.rejects(watch({})[Symbol.asyncIterator]().next(), lost);
  answers = true;
  assert.deepEqual(
    (await Promise.all([echo({}), echo({})])).map(({ text }) => text),
    ['ours', 'ours'],
  );
  assert.equal(connections(), 3);
});

test('running and later calls are cancelled when the client closes', async (t) => {
  const { echo, connection } = await served(t, () => connection.close());
  await assert.rejects(echo({}), isCancelled);
  await assert.rejects(echo({}), isCancelled);
});

test('a request larger than the message limit is not sent', async (t) => {
  const { echo, connections } = await served(t, () => undefined);
  await assert.rejects(echo({ text: 'x'.repeat(MAX_MESSAGE_BYTES) }), { code: 'resource_exhausted' });
  assert.equal(connections(), 0);
});

test('an observer gets a rejected stream’s error, and `cancelled` for a stream abandoned by its reader', async (t) => {
  const ends: Promise<number>[] = [];
  let message = Buffer.from([0x0f]);
  const { watch, outcomes } = await served(t, (stream) => {
    ends.push(once(stream, 'close').then(() => stream.rstCode!));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.write(withPrefix(message));
  });
  await assert.rejects(watch({})[Symbol.asyncIterator]().next(), { code: 'internal' });
  message = Buffer.alloc(0);
  for await (const _event of watch({})) break;
  assert.deepEqual(await Promise.all(ends), [8, 8]);
  assert.deepEqual(outcomes, ['internal', 'cancelled']);
});

test('a call is retried once if the server has not processed it, but not if it may have', {
  timeout: 20_000,
}, async (t) => {
  const answers: Answer[] = [];
  let calls = 0;
  const { echo, connections } = await served(t, (...call) => {
    calls++;
    answers.shift()!(...call);
  });
  const refuse: Answer = (stream) => stream.close(7);
  const answer: Answer = (stream) => reply(stream, [ANSWER], OK);
  const leave: Answer = (stream) => stream.session!.goaway(0, 1);
  answers.push(refuse, answer);
  assert.equal((await echo({})).text, 'ours');
  answers.push(leave, answer);
  assert.equal((await echo({})).text, 'ours');
  assert.deepEqual([calls, connections()], [4, 2]);
  answers.push(refuse, refuse, answer);
  await assert.rejects(echo({}), { code: 'unavailable' });
  answers.splice(0, 1, (stream) => stream.close(2), answer);
  await assert.rejects(echo({}), { code: 'internal' });
  assert.equal(calls, 7);
});

test('an open connection does not keep the process alive', { timeout: 30_000 }, async (t) => {
  const { path } = await served(t, (stream) => reply(stream, [ANSWER], OK));
  const program = `
    import { Connection } from ${JSON.stringify(import.meta.resolve('./connection.ts'))};
    import { createServiceClient } from ${JSON.stringify(import.meta.resolve('./service-client.ts'))};
    import { Test } from ${JSON.stringify(import.meta.resolve('../gen/podwright/test/v1/test_pb.js'))};
    const observer = { started: () => () => undefined };
    const connection = new Connection({ kind: 'unix', path: ${JSON.stringify(path)} }, { observer });
    console.log((await createServiceClient(Test, connection).echo({})).text);`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { timeout: 20_000 });
  assert.equal(stdout, 'ours\n');
});
