import { openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makePrivateDirectory, PodwrightError, PRIVATE_FILE, raceAbort, waitFor, withTimeout } from '@podwright/base';
import type { StopOptions } from '@podwright/node-api';
import { NodeClient } from '../client/node-client.ts';
import { processStart } from '../client/process-start.ts';
import { isNoNode } from '../client/unix-http.ts';
import { NODE_START_TIMEOUT_MS, NODE_STOP_TIMEOUT_MS } from '../limits.ts';
import type { CommandContext } from '../settings/node-config.ts';
import type { NodePaths } from '../settings/node-paths.ts';
import { DAEMON_FLAGS, PROCESS_FLAGS } from './daemon-flags.ts';
import { takeLeftBehind } from './left-behind.ts';

/** The node's API, and whether this call started the node. */
export type EnsuredNode = { client: NodeClient; started: boolean; logFile: string };

/** Returns the node of this configuration without checking that it runs. */
export function presumedNode(config: NodePaths): EnsuredNode {
  return { client: new NodeClient(config.apiSocket), started: false, logFile: join(config.root, 'node.log') };
}

/**
 * Starts the daemon of this configuration if none answers. An interrupt before the daemon starts cancels the call; after that, the daemon
 * finishes its start, so that it can be stopped cleanly. `last` kills it at once. After a timeout the daemon continues to start, since
 * hosts can be slow, unless there was an interrupt.
 */
export async function ensureNode(
  { config, settings, configArgs }: CommandContext,
  interrupts?: { first: AbortSignal; last: AbortSignal },
): Promise<EnsuredNode> {
  const node = presumedNode(config);
  const { client, logFile } = node;
  if (await answers(client)) return node;
  if (process.getuid?.() !== 0) {
    throw new PodwrightError(
      'permission_denied',
      'start a node: this needs root (namespaces, mounts, cgroups, networks); call podwright with sudo',
    );
  }
  // report a missing Engine now: the daemon would wait for it, but the user should not
  const whole = await settings();
  if (whole.container_runtime === 'docker')
    await (await import('./docker-runtime.ts')).requireEngine(whole, interrupts?.first);
  interrupts?.first.throwIfAborted();
  makePrivateDirectory(config.root);
  const logOffset = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const log = openSync(logFile, 'a', PRIVATE_FILE);
  // The daemon starts in this directory, to resolve relative paths of the configuration, and then leaves it.
  const { spawn } = process.getBuiltinModule('node:child_process'); // loaded late: most commands find a running node
  const daemon = spawn(process.execPath, [...programArguments(), ...configArgs, 'node'], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...ownCompiledCode() },
  });
  daemon.unref();
  let ended: string | undefined;
  daemon.once('exit', (code, signal) => {
    ended = signal === null ? `exit code ${code}` : `killed by ${signal}`;
  });
  using deadline = withTimeout(
    interrupts?.last,
    NODE_START_TIMEOUT_MS,
    `start the node (it continues to start; its log is ${logFile})`,
  );
  const giveUp = () => interrupts?.first.aborted && daemon.kill(); // after an interrupt no one would stop it
  deadline.addEventListener('abort', giveUp, { once: true });
  const isUp = async () => {
    if (ended !== undefined) throw startFailure(ended, { logFile, logOffset });
    return (await answers(client, deadline)) ? true : undefined;
  };
  await raceAbort(waitFor(isUp, { intervalMs: 10, signal: deadline }), deadline);
  return { client, started: true, logFile };
}

/** The arguments before a daemon's own: flags and the script. A single executable has no script, and passes the flags to itself. */
function programArguments(): string[] {
  if (process.getBuiltinModule('node:sea').isSea()) return [];
  return [...new Set([...process.execArgv, ...PROCESS_FLAGS, ...DAEMON_FLAGS]), process.argv[1]!];
}

async function answers(client: NodeClient, signal?: AbortSignal): Promise<boolean> {
  try {
    await client.node(signal);
    return true;
  } catch (error) {
    if (isNoNode(error)) return false;
    throw error;
  }
}

/** Makes the error for a daemon that exited, from its last logged error if there is one. */
function startFailure(ended: string, log: { logFile: string; logOffset: number }): PodwrightError {
  const lines = readFileSync(log.logFile).subarray(log.logOffset).toString('utf8').trim().split('\n');
  const last = lines.findLast((line) => line.startsWith('podwright: '))?.slice('podwright: '.length) ?? lines.at(-1);
  return new PodwrightError(
    'unavailable',
    `start the node (${ended}): ${last || 'no error was logged'}; its log is ${log.logFile}`,
  );
}

/**
 * Stops the node and waits until its process has exited. `spareMs` is additional time for its pods to end. Rejects with
 * `failed_precondition` if the node could not remove everything from the host.
 */
export async function stopNode(client: NodeClient, options: StopOptions, spareMs = 0): Promise<void> {
  using deadline = withTimeout(undefined, NODE_STOP_TIMEOUT_MS + spareMs, 'stop the node');
  const { pid, stateDir } = await client.node(deadline);
  const start = processStart(pid);
  await raceAbort(client.stop(options), deadline);
  // an exited process may still have its PID: the init process of some hosts takes a second to reap it
  const hasExited = () => start === undefined || processStart(pid) !== start || undefined;
  await waitFor(hasExited, { intervalMs: 10, signal: deadline });
  const leftBehind = stateDir === undefined ? undefined : takeLeftBehind(stateDir);
  if (leftBehind !== undefined)
    throw new PodwrightError(
      'failed_precondition',
      `stop the node: it has stopped, but not removed everything: ${leftBehind}`,
    );
}

/** Makes the daemon use this command's compile cache. Other daemons start without the cache, but a user waits for this one. */
function ownCompiledCode(): { NODE_COMPILE_CACHE?: string } {
  const { getCompileCacheDir } = process.getBuiltinModule('node:module');
  const directory = getCompileCacheDir(); // the subdirectory of this Node.js in the cache
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
