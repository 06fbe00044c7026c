import { withTimeout } from '@podwright/base';
import { scaleTarget, targetName, waitForScale } from '@podwright/kube-verbs';
import { apiTargets, requireApi, type TargetOptions } from '../client/api-targets.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type ScaleOptions = TargetOptions & {
  replicas: number;
  currentReplicas?: number;
  resourceVersion?: string;
  timeout?: number;
};

/** `podwright scale --replicas=N TYPE/NAME…`; with `--timeout`, waits until the objects have that many replicas. */
export async function scale({ config }: CommandContext, words: string[], options: ScaleOptions): Promise<void> {
  const { replicas, currentReplicas: current, resourceVersion, timeout, ...selection } = options;
  const api = await requireApi(config.apiSocket, 'scale');
  for (const target of await apiTargets(api, words, { ...selection, verb: 'scale' })) {
    await scaleTarget(api, target, { replicas, current, resourceVersion });
    if (timeout !== undefined && timeout > 0) {
      using signal = withTimeout(undefined, timeout, `wait for ${replicas} replicas of ${targetName(target)}`);
      await waitForScale(api, target, { replicas, signal });
    }
    print(`${targetName(target)} scaled`);
  }
}
