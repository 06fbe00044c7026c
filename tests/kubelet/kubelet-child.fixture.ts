import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { raceAbort, withTimeout } from '@podwright/base';
import type { KubeletOptions } from '@podwright/kubelet';

/** Generous timeout, to allow for a busy host. */
const START_PATIENCE_MS = 60_000;
const PROGRAM = new URL('./kubelet-child.ts', import.meta.url).pathname;

/**
 * Starts a kubelet in a separate process that can be killed. With a kubeconfig, it joins a cluster. `preload` is a module to load first.
 * Resolves once the kubelet is running; kills it if it is not ready in time.
 */
export async function startKubeletChild(
  options: KubeletOptions,
  kubeconfig?: string,
  preload?: URL,
): Promise<ChildProcess> {
  // leave options that JSON cannot represent at their defaults
  const { logger: _, metrics: __, cluster: ___, ...others } = options;
  const text = JSON.stringify(others, (____, value) => (typeof value === 'bigint' ? `${value}n` : value));
  const before = preload === undefined ? [] : ['--import', preload.href];
  const child = spawn(process.execPath, [...before, PROGRAM, text, ...(kubeconfig === undefined ? [] : [kubeconfig])], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the kubelet has exited');
  });
  ended.catch(() => undefined);
  using patience = withTimeout(undefined, START_PATIENCE_MS, 'start a kubelet in its own process');
  try {
    await raceAbort(Promise.race([once(child, 'message'), ended]), patience);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return child;
}

export async function killKubelet(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}
