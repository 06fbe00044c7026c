import { PodwrightError, withTimeout } from '@podwright/base';
import {
  type ApiPort,
  currentStatus,
  followRollout,
  historyText,
  pauseRollout,
  readRevisions,
  restartRollout,
  type Target,
  targetName,
  undoRollout,
} from '@podwright/kube-verbs';
import { apiTargets, requireApi, type TargetOptions } from '../client/api-targets.ts';
import { LONGEST_WAIT_MS } from '../limits.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type RolloutVerb = 'status' | 'history' | 'undo' | 'restart' | 'pause' | 'resume';

export type RolloutOptions = TargetOptions & {
  revision?: number;
  toRevision?: number;
  timeout?: number;
  watch?: boolean;
};

/** `podwright rollout VERB TYPE/NAME…`: acts on each object in turn, and rejects on the first failure. */
export async function rollout(
  { config }: CommandContext,
  { verb, words }: { verb: RolloutVerb; words: string[] },
  options: RolloutOptions,
): Promise<void> {
  const api = await requireApi(config.apiSocket, 'rollout');
  const { namespace, selector } = options;
  const targets = await apiTargets(api, words, { namespace, selector, verb: 'rollout', wholeKinds: true });
  for (const target of targets) await VERBS[verb](api, target, options);
}

type Verb = (api: ApiPort, target: Target, options: RolloutOptions) => Promise<void>;

const printDone = (target: Target, done: string) => print(`${targetName(target)} ${done}`);

const VERBS: Record<RolloutVerb, Verb> = {
  status,
  history: async (api, target, { revision }) => print(historyText(target, await readRevisions(api, target), revision)),
  undo: async (api, target, { toRevision }) => printDone(target, await undoRollout(api, target, toRevision)),
  restart: async (api, target) => {
    await restartRollout(api, target, Date.now());
    printDone(target, 'restarted');
  },
  pause: async (api, target) => {
    await pauseRollout(api, target, true);
    printDone(target, 'paused');
  },
  resume: async (api, target) => {
    await pauseRollout(api, target, false);
    printDone(target, 'resumed');
  },
};

async function status(api: ApiPort, target: Target, { timeout, watch }: RolloutOptions): Promise<void> {
  if (watch === false) return print(currentStatus(target).text);
  using signal = withTimeout(undefined, timeout || LONGEST_WAIT_MS, 'wait for the rollout');
  await followRollout(api, target, { onStatus: ({ text }) => print(text), signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new PodwrightError('deadline_exceeded', 'timed out waiting for the condition');
  });
}
