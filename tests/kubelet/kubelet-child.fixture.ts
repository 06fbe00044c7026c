import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { raceAbort, withTimeout } from '@podwright/base';
import type { KubeletOptions } from '@podwright/kubelet';

/** On a busy host. */
const START_PATIENCE_MS = 60_000;
const PROGRAM = new URL('./kubelet-child.ts', import.meta.url).pathname;

/**
 * A kubelet in a process of its own, which can be killed; with a kubeconfig, of a cluster; with `preload` a module that is loaded
 * into it before all else. It runs when this resolves; one that does not come up in time is ended.
 */
export async function startKubeletChild(
  options: KubeletOptions,
  kubeconfig?: string,
  preload?: URL,
): Promise<ChildProcess> {
  // what JSON has no words for is as by default
  const { logger: _, metrics: __, cluster: ___, ...others } = options;
  const text = JSON.stringify(others, (____, value) => (typeof value === 'bigint' ? `${value}n` : value));
  const before = preload === undefined ? [] : ['--import', preload.href];
  const child = spawn(process.execPath, [...before, PROGRAM, text, ...(kubeconfig === undefined ? [] : [kubeconfig])], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the kubelet has ended');
  });
  ended.catch(() => undefined);
  using patience = withTimeout(undefined, START_PATIENCE_MS, 'start a kubelet in a process of its own');
  try {
    await raceAbort(Promise.race([once(child, 'message'), ended]), patience);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return child;
}

/** As by `kill -9`. */
export async function killKubelet(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}
