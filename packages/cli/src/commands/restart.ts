import { errorMessage, PodwrightError, withTimeout } from '@podwright/base';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import { NodeClient } from '../client/node-client.ts';
import { print } from '../output/terminal-text.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { findPod } from './pod-arguments.ts';

export type RestartOptions = { namespace: string; container?: string; wait: boolean };

/** `podwright restart POD`: stops containers, observing their grace period, and waits until they are running again. */
export async function restart({ config }: CommandContext, argument: string, options: RestartOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const before = await findPod(client, argument, options.namespace);
  const { containers } = await client.restart(before.metadata, options.container);
  const { name } = before.metadata;
  if (!options.wait) return print(`pod ${name}: restarting ${containers.join(', ')}`);
  const waiting = new Set(containers);
  using signal = withTimeout(undefined, removalTimeoutMs([before], { gracePeriodSeconds: undefined }), 'restart');
  for await (const change of client.watchPods(signal)) {
    if (change.type === 'listed' || change.object.metadata.uid !== before.metadata.uid) continue;
    const { type, object } = change;
    if (type === 'DELETED') throw new PodwrightError('aborted', `restart pod ${name}: it was deleted meanwhile`);
    for (const container of waiting) {
      if (!hasRestarted(before, object, container)) continue;
      waiting.delete(container);
      reportState(name, statusOf(object, container)!);
    }
    if (waiting.size === 0) return;
  }
  const message = `restart pod ${name}: ${[...waiting].join(', ')} not running again: ${errorMessage(signal.reason)}`;
  throw new PodwrightError('deadline_exceeded', `${message}; 'podwright describe ${name}' shows more`);
}

function hasRestarted(before: Pod, now: Pod, container: string): boolean {
  const status = statusOf(now, container);
  const { waiting } = status?.state ?? {};
  if (status === undefined || (waiting !== undefined && waiting.reason !== 'CrashLoopBackOff')) return false;
  return status.restartCount > (statusOf(before, container)?.restartCount ?? 0);
}

function statusOf({ status }: Pod, container: string): ContainerStatus | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.find(({ name }) => name === container);
}

/** Prints that the container is running again. Throws `aborted` if it has already exited. */
function reportState(pod: string, { name, state, lastState, restartCount }: ContainerStatus): void {
  if (state.running !== undefined)
    return print(
      `container ${name} of pod ${pod} runs again, restarted ${restartCount === 1 ? 'once' : `${restartCount} times`} in all`,
    );
  const { exitCode } = state.terminated ?? lastState.terminated ?? {};
  const message = `restart pod ${pod}: container ${name} has exited again with exit code ${exitCode}`;
  throw new PodwrightError('aborted', `${message}; 'podwright logs ${pod} ${name}' may show why`);
}
