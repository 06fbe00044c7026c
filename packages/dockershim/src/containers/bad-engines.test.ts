import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test } from 'node:test';
import { errorCode, errorMessage, noFailpoint, silentLogger } from '@podwright/base';
import {
  ContainerStatusRequestSchema,
  create,
  ListContainersRequestSchema,
  RemoveContainerRequestSchema,
  StopContainerRequestSchema,
} from '@podwright/cri';
import type { CallContext } from '@podwright/grpc';
import { Engine } from '../engine/engine.ts';
import { EngineHttp } from '../engine/engine-http.ts';
import { startFakeEngine } from '../engine/fake-engine.fixture.ts';
import { containerHandlers } from './container-handlers.ts';

const contextOf = (signal = AbortSignal.timeout(60_000)): CallContext => ({ signal, service: '', method: '' });

/** Asserts the errors of the calls that read, stop or remove containers, against a fake Engine that always sends this response. */
async function check(answer: RequestListener, code: string, words: RegExp): Promise<void> {
  await using fake = await startFakeEngine(answer);
  const engine = new Engine(new EngineHttp(fake.socket, '1.41'));
  const verbs = containerHandlers(
    { engine, logger: silentLogger, failpoint: noFailpoint },
    { facts: engine, filesOf: String },
  );
  const about = { containerId: 'abc' };
  for (const call of [
    () => verbs.containerStatus(create(ContainerStatusRequestSchema, about), contextOf()),
    () => verbs.listContainers(create(ListContainersRequestSchema), contextOf()),
    () => verbs.stopContainer(create(StopContainerRequestSchema, about), contextOf()),
    () => verbs.removeContainer(create(RemoveContainerRequestSchema, about), contextOf()),
  ])
    await assert.rejects(call(), (error) => {
      assert.match(errorMessage(error), words);
      assert.equal(errorCode(error), code);
      return true;
    });
  engine.close();
}

const answering =
  (status: number, body: string): RequestListener =>
  (_request, response) =>
    response.writeHead(status).end(body);

test('errors from the Engine keep their message and class', async () => {
  await check(answering(500, '{"message":"disk full"}'), 'internal', /disk full/);
  await check(answering(503, 'no daemon'), 'unavailable', /no daemon/);
  await check(answering(500, ''), 'internal', /the Docker Engine answered 500/);
});

test('a redirect is an error', async () => {
  await using fake = await startFakeEngine(answering(301, ''));
  const engine = new Engine(new EngineHttp(fake.socket, '1.41'));
  await assert.rejects(engine.containers.stop('abc', 0), /the Docker Engine answered 301/);
  engine.close();
  await check(answering(301, ''), 'internal', /the Docker Engine answered 301/);
});

test('an ID that would change a request’s path is not found, without a request to the Engine', async () => {
  let asked = 0;
  await using fake = await startFakeEngine((_request, response) => {
    asked++;
    response.writeHead(301).end();
  });
  const engine = new Engine(new EngineHttp(fake.socket, '1.41'));
  const verbs = containerHandlers(
    { engine, logger: silentLogger, failpoint: noFailpoint },
    { facts: engine, filesOf: String },
  );
  for (const containerId of ['.', '..', '../json', 'a/b', 'a b', '%2e']) {
    const status = verbs.containerStatus(create(ContainerStatusRequestSchema, { containerId }), contextOf());
    await assert.rejects(status, (error) => errorCode(error) === 'not_found');
    assert.deepEqual(
      await verbs.removeContainer(create(RemoveContainerRequestSchema, { containerId }), contextOf()),
      {},
    );
  }
  assert.equal(asked, 0);
  engine.close();
});

test('a malformed, truncated or missing answer is an error', async () => {
  await check(answering(200, '<html>'), 'internal', /answer is not as expected/);
  await check(answering(200, '{"Id":7}'), 'internal', /answer is not as expected/);
  await check((_request, response) => response.socket!.destroy(), 'unavailable', /does not answer/);
  const cut: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('[', () => response.socket!.destroy());
  };
  await check(cut, 'unavailable', /read the answer/);
});

test('an unresponsive Engine does not hold up a client that cancels its call', async () => {
  await using fake = await startFakeEngine(() => undefined);
  const engine = new Engine(new EngineHttp(fake.socket, '1.41'));
  const verbs = containerHandlers(
    { engine, logger: silentLogger, failpoint: noFailpoint },
    { facts: engine, filesOf: String },
  );
  const leave = new AbortController();
  const call = verbs.listContainers(create(ListContainersRequestSchema), contextOf(leave.signal));
  leave.abort(new Error('left'));
  await assert.rejects(call, /left/);
  engine.close();
});
