import assert from 'node:assert/strict';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorCode, silentLogger } from '@podwright/base';
import { CgroupDriver, type CriClient, connectCri } from '@podwright/cri';
import { lookAtEngine, startDockershim } from '@podwright/dockershim';
import { type DockerEngine, startDockerEngine } from './docker-engine.fixture.ts';
import { dockershimOptions, openDockershim } from './dockershim.fixture.ts';

let docker: DockerEngine;
before(async () => {
  docker = await startDockerEngine();
});
after(() => docker.stop());

async function conditions(cri: CriClient): Promise<[string, boolean, string][]> {
  const { status } = await cri.runtime.status({});
  return status!.conditions.map(({ type, status: met, reason }) => [type, met, reason]);
}

const READY = [
  ['RuntimeReady', true, ''],
  ['NetworkReady', true, ''],
];

test('Version and Status describe the dockershim and its Engine', async () => {
  await using dockershim = await openDockershim(docker.socket);
  const { version: engineVersion, cgroupDriver } = await lookAtEngine(docker.socket);
  const { runtimeName, runtimeVersion, runtimeApiVersion } = await dockershim.cri.runtime.version({});
  assert.deepEqual([runtimeName, runtimeApiVersion], ['docker', 'v1']);
  assert.equal(engineVersion, runtimeVersion);
  const { linux } = await dockershim.cri.runtime.runtimeConfig({});
  assert.equal(CgroupDriver[linux!.cgroupDriver].toLowerCase(), cgroupDriver);
  assert.deepEqual(await conditions(dockershim.cri), READY);
  const { info, runtimeHandlers } = await dockershim.cri.runtime.status({ verbose: true });
  const config = JSON.parse(info.config!) as Record<string, unknown>;
  assert.deepEqual([config.logDriver, config.logDriverSupported, config.networkPlugin], ['json-file', true, 'none']);
  assert.ok(runtimeHandlers.some(({ name }) => name === 'runc'));
});

test('an Engine that is unreachable at startup is reported, and used once it responds', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'pwds-'));
  const options = dockershimOptions(scratch, join(scratch, 'docker.sock'));
  const dockershim = await startDockershim(options);
  const connect = (connectTimeoutMs: number) =>
    connectCri({ runtimeEndpoint: dockershim.endpoint, connectTimeoutMs, logger: silentLogger });
  await assert.rejects(connect(300), { code: 'unavailable', message: /the Docker Engine does not answer on .*docker/ });
  symlinkSync(docker.socket, options.dockerSocket);
  const cri = await connect(60_000);
  assert.deepEqual(await conditions(cri), READY);
  assert.deepEqual((await cri.runtime.listPodSandbox({})).items, []);
  cri.close();
  await dockershim.close();
  await rm(scratch, { recursive: true, force: true });
});

test('a stopped Engine is reported at once, and calls succeed after its restart', async () => {
  await using dockershim = await openDockershim(docker.socket);
  const { cri } = dockershim;
  await docker.restart(async () => {
    assert.deepEqual(await conditions(cri), [['RuntimeReady', false, 'DockerDaemonNotReady'], READY[1]]);
    await assert.rejects(cri.runtime.listPodSandbox({}), (error) => errorCode(error) === 'unavailable');
  });
  assert.deepEqual(await conditions(cri), READY);
  assert.deepEqual((await cri.runtime.listPodSandbox({})).items, []);
});

test('an Engine that accepts calls but does not respond is reported after a timeout, or when the caller cancels', async () => {
  process.kill(docker.pid(), 'SIGSTOP');
  try {
    await assert.rejects(lookAtEngine(docker.socket, { timeoutMs: 100 }), {
      code: 'deadline_exceeded',
      message: /^the Docker Engine on .*docker\.sock accepts calls and does not answer: .*no answer within 100 ms/,
    });
    const left = lookAtEngine(docker.socket, { signal: AbortSignal.timeout(50) });
    await assert.rejects(left, { code: 'deadline_exceeded', message: /version: The operation was aborted/ });
  } finally {
    process.kill(docker.pid(), 'SIGCONT');
  }
});

test('a start that cannot succeed fails with advice', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'pwds-'));
  const options = dockershimOptions(scratch, docker.socket);
  const { cgroupDriver } = await lookAtEngine(docker.socket);
  const other = cgroupDriver === 'cgroupfs' ? 'systemd' : 'cgroupfs';
  await assert.rejects(startDockershim({ ...options, cgroupDriver: other }), {
    code: 'failed_precondition',
    message: new RegExp(`use cgroup driver "${other}": the Docker Engine's is "${cgroupDriver}"; leave`),
  });
  await using old = await serveVersion(join(scratch, 'old.sock'), { Version: '19.03.1', ApiVersion: '1.40' });
  await assert.rejects(startDockershim({ ...options, dockerSocket: old.socket }), {
    code: 'failed_precondition',
    message: /Docker Engine 19\.03\.1 speaks API 1\.40; 1\.41 is needed: install Docker Engine 20\.10 or later/,
  });
  await rm(scratch, { recursive: true, force: true });
});

test('a second dockershim on the same root directory is refused', async () => {
  await using first = await openDockershim(docker.socket);
  const second = startDockershim({ ...first.options, socket: join(first.scratch, 'second.sock') });
  await assert.rejects(second, { code: 'already_exists', message: /another one uses this root directory/ });
});

/** Starts a server that only responds to `GET /version`. */
async function serveVersion(socket: string, version: object): Promise<AsyncDisposable & { socket: string }> {
  const server = createServer((_, response) => response.end(JSON.stringify(version)));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    socket,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
