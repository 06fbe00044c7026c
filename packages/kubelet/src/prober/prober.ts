import { connect } from 'node:net';
import { isDeadlineExceeded, PodwrightError, shownError, withTimeout, wrapError } from '@podwright/base';
import type { Container, Probe } from '../api/types.ts';
import type { CommandRunner } from '../kubecontainer/command-runner.ts';
import { MAX_PROBE_OUTPUT_BYTES } from '../limits.ts';
import { checkGrpcHealth } from './grpc-call.ts';
import { httpGet } from './http-call.ts';
import { resolveHost, resolvePort } from './probe-target.ts';

/** What one attempt said. `error` means it could not be made at all and counts neither way. */
export type ProbeAnswer = { verdict: 'success' | 'failure' | 'error'; output: string };

export type ProbeTarget = { probe: Probe; container: Container; containerId: string; podIps: string[] };

/** Makes one attempt of a probe. Never rejects. */
export class Prober {
  readonly #commands: CommandRunner;

  constructor(commands: CommandRunner) {
    this.#commands = commands;
  }

  async probe(target: ProbeTarget, parent: AbortSignal): Promise<ProbeAnswer> {
    const timeoutMs = (target.probe.timeoutSeconds ?? 1) * 1000;
    using signal = withTimeout(parent, timeoutMs, 'the probe');
    try {
      const answer = await this.#attempt(target, { signal, timeoutMs });
      return { ...answer, output: answer.output.slice(0, MAX_PROBE_OUTPUT_BYTES) };
    } catch (error) {
      const failed = isDeadlineExceeded(error) || (error instanceof PodwrightError && error.code === 'unavailable');
      return { verdict: failed ? 'failure' : 'error', output: shownError(error).slice(0, MAX_PROBE_OUTPUT_BYTES) };
    }
  }

  async #attempt(target: ProbeTarget, call: { signal: AbortSignal; timeoutMs: number }): Promise<ProbeAnswer> {
    const { probe, container, podIps } = target;
    if (probe.exec !== undefined) {
      const { exitCode, output } = await this.#commands.runInContainer(target.containerId, probe.exec.command, call);
      return { verdict: exitCode === 0 ? 'success' : 'failure', output };
    }
    if (probe.httpGet !== undefined) return probeHttp(target, call.signal);
    if (probe.tcpSocket !== undefined) {
      const { host, port } = probe.tcpSocket;
      return probeTcp(resolveHost(host, podIps), resolvePort(port, container), call.signal);
    }
    const { port, service = '' } = probe.grpc!;
    const { serving, status } = await checkGrpcHealth(
      { host: resolveHost(undefined, podIps), port, service },
      call.signal,
    );
    return serving
      ? { verdict: 'success', output: 'serving' }
      : { verdict: 'failure', output: `service unhealthy (status ${status})` };
  }
}

async function probeHttp({ probe, container, podIps }: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const { status, body } = await httpGet(
    { action: probe.httpGet!, container, podIps, userAgent: 'kube-probe/1.36' },
    signal,
  );
  if (status >= 200 && status < 400) return { verdict: 'success', output: body };
  return { verdict: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
}

async function probeTcp(host: string, port: number, signal: AbortSignal): Promise<ProbeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ProbeAnswer>();
  const socket = connect({ host, port });
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.on('connect', () => resolve({ verdict: 'success', output: '' }));
  socket.on('error', (error) =>
    resolve({ verdict: 'failure', output: wrapError(`dial tcp ${host}:${port}`, error).message }),
  );
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}
