import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { PodwrightError } from '@podwright/base';
import type { Dashboard } from '@podwright/dashboard';
import { type ClusterChoice, readChosen, requireKubeconfig } from '../client/cluster-choice.ts';
import { NodeClient } from '../client/node-client.ts';
import { API_HINT } from '../client/object-names.ts';
import { print, printError } from '../output/terminal-text.ts';
import { Interrupted, listenForInterrupts } from '../run/interrupt.ts';
import { addressOf } from '../settings/listen-address.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type DashboardCommandOptions = ClusterChoice & { namespace?: string; listen: string; open?: boolean };

/** `podwright dashboard`: serves the dashboard until interrupted. Pressing Enter prints a new link. Returns the exit code. */
export async function dashboard({ config }: CommandContext, options: DashboardCommandOptions): Promise<number> {
  const listen = addressOf(options.listen);
  requireKubeconfig(options);
  const { namespace } = options;
  const kubeconfig = options.kubeconfig === undefined ? undefined : await readChosen(options);
  if (kubeconfig === undefined) await requireNodeApi(config.apiSocket);
  const { first: stopped } = listenForInterrupts();
  const { openInBrowser, startDashboard } = await import('@podwright/dashboard');
  const from = kubeconfig === undefined ? { socketPath: config.apiSocket } : { kubeconfig };
  const running = await startDashboard({ from, listen, namespace });
  try {
    const link = running.link();
    print(link);
    const { port } = new URL(link);
    printError('the link works once, within five minutes: Enter prints another one, Ctrl-C ends the dashboard');
    if (process.env.SSH_CONNECTION !== undefined)
      printError(`from another machine, forward the port first: ssh -L ${port}:127.0.0.1:${port} HOST`);
    if (!isLoopback(listen.host))
      printError('warning: the connection is not encrypted: others on the network can read it');
    printLinks(running);
    using _opened = options.open ? await openInBrowser(running.link()) : undefined;
    if (!stopped.aborted) await once(stopped, 'abort');
  } finally {
    await running.close();
  }
  return stopped.reason instanceof Interrupted && stopped.reason.exitCode === 1 ? 1 : 0;
}

/** Rejects with `failed_precondition` if this machine's node has no Kubernetes API. */
async function requireNodeApi(socketPath: string): Promise<void> {
  if ((await new NodeClient(socketPath).node()).kubernetesApi) return;
  const message = `dashboard: this node has no Kubernetes API; ${API_HINT}, or use --kubeconfig FILE for a cluster`;
  throw new PodwrightError('failed_precondition', message);
}

const isLoopback = (host: string) => host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Whether this process is in the foreground of its terminal. A background process that reads from the terminal is stopped by SIGTTIN. */
function isInForeground(): boolean {
  const [, , group, , , foregroundGroup] = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
  return group === foregroundGroup;
}

/** Prints a new link each time Enter is pressed. Errors on standard input, such as a closed terminal, are ignored. */
function printLinks(running: Dashboard): void {
  if (process.stdin.isTTY && !isInForeground()) return;
  process.stdin.on('data', () => print(running.link()));
  process.stdin.on('error', () => undefined);
}
