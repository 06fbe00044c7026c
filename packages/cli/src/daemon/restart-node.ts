import { errorCode, PodwrightError, waitFor, withTimeout } from '@podwright/base';
import { runProgram } from '@podwright/host';
import { NodeClient } from '../client/node-client.ts';
import { processStart } from '../client/process-start.ts';
import { isLostConnection } from '../client/unix-http.ts';
import { NODE_STOP_TIMEOUT_MS, NODE_UPGRADE_TIMEOUT_MS } from '../limits.ts';
import type { NodePaths } from '../settings/node-paths.ts';
import { presumedNode, stopNode } from './ensure-node.ts';
import { type RunningNode, startInBackground } from './running-node.ts';

/**
 * Restarts the node with the installed program; its containers keep running. If it has a systemd unit, systemd restarts it. Otherwise, it
 * re-executes its program or, if its version does not support that, is stopped and then started in the background. Rejects if the node does
 * not respond afterwards.
 */
export async function restartNode(config: NodePaths, node: RunningNode): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  if (node.unit !== undefined) await restartUnit(node.unit);
  else if (node.info.localApiVersion !== undefined)
    await client.stop({ removeHostState: false, endPods: false, restart: true });
  else {
    await stopNode(client, { removeHostState: false, endPods: false });
    startInBackground(node, presumedNode(config).logFile);
  }
  await waitForNode(client, node);
}

/** Starts the node again after it failed to start with a different program. */
export async function startAgain(config: NodePaths, node: RunningNode): Promise<void> {
  if (node.unit !== undefined) {
    await runProgram('systemctl', ['reset-failed', node.unit]); // failed starts count towards systemd's start limit
    await restartUnit(node.unit);
  } else {
    await endProcess(node); // in case the node hangs
    startInBackground(node, presumedNode(config).logFile);
  }
  await waitForNode(new NodeClient(config.apiSocket), { ...node, start: undefined });
}

/** Kills the node's process if it is still running. The containers keep running. */
async function endProcess({ info: { pid }, start }: RunningNode): Promise<void> {
  if (start === undefined || processStart(pid) !== start) return;
  process.kill(pid, 'SIGKILL');
  using signal = withTimeout(undefined, NODE_STOP_TIMEOUT_MS, `end process ${pid}`);
  await waitFor(() => processStart(pid) !== start || undefined, { intervalMs: 10, signal });
}

async function restartUnit(unit: string): Promise<void> {
  await runProgram('systemctl', ['daemon-reload']); // the upgrade may have brought another unit file
  const { exitCode, stderr } = await runProgram('systemctl', ['restart', unit]);
  if (exitCode !== 0) throw new PodwrightError('unavailable', `systemctl restart ${unit}: ${stderr.trim()}`);
}

/**
 * Waits for a node that started later than `before`. Rejects immediately if the process of `before` was expected to execute the new program
 * but has exited.
 */
async function waitForNode(client: NodeClient, { info: before, start, unit }: RunningNode): Promise<void> {
  const executesAgain = unit === undefined && before.localApiVersion !== undefined && start !== undefined;
  using signal = withTimeout(undefined, NODE_UPGRADE_TIMEOUT_MS, 'start the node');
  const answers = async () => {
    try {
      if ((await client.node(signal)).startedAt !== before.startedAt) return true;
    } catch (error) {
      if (errorCode(error) !== 'unavailable' && !isLostConnection(error)) throw error;
    }
    if (executesAgain && processStart(before.pid) !== start)
      throw new PodwrightError('unavailable', `start the node: its process ${before.pid} has exited`);
    return undefined;
  };
  await waitFor(answers, { intervalMs: 50, signal });
}
