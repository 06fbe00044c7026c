import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRIVATE_FILE, sleep, withTimeout } from '@podwright/base';
import { namesInSync } from '@podwright/host';
import { NODE_START_TIMEOUT_MS } from '../limits.ts';
import { processStart } from './process-start.ts';

/**
 * Marker file in the state directory of a node that is starting: `starting-PID-STARTTIME`. It is removed once the API is being served or
 * the start has failed. Files of processes that have exited are ignored.
 */
const FILE = /^starting-(\d+)-(\d+)$/;

/** Marks this process as a starting node until the returned marker is disposed. */
export function markStarting(stateDirectory: string): Disposable {
  const path = join(stateDirectory, `starting-${process.pid}-${processStart(process.pid)}`);
  for (const name of namesInSync(stateDirectory))
    if (FILE.test(name) && !isOfProcess(name)) rmSync(join(stateDirectory, name), { force: true });
  writeFileSync(path, '', { mode: PRIVATE_FILE });
  let isMarked = true; // remove the file only once: this process may be marked again before a restart
  const remove = () => {
    if (isMarked) rmSync(path, { force: true });
    isMarked = false;
  };
  return { [Symbol.dispose]: remove };
}

/**
 * If a node is starting on this API socket, waits until it has started or failed. Returns whether it has started, even if it finished just
 * before the call.
 */
export async function hasStarted(socketPath: string, parent?: AbortSignal): Promise<boolean> {
  const starting = () => namesInSync(dirname(socketPath)).filter((name) => FILE.test(name));
  const [first] = starting().filter(isOfProcess);
  if (first === undefined) return existsSync(socketPath);
  using signal = withTimeout(
    parent,
    NODE_START_TIMEOUT_MS,
    `wait for the node that starts (process ${first.split('-')[1]})`,
  );
  while (isOfProcess(first)) {
    if (!starting().includes(first)) return existsSync(socketPath);
    await sleep(10, signal);
  }
  return false;
}

function isOfProcess(name: string): boolean {
  const [, pid, start] = FILE.exec(name)!;
  return processStart(Number(pid)) === start;
}
