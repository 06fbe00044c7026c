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
 * Removes tasks, mounts, snapshots, networks and sandboxes that have no record, including sandboxes that a killed container runtime had
 * prepared in advance. Called at startup, after sandboxes and containers have been recovered. Each `list` returns only resources with this
 * runtime's paths or names, so that other programs' resources are left alone. Failures are logged and retried at the next start.
 */
export async function removeLeftovers(dependencies: LeftoversDependencies): Promise<void> {
  const { sandboxes, containers, tasks, files, network, controllers, logger } = dependencies;
  const known = (id: string) => sandboxes.get(id) !== undefined || containers.get(id) !== undefined;
  const sweep = async (what: string, ids: string[], remove: (id: string) => Promise<void>) => {
    for (const id of ids) {
      logger.info({ id }, `removing a leftover ${what} without a record`);
      await remove(id).catch((error) =>
        logger.error({ id, error: errorMessage(error) }, `a leftover ${what} could not be removed`),
      );
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

/** Whether the sandbox still holds its network; stopping the sandbox releases it. */
function holdsNetwork(record: SandboxRecord | undefined): boolean {
  return record !== undefined && record.state.phase !== 'stopped' && record.state.phase !== 'removing';
}

async function tearDown(network: Network, sandboxId: string): Promise<void> {
  using signal = withTimeout(undefined, NETWORK_TEAR_DOWN_TIMEOUT_MS, `tear down the network of sandbox ${sandboxId}`);
  await network.tearDown(recordlessRequest(sandboxId), signal);
}
