import assert from 'node:assert/strict';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorCode, waitFor } from '@podwright/base';
import { ContainerState } from '@podwright/cri';
import { type EnginePod, startEnginePod, verbsOf } from './containers.fixture.ts';

let pod: EnginePod;
before(async () => {
  pod = await startEnginePod();
});
after(() => pod?.[Symbol.asyncDispose]());

const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED } = ContainerState;
const hasCode = (code: string) => (error: unknown) => errorCode(error) === code;
const bound = () => ({ intervalMs: 20, signal: AbortSignal.timeout(60_000) });
/** Separate PID namespace, so that the container does not exit along with the sandbox. */
const linux = { securityContext: { namespaceOptions: { pid: 1 } } };
const configOf = (name: string) => ({ metadata: { name }, logPath: `${name}.log`, linux });
const stateOf = async (id: string) => (await pod.verbs.status(id)).state;

/** Stops the Engine during the call, then restarts it. */
async function restartDuring(call: () => Promise<unknown>): Promise<void> {
  process.kill(pod.docker.pid(), 'SIGSTOP');
  const failed = assert.rejects(call(), hasCode('unavailable'));
  await Promise.all([failed, pod.docker.restart()]);
}

test('an Engine restart fails the call in progress, and a retry succeeds', async () => {
  const { verbs } = pod;
  await restartDuring(() => verbs.create(configOf('restarted')));
  const id = await verbs.create(configOf('restarted'));
  await restartDuring(() => verbs.start(id));
  await verbs.start(id);
  await restartDuring(() => verbs.update(id, { cpuShares: 200n }));
  await verbs.update(id, { cpuShares: 200n });
  assert.equal(await stateOf(id), CONTAINER_RUNNING);
  await restartDuring(() => verbs.stop(id));
  await verbs.stop(id);
  assert.equal(await stateOf(id), CONTAINER_EXITED);
  await restartDuring(() => verbs.remove(id));
  await verbs.remove(id);
  const found = (await verbs.list()).filter(({ metadata }) => metadata?.name === 'restarted');
  assert.deepEqual(found, []);
});

test('the next dockershim recovers from a kill at any stage', async () => {
  /** Runs a call in a dockershim that stops at the stage: later steps do not run, and its in-memory state is lost. */
  const killedAt = async (stage: string, call: (verbs: EnginePod['verbs']) => Promise<unknown>) => {
    const atStage = (reached: string) => {
      if (reached === stage) throw new Error(`killed at ${stage}`);
    };
    await assert.rejects(call(verbsOf(pod.engine, pod, { failpoint: atStage })), new RegExp(`killed at ${stage}`));
  };
  const link = join(pod.logDirectory, 'killed.log');
  await killedAt('container-create/created', (verbs) => verbs.create(configOf('killed')));
  const id = await pod.verbs.create(configOf('killed'));
  assert.deepEqual(
    (await pod.verbs.list()).filter(({ metadata }) => metadata?.name === 'killed').map((one) => one.id),
    [id],
  );
  await killedAt('container-start/log-linked', (verbs) => verbs.start(id));
  assert.equal(await stateOf(id), CONTAINER_CREATED);
  await killedAt('container-start/started', (verbs) => verbs.start(id));
  await pod.verbs.start(id);
  assert.equal(await stateOf(id), CONTAINER_RUNNING);
  await killedAt('container-stop/stopped', (verbs) => verbs.stop(id));
  await pod.verbs.stop(id);
  assert.ok(lstatSync(link).isSymbolicLink());
  await killedAt('container-remove/log-unlinked', (verbs) => verbs.remove(id));
  await killedAt('container-remove/removed', (verbs) => verbs.remove(id));
  await pod.verbs.remove(id);
  assert.throws(() => lstatSync(link), /ENOENT/);

  const unstarted = await pod.verbs.create(configOf('killed'));
  await killedAt('container-start/log-linked', (verbs) => verbs.start(unstarted));
  await pod.verbs.remove(unstarted);
  assert.throws(() => lstatSync(link), /ENOENT/, 'the link to a log that never existed is removed too');
});

test('a container killed or removed by another client is reported as exited or missing', async () => {
  const { engine, verbs } = pod;
  const id = await verbs.create(configOf('behind'));
  await verbs.start(id);
  await engine.containers.kill(id, 'SIGKILL');
  const ended = await waitFor(async () => {
    const status = await verbs.status(id);
    return status.state === CONTAINER_EXITED ? status : undefined;
  }, bound());
  assert.deepEqual([ended.exitCode, ended.reason], [137, 'Error']);
  await engine.containers.remove(id);
  await Promise.all([verbs.stop(id), verbs.remove(id)]);
  for (const call of [() => verbs.start(id), () => verbs.status(id), () => verbs.update(id, { cpuShares: 2n })])
    await assert.rejects(call(), hasCode('not_found'));
  const both = await verbs.create(configOf('behind'));
  await verbs.start(both);
  await Promise.all([verbs.remove(both), verbs.remove(both), engine.containers.remove(both).catch(() => undefined)]);
  await assert.rejects(verbs.status(both), hasCode('not_found'));
});

test('a canceled call ends at once, and its retry continues the unfinished work', async () => {
  process.kill(pod.docker.pid(), 'SIGSTOP');
  const leave = new AbortController();
  const first = assert.rejects(pod.verbs.create(configOf('hasty'), leave.signal));
  leave.abort();
  await first;
  process.kill(pod.docker.pid(), 'SIGCONT');
  const id = await pod.verbs.create(configOf('hasty'));
  assert.equal(await stateOf(id), CONTAINER_CREATED);
});
