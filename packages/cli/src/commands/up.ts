import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PodwrightError, waitFor, withTimeout } from '@podwright/base';
import { removeTree } from '@podwright/host';
import { isConditionTrue } from '@podwright/kube-api';
import { freeRanges } from '@podwright/proxy';
import type { NodeClient } from '../client/node-client.ts';
import { ensureNode, presumedNode, stopNode } from '../daemon/ensure-node.ts';
import { NODE_READY_TIMEOUT_MS } from '../limits.ts';
import { print, printError } from '../output/terminal-text.ts';
import { Interrupted, type Interrupts, listenForInterrupts } from '../run/interrupt.ts';
import { apiServerPaths } from '../settings/api-server-paths.ts';
import { commandContext } from '../settings/command-context.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { SERVICE_CLAIMS } from '../settings/service-claims.ts';

export type UpOptions = { ephemeral?: boolean };

/** Loopback address for the API; port 0 selects a free port. */
const ANY_PORT = '127.0.0.1:0';

/**
 * `podwright up`: starts a node with a Kubernetes API in the background, unless it is already running, and waits until it is ready. With
 * `--ephemeral`, starts a separate node with its own directories, network and cgroup, which are removed when the command is interrupted.
 */
export async function up(context: CommandContext, { ephemeral }: UpOptions): Promise<number> {
  const interrupts = listenForInterrupts();
  try {
    if (ephemeral) return await runEphemeral(context, interrupts);
    await bringUp(context, interrupts);
    const { configArgs, config } = context;
    const program = ['podwright', ...configArgs].join(' ');
    print(`'${program} get all -A' lists what runs, '${program} stop' stops the node`);
    const { kubeconfig } = apiServerPaths(config);
    // the kubeconfig is missing if the node was already running and serves its API only on its socket
    if (existsSync(kubeconfig)) print(`for kubectl: export KUBECONFIG=${kubeconfig}`);
    return 0;
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    throw error;
  }
}

/** Starts the node unless it is running, and waits until it is ready. Returns its client. */
async function bringUp(context: CommandContext, interrupts: Interrupts): Promise<NodeClient> {
  const { api } = await context.settings();
  const listening = api.listen === undefined ? ['--api-listen', ANY_PORT] : [];
  const started = { ...context, configArgs: [...context.configArgs, ...listening] };
  const { client } = await ensureNode(started, { interrupts, needsApi: true });
  using signal = withTimeout(interrupts.first, NODE_READY_TIMEOUT_MS, 'wait until the node is ready');
  const { kubernetesApi, name } = await client.node(signal);
  if (!kubernetesApi)
    throw new PodwrightError(
      'failed_precondition',
      "up: the running node has no Kubernetes API; stop it with 'podwright stop', then start it again with 'podwright up'",
    );
  await waitFor(() => isReady(client), { intervalMs: 20, signal });
  printError(`the node ${name} is ready`);
  return client;
}

type ReadNode = { status?: { conditions?: { type: string; status: string }[] } };

async function isReady(client: NodeClient): Promise<true | undefined> {
  const nodes = (await client.listObjects('/api/v1/nodes')) as ReadNode[];
  const ready = nodes.some(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
  return ready || undefined;
}

async function runEphemeral(context: CommandContext, interrupts: Interrupts): Promise<number> {
  if (context.configArgs.some((word) => word === '--root' || word === '--state'))
    throw new PodwrightError(
      'invalid_argument',
      'up --ephemeral: the node has its own directories: leave --root and --state out',
    );
  const directory = mkdtempSync(join(tmpdir(), 'podwright-'));
  const own = await ephemeralContext(directory, context.configArgs);
  try {
    const client = await bringUp(own, interrupts);
    print(apiServerPaths(own.config).kubeconfig);
    printError(
      'Ctrl-C removes the node with everything that runs on it; for kubectl, set KUBECONFIG to the path above',
    );
    for await (const _change of client.watchPods(interrupts.first));
    interrupts.first.throwIfAborted();
    throw new PodwrightError('unavailable', `the node has stopped; its log was ${join(own.config.root, 'node.log')}`);
  } catch (error) {
    if (!interrupts.first.aborted) throw error; // the interrupt may be the cause of another error
    return 0;
  } finally {
    await remove(presumedNode(own.config).client);
    await removeTree(directory);
  }
}

/** Stops the node, unless it has already stopped. */
async function remove(client: NodeClient): Promise<void> {
  const isUp = await client.hasKubernetesApi();
  if (isUp) await stopNode(client, { removeHostState: true, endPods: true, gracePeriodSeconds: 1 });
}

/** Returns the context of an ephemeral node: the given flags, random names, and addresses unused by the host. */
async function ephemeralContext(directory: string, given: string[]): Promise<CommandContext> {
  const id = basename(directory).slice(-6).toLowerCase();
  const path = (name: string) => join(directory, name);
  const flags = {
    ...{ root: path('root'), state: path('state'), podLogs: path('logs'), cniConfDir: path('net.d') },
    ...{ cgroupParent: `/podwright-${id}`, bridge: `pwe${id}`, api: 'true', apiListen: ANY_PORT },
  };
  const names = Object.fromEntries(
    given.flatMap((word, index) => (index % 2 === 0 ? [[camelCase(word), given[index + 1]]] : [])),
  );
  const { subnet, serviceCidr } = names;
  const ranges = await freeRanges(SERVICE_CLAIMS, { ...(subnet && { subnet }), ...(serviceCidr && { serviceCidr }) });
  return commandContext({ ...flags, ...ranges, ...names });
}

const camelCase = (flag: string): string =>
  flag.slice(2).replace(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
