/** A record in the database is damaged: at the next start, its pod or container is stopped and removed, and all others keep running. */
import assert from 'node:assert/strict';
import { readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Logger, silentLogger } from '@podwright/base';
import { ContainerState, PodSandboxState } from '@podwright/cri';
import { openDatabase } from '@podwright/metadata';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const runtime = new RuntimeUnderTest();
const { place } = runtime;
before(() => runtime.start());
after(async () => assert.deepEqual(await runtime.end(), []));

async function runPod(name: string) {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const config = containerOf(image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** Stops the runtime, runs an SQL statement on its records, and restarts it. Returns the errors it has logged. */
async function restartAfter(sql: string, id: string): Promise<object[]> {
  await runtime.stop();
  const database = openDatabase(join(place.options.root, 'metadata.db'));
  assert.equal(database.prepare(sql).run(id).changes, 1);
  database.close();
  const errors: object[] = [];
  const logger: Logger = { ...silentLogger, error: (fields: object) => errors.push(fields) } as Logger;
  await runtime.start({ logger }, { load: false });
  return errors;
}

test('the pod of a damaged sandbox record is removed at startup, its name is freed, and other pods keep running', async () => {
  const [lost, other] = [await runPod('lost'), await runPod('other')];
  const sql = "UPDATE sandboxes SET record = json_set(record, '$.config.network', 'moon') WHERE id = ?";
  const [error] = (await restartAfter(sql, lost.podSandboxId)) as { table: string; id: string; reason: string }[];
  assert.deepEqual([error?.table, error?.id], ['sandboxes', lost.podSandboxId]);
  assert.match(error!.reason, /^config\.network: /);
  const { cri } = runtime;
  assert.deepEqual(
    (await cri.runtime.listContainers({})).containers.map(({ id, state }) => [id, state]),
    [[other.containerId, ContainerState.CONTAINER_RUNNING]],
  );
  assert.deepEqual(
    (await cri.runtime.listPodSandbox({})).items.map(({ id, state }) => [id, state]),
    [[other.podSandboxId, PodSandboxState.SANDBOX_READY]],
  );
  const again = await runPod('lost');
  for (const { podSandboxId } of [again, other]) await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('the container of a damaged record is removed at startup, and its sandbox keeps running', async () => {
  const { podSandboxId, containerId } = await runPod('half');
  const sql = "UPDATE containers SET record = '{' || record WHERE id = ?";
  const [error] = (await restartAfter(sql, containerId)) as { table: string; id: string; reason: string }[];
  assert.deepEqual([error?.table, error?.id], ['containers', containerId]);
  const { cri, image } = runtime;
  assert.deepEqual((await cri.runtime.listContainers({})).containers, []);
  assert.equal((await cri.runtime.podSandboxStatus({ podSandboxId })).status?.state, PodSandboxState.SANDBOX_READY);
  const config = containerOf(image, 'main', 'exec sleep 1000');
  await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a container that cannot be removed with its damaged sandbox does not fail the start, and is removed by the next one', async () => {
  const [lost, other] = [await runPod('stuck'), await runPod('other')];
  const tasks = join(place.options.state, 'oci');
  const path = join(tasks, 'records', `${lost.containerId}.json`);
  const link = join(tasks, 'bundles', lost.containerId, 'config.json');
  const [record, target] = [readFileSync(path), readlinkSync(link)];
  writeFileSync(path, record.subarray(0, 40));
  rmSync(link); // otherwise the record would be rebuilt
  const sql = "UPDATE sandboxes SET record = '{' || record WHERE id = ?";
  const errors = await restartAfter(sql, lost.podSandboxId);
  assert.ok(
    errors.some((error) => JSON.stringify(error).includes(`${path} is damaged`)),
    JSON.stringify(errors),
  );
  const { cri } = runtime;
  assert.deepEqual(
    (await cri.runtime.listPodSandbox({})).items.map(({ id }) => id),
    [other.podSandboxId],
  );
  await runtime.stop();
  symlinkSync(target, link);
  await runtime.start({}, { load: false });
  assert.deepEqual(
    (await runtime.cri.runtime.listContainers({})).containers.map(({ id }) => id),
    [other.containerId],
  );
  await runtime.cri.runtime.removePodSandbox({ podSandboxId: other.podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});
