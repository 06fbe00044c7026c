import { errorMessage, type Logger, withTimeout } from '@podwright/base';
import type { RecordTable } from '@podwright/metadata';
import type { ContainerFiles } from './containers/container-files.ts';
import type { Network } from './network/network.ts';
import type { ContainerRecord } from './records/container-record.ts';
import type { SandboxRecord } from './records/sandbox-record.ts';
import { recordlessRequest } from './sandbox/network-request.ts';
import type { SandboxController } from './sandbox/sandbox-controller.ts';
import type { TaskRuntime } from './tasks/task-runtime.ts';
import { NETWORK_TEAR_DOWN_TIMEOUT_MS } from './time-limits.ts';

export type LeftoversDependencies = {
  sandboxes: RecordTable<SandboxRecord>;
  containers: RecordTable<ContainerRecord>;
  tasks: TaskRuntime;
  files: ContainerFiles;
  network: Network;
  controllers: SandboxController[];
  logger: Logger;
};

/**
 * Removes what is on the host and in no record: tasks, mounts and snapshots of containers, networks, sandboxes, also those that
 * a runtime which was killed had ready for pods to come. For a start, after the records were put in order. Each room lists only
 * what is its own by place or name, so nothing of others is touched. What fails is logged and stays for the next start.
 */
export async function removeLeftovers(dependencies: LeftoversDependencies): Promise<void> {
  const { sandboxes, containers, tasks, files, network, controllers, logger } = dependencies;
  const known = (id: string) => sandboxes.get(id) !== undefined || containers.get(id) !== undefined;
  const sweep = async (what: string, ids: string[], remove: (id: string) => Promise<void>) => {
    for (const id of ids) {
      logger.info({ id }, `removing a ${what} that no record knows`);
      await remove(id).catch((error) => logger.error({ id, error: errorMessage(error) }, `a ${what} stays behind`));
    }
  };
  await sweep(
    'task',
    (await tasks.list()).filter((id) => !known(id)),
    (id) => tasks.delete(id),
  );
  await sweep(
    'container',
    (await files.list()).filter((id) => isId(id) && !known(id)),
    (id) => files.remove(id),
  );
  await sweep(
    'network',
    (await network.list()).filter((id) => !holdsNetwork(sandboxes.get(id))),
    (id) => tearDown(network, id),
  );
  for (const controller of controllers) {
    const ids = (await controller.list()).filter((id) => isId(id) && !known(id));
    await sweep('sandbox', ids, (id) => controller.remove(id));
  }
}

const isId = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** A sandbox that is stopped has given its network back. */
function holdsNetwork(record: SandboxRecord | undefined): boolean {
  return record !== undefined && record.state.phase !== 'stopped' && record.state.phase !== 'removing';
}

async function tearDown(network: Network, sandboxId: string): Promise<void> {
  using signal = withTimeout(undefined, NETWORK_TEAR_DOWN_TIMEOUT_MS, `tear down the network of sandbox ${sandboxId}`);
  await network.tearDown(recordlessRequest(sandboxId), signal);
}
