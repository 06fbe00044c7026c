import { errorMessage, type Undo } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { KubeletOptions } from '../options.ts';
import type { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { PodSync } from './pod-sync.ts';

type StartSyncInput = { options: KubeletOptions; cri: CriClient; sync: PodSync; runtimeState: RuntimeState };

/** Starts everything that watches the container runtime. Resolves once the pods in the container runtime have been listed. */
export async function startSync({ options, cri, sync, runtimeState }: StartSyncInput, undo: Undo): Promise<void> {
  const { pleg, workers, ephemeral } = sync;
  undo.add('stop asking the runtime for its status', () => runtimeState.stop());
  undo.add('stop listing the pods of the runtime', () => pleg.stop());
  undo.add('stop the pod workers', () => workers.stop());
  await ephemeral.load(options.logger);
  const plegHealth = () => {
    const problem = pleg.problem();
    return problem && `PLEG is not healthy: ${problem}`;
  };
  await Promise.all([
    pleg.start(),
    runtimeState.start({ onRecovery: () => workers.retryAll(), healthChecks: [plegHealth] }),
    sendPodCidr(options, cri),
  ]);
}

/** Passes the pod CIDR (`podCIDR`), if configured, to the container runtime. Runtimes that do not support this are not an error. */
async function sendPodCidr({ podCidr, logger }: KubeletOptions, cri: CriClient): Promise<void> {
  if (podCidr === '') return;
  const runtimeConfig = { networkConfig: { podCidr } };
  await cri.runtime.updateRuntimeConfig({ runtimeConfig }).catch((error: unknown) => {
    logger.error({ podCidr, error: errorMessage(error) }, 'the subnet of pods could not be sent to the runtime');
  });
}
