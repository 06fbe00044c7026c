import { ByteBudget } from '@podwright/base';
import {
  MAX_EXEC_OUTPUT_TOTAL_BYTES,
  outputLimitOf,
  type RuntimeHandlers,
  requireCommand,
  requireStreams,
} from '@podwright/cri';
import type { StreamingServer } from '@podwright/streaming';
import type { PortDialer } from '@podwright/system';
import { CONTAINER_TYPE, SANDBOX_TYPE } from '../labels/labels.ts';
import { requireRunning } from '../labels/own-container.ts';
import type { DockershimServices } from '../services.ts';
import { attachSession } from './attach-session.ts';
import { execSession } from './exec-session.ts';
import { execSync } from './exec-sync.ts';

/** Dependencies of the streaming calls. `dial` connects to a port in the network namespace at the given path. */
export type StreamServices = Pick<DockershimServices, 'engine'> & { server: StreamingServer; dial: PortDialer };

type Needs = Pick<StreamServices, 'engine'>;

/** Exec, Attach and PortForward, which return URLs of the streaming server, and ExecSync. */
export function streamHandlers(
  services: StreamServices,
): Pick<RuntimeHandlers, 'exec' | 'execSync' | 'attach' | 'portForward'> {
  return {
    exec: exec(services),
    execSync: execInContainer(services),
    attach: attach(services),
    portForward: portForward(services),
  };
}

function exec({ engine, server }: StreamServices): RuntimeHandlers['exec'] {
  return async ({ containerId, cmd, tty, stdin, stdout, stderr }, { signal }) => {
    const { Id } = await runningContainer(engine, containerId, { verb: 'exec in', signal });
    requireCommand(cmd);
    const choice = { stdin, stdout, stderr, tty };
    requireStreams(`exec in container ${Id}`, choice);
    const start = (disconnected: AbortSignal, terminalName?: string) =>
      execSession(engine, { containerId: Id, command: cmd, choice, terminalName }, disconnected);
    return { url: server.url({ kind: 'exec', choice, start }) };
  };
}

/** ExecSync: `timeout` is in seconds; 0 means no timeout. */
function execInContainer({ engine }: Needs): RuntimeHandlers['execSync'] {
  const budget = new ByteBudget(MAX_EXEC_OUTPUT_TOTAL_BYTES);
  return async ({ containerId, cmd, timeout }, context) => {
    const { signal } = context;
    const { Id } = await runningContainer(engine, containerId, { verb: 'exec in', signal });
    requireCommand(cmd);
    using memory = budget.open();
    const bounds = { maxOutputBytes: outputLimitOf(context), memory };
    const command = { containerId: Id, command: cmd, timeoutSeconds: Number(timeout), ...bounds };
    return await execSync(engine, command, signal);
  };
}

function attach({ engine, server }: StreamServices): RuntimeHandlers['attach'] {
  return async ({ containerId, tty, stdin, stdout, stderr }, { signal }) => {
    const container = await runningContainer(engine, containerId, { verb: 'attach to', signal });
    const choice = { stdin, stdout, stderr, tty };
    requireStreams(`attach to container ${container.Id}`, choice);
    return { url: server.url({ kind: 'attach', choice, start: () => attachSession(engine, container, choice) }) };
  };
}

/** PortForward: connects from inside the sandbox's network namespace, which is the host's for a pod on the host network. */
function portForward({ engine, server, dial }: StreamServices): RuntimeHandlers['portForward'] {
  return async ({ podSandboxId: id, port: ports }, { signal }) => {
    const attempted = `forward ports of sandbox ${id}`;
    const { Id } = await requireRunning(engine, { type: SANDBOX_TYPE, id }, { attempted, signal });
    const dialNow = async (port: number, wanted: AbortSignal) => {
      const { State } = await requireRunning(engine, { type: SANDBOX_TYPE, id: Id }, { attempted, signal: wanted });
      return await dial(`/proc/${State.Pid}/ns/net`, port, wanted);
    };
    return { url: server.url({ kind: 'portforward', dial: dialNow, ports: ports.length > 0 ? ports : undefined }) };
  };
}

function runningContainer(
  engine: Needs['engine'],
  id: string,
  { verb, signal }: { verb: string; signal: AbortSignal },
) {
  return requireRunning(engine, { type: CONTAINER_TYPE, id }, { attempted: `${verb} container ${id}`, signal });
}
