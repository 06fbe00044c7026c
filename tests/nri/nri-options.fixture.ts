import { join } from 'node:path';
import type { RuntimeOptions } from '@podwright/runtime';
import type { TestPlace } from '../fixtures/runtime-under-test.ts';

/** Returns NRI options that use the place's state directory, without installed plugins. */
export const nriOptions = ({ options: { state } }: TestPlace): NonNullable<RuntimeOptions['nri']> => ({
  socketPath: join(state, 'nri', 'nri.sock'),
  pluginPath: '',
  pluginConfigPath: '',
  registrationTimeoutMs: 5000,
  requestTimeoutMs: 2000,
});

/** Events in the life of a pod with a container. */
export const EVENT_NAMES_OF_PODS = [
  ...(['runPodSandbox', 'updatePodSandbox', 'postUpdatePodSandbox', 'stopPodSandbox', 'removePodSandbox'] as const),
  ...(['createContainer', 'postCreateContainer', 'startContainer', 'postStartContainer'] as const),
  ...(['updateContainer', 'postUpdateContainer', 'stopContainer', 'removeContainer'] as const),
];
