import { PodwrightError } from '@podwright/base';
import { type RuntimeHandlers, requireCommand, requireStreams } from '@podwright/cri';
import type { StreamingServer } from '@podwright/streaming';
import type { PortDialer } from '@podwright/system';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, SANDBOX_TYPE } from '../labels/labels.ts';
import { type ContainerType, requireOurs } from '../labels/ownership.ts';
import type { DockershimServices } from '../services.ts';
import { attachSession } from './attach-session.ts';
import { execSession } from './exec-session.ts';
import { execSync } from './exec-sync.ts';

/** What streams are served by. `dial` connects to a port in the network namespace at a path. */
export type StreamServices = Pick<DockershimServices, 'engine'> & { server: StreamingServer; dial: PortDialer };

type Needs = Pick<StreamServices, 'engine'>;

/** Exec, Attach and PortForward by URLs of the streaming server, and ExecSync. */
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
    const { Id } = await requireRunning(engine, CONTAINER_TYPE, { id: containerId, verb: 'exec in', signal });
    requireCommand(cmd);
    const choice = { stdin, stdout, stderr, tty };
    requireStreams(`exec in container ${Id}`, choice);
    const start = (gone: AbortSignal, terminalName?: string) =>
      execSession(engine, { containerId: Id, command: cmd, choice, terminalName }, gone);
    return { url: server.url({ kind: 'exec', choice, start }) };
  };
}

/** ExecSync: `timeout` in seconds, 0 for none. */
function execInContainer({ engine }: Needs): RuntimeHandlers['execSync'] {
  return async ({ containerId, cmd, timeout }, { signal }) => {
    const { Id } = await requireRunning(engine, CONTAINER_TYPE, { id: containerId, verb: 'exec in', signal });
    requireCommand(cmd);
    return await execSync(engine, { containerId: Id, command: cmd, timeoutSeconds: Number(timeout) }, signal);
  };
}

function attach({ engine, server }: StreamServices): RuntimeHandlers['attach'] {
  return async ({ containerId, tty, stdin, stdout, stderr }, { signal }) => {
    const container = await requireRunning(engine, CONTAINER_TYPE, { id: containerId, verb: 'attach to', signal });
    const choice = { stdin, stdout, stderr, tty };
    requireStreams(`attach to container ${container.Id}`, choice);
    return { url: server.url({ kind: 'attach', choice, start: () => attachSession(engine, container, choice) }) };
  };
}

/** PortForward: connections are made in the network namespace of the sandbox, the host's for a pod in the host's network. */
function portForward({ engine, server, dial }: StreamServices): RuntimeHandlers['portForward'] {
  return async ({ podSandboxId: id, port: ports }, { signal }) => {
    const asked = { id, verb: 'forward ports of' };
    const { Id } = await requireRunning(engine, SANDBOX_TYPE, { ...asked, signal });
    const dialNow = async (port: number, wanted: AbortSignal) => {
      const { State } = await requireRunning(engine, SANDBOX_TYPE, { ...asked, id: Id, signal: wanted });
      return await dial(`/proc/${State.Pid}/ns/net`, port, wanted);
    };
    return { url: server.url({ kind: 'portforward', dial: dialNow, ports: ports.length > 0 ? ports : undefined }) };
  };
}

type Asked = { id: string; verb: string; signal: AbortSignal };

/** Errors: `not_found` also for what is not ours, `failed_precondition` where it does not run. */
async function requireRunning(
  { containers }: Needs['engine'],
  type: ContainerType,
  { id, verb, signal }: Asked,
): Promise<ContainerInspection> {
  const attempted = `${verb} ${type === SANDBOX_TYPE ? 'sandbox' : 'container'} ${id}`;
  if (id === '') throw new PodwrightError('invalid_argument', `${attempted}: the request names none`);
  const container = await containers.inspect(id, signal);
  // the Engine takes names as well, and a name is no id
  if (!container.Id.startsWith(id)) throw new PodwrightError('not_found', `${attempted}: there is none with this id`);
  requireOurs(type, { names: [container.Name], labels: container.Config.Labels }, attempted);
  if (!container.State.Running) throw new PodwrightError('failed_precondition', `${attempted}: it does not run`);
  return container;
}
