import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { KubeletOptions } from '@podwright/kubelet';

const PROGRAM = new URL('./kubelet-child.ts', import.meta.url).pathname;

/**
 * A kubelet in a process of its own, which can be killed; with a kubeconfig, of a cluster; with `preload` a module that is loaded
 * into it before all else. It runs when this resolves.
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
  await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return child;
}

/** As by `kill -9`. */
export async function killKubelet(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}
