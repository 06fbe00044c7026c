import { existsSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { PRIVATE_FILE } from '@podwright/base';
import { isSystemdHost, parseProcessStart, readProcessStart, runProgram } from '@podwright/host';
import type { NodeInfo } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { processStart } from '../client/process-start.ts';
import { isNoNode } from '../client/unix-http.ts';
import { environmentOf } from './process-environment.ts';

/** A node's process, as found before an upgrade that may terminate it. */
export type RunningNode = {
  info: NodeInfo;
  /** The start time of the node's process, as returned by `processStart`. */
  start: string | undefined;
  /** The systemd unit whose main process this is, if any. */
  unit: string | undefined;
  command: { file: string; args: string[]; directory: string; environment: NodeJS.ProcessEnv };
};

/** Returns the running node that serves this API socket, or `undefined` if there is none. */
export async function findNode(client: NodeClient): Promise<RunningNode | undefined> {
  const info = await client.node().catch((error: unknown) => {
    if (isNoNode(error)) return undefined;
    throw error;
  });
  if (info === undefined) return undefined;
  const { pid } = info;
  const [, ...args] = parseProcessStart(await readProcessStart(pid, 'cmdline'));
  const file = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '');
  const environment = environmentOf(parseProcessStart(await readProcessStart(pid, 'environ')));
  const command = { file, args, directory: startDirectory(environment.PWD), environment };
  return { info, start: processStart(pid), unit: await unitOf(pid), command };
}

/**
 * Returns the working directory of the shell that started the process, for relative paths in its arguments; the daemon itself has left that
 * directory. Returns `/` if it is unknown or no longer exists.
 */
const startDirectory = (ofShell: string | undefined) => (ofShell !== undefined && existsSync(ofShell) ? ofShell : '/');

/** Returns the systemd unit whose main process this is; `undefined` for a node started by a user in a session. */
async function unitOf(pid: number): Promise<string | undefined> {
  const unit = /\/([^/\n]+\.service)(?:\/|$)/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1];
  if (unit === undefined || !isSystemdHost()) return undefined;
  const { exitCode, stdout } = await runProgram('systemctl', ['show', '--property=MainPID', '--value', unit]);
  return exitCode === 0 && stdout.trim() === String(pid) ? unit : undefined;
}

/** Starts the program in the background, with the earlier node's command line. */
export function startInBackground({ command }: RunningNode, logFile: string): void {
  const { file, args, directory, environment } = command;
  const log = openSync(logFile, 'a', PRIVATE_FILE);
  const { spawn } = process.getBuiltinModule('node:child_process');
  spawn(file, args, { cwd: directory, env: environment, detached: true, stdio: ['ignore', log, log] }).unref();
}
