import { connect } from 'node:net';
import { isDeadlineExceeded, PodwrightError, probeLookups, shownError, withTimeout } from '@podwright/base';
import { asRpcError } from '@podwright/grpc';
import { type Container, formatDuration, type Probe } from '@podwright/kube-api';
import { expand } from '../container/expansion.ts';
import type { CommandRunner } from '../kubecontainer/command-runner.ts';
import { connectionProblem, hostAndPort } from './dial-error.ts';
import { checkGrpcHealth } from './grpc-call.ts';
import { httpGet } from './http-call.ts';
import { MAX_PROBE_OUTPUT_BYTES, MAX_PROBE_TRIES } from './limits.ts';
import { resolveHost, resolvePort } from './probe-target.ts';

/**
 * The outcome of a probe attempt. `warning`: a success that also emits an event. `error`: the probe could not be executed, which counts as
 * neither success nor failure.
 */
export type ProbeAnswer = { verdict: 'success' | 'warning' | 'failure' | 'error'; output: string };

export type ProbeTarget = { probe: Probe; container: Container; containerId: string; podIps: string[] };

type Call = { signal: AbortSignal; timeoutMs: number };

/** Executes probes. Errors are retried immediately, for up to `MAX_PROBE_TRIES` attempts in total. Never rejects. */
export class Prober {
  readonly #commands: CommandRunner;

  constructor(commands: CommandRunner) {
    this.#commands = commands;
  }

  async probe(target: ProbeTarget, parent: AbortSignal): Promise<ProbeAnswer> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#try(target, parent);
      if (answer.verdict !== 'error' || tries === MAX_PROBE_TRIES || parent.aborted) return answer;
    }
  }

  async #try(target: ProbeTarget, parent: AbortSignal): Promise<ProbeAnswer> {
    const timeoutMs = (target.probe.timeoutSeconds || 1) * 1000;
    try {
      const answer = await this.#attempt(target, { signal: parent, timeoutMs });
      return { ...answer, output: answer.output.slice(0, MAX_PROBE_OUTPUT_BYTES) };
    } catch (error) {
      return { verdict: 'error', output: shownError(error).slice(0, MAX_PROBE_OUTPUT_BYTES) };
    }
  }

  /**
   * Makes one attempt. The container runtime enforces the timeout of exec probes, so that a runtime that is unavailable or still starting
   * does not make a container look slow.
   */
  async #attempt(target: ProbeTarget, call: Call): Promise<ProbeAnswer> {
    if (target.probe.exec !== undefined) return await this.#exec(target, call);
    using signal = withTimeout(call.signal, call.timeoutMs, 'the probe');
    return await probeNetwork(target, { ...call, signal });
  }

  async #exec({ probe, container, containerId }: ProbeTarget, call: Call): Promise<ProbeAnswer> {
    const values = new Map(container.env?.map(({ name, value = '' }) => [name, value]));
    const command = probe.exec!.command.map((part) => expand(part, (name) => values.get(name)));
    try {
      const { exitCode, output } = await this.#commands.runInContainer(containerId, command, call);
      return { verdict: exitCode === 0 ? 'success' : 'failure', output };
    } catch (error) {
      if (!isDeadlineExceeded(error)) throw asRpcError(error);
      const after = formatDuration(call.timeoutMs);
      return failed(`command timed out: ${JSON.stringify(command.join(' '))} timed out after ${after}`);
    }
  }
}

function probeNetwork(target: ProbeTarget, call: Call): Promise<ProbeAnswer> {
  const { probe, container, podIps } = target;
  if (probe.httpGet !== undefined) return probeHttp(target, call.signal);
  if (probe.tcpSocket !== undefined) {
    const { host, port } = probe.tcpSocket;
    return probeTcp({ host: resolveHost(host, podIps), port: resolvePort(port, container) }, call.signal);
  }
  return probeGrpc(target, call);
}

const failed = (output: string): ProbeAnswer => ({ verdict: 'failure', output });

async function probeHttp({ probe, container, podIps }: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const target = { action: probe.httpGet!, container, podIps, client: 'probe' } as const;
  try {
    const { status, body, bodyError } = await httpGet(target, signal);
    if (bodyError !== undefined) return failed(bodyError);
    if (status < 200 || status >= 400) return failed(`HTTP probe failed with statuscode: ${status}`);
    if (status < 300) return { verdict: 'success', output: body };
    return { verdict: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
  } catch (error) {
    if (error instanceof PodwrightError && error.code === 'unavailable') return failed(error.message);
    throw error;
  }
}

async function probeTcp(address: { host: string; port: number }, signal: AbortSignal): Promise<ProbeAnswer> {
  const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
  const socket = connect({ ...address, lookup: probeLookups.lookup });
  const onAbort = () => resolve(failed(`dial tcp ${hostAndPort(address.host, address.port)}: i/o timeout`));
  signal.addEventListener('abort', onAbort, { once: true });
  socket.on('connect', () => resolve({ verdict: 'success', output: '' }));
  socket.on('error', (error) => resolve(failed(connectionProblem(error, address))));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

async function probeGrpc({ probe, podIps }: ProbeTarget, { signal, timeoutMs }: Call): Promise<ProbeAnswer> {
  const { port, service = '' } = probe.grpc!;
  const problem = await checkGrpcHealth({ host: resolveHost(undefined, podIps), port, service, timeoutMs }, signal);
  return problem === undefined ? { verdict: 'success', output: 'service healthy' } : failed(problem);
}
