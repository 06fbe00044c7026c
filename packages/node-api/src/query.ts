import { PodwrightError } from '@podwright/base';
import type { LogQuery } from '@podwright/kubelet';
import { isSet, logOptions } from '@podwright/kubelet-server';
import type { ApplyOptions, StopOptions } from './local-api.ts';
import type { LogChoice, StreamingCall } from './node-backend.ts';

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^\d{1,15}$/.test(value))
    throw new PodwrightError('invalid_argument', `${name}: a whole number is needed, got "${value.slice(0, 40)}"`);
  return Number(value);
}

/** Decodes the parameters of a stop request. */
export function stopOptions(query: URLSearchParams): StopOptions {
  const [removeHostState, endPods] = [isSet(query, 'removeHostState'), isSet(query, 'endPods')];
  const [endApiPods, restart] = [isSet(query, 'endApiPods'), isSet(query, 'restart')];
  return { removeHostState, endPods, endApiPods, restart, gracePeriodSeconds: deleteGrace(query) };
}

export function deleteGrace(query: URLSearchParams): number | undefined {
  return wholeNumber(query, 'gracePeriodSeconds');
}

/** Decodes the parameters of the Kubernetes API's exec, attach and portforward requests. */
export function streamingCall(kind: string, query: URLSearchParams): StreamingCall {
  if (kind === 'portforward') {
    const ports = [...query.getAll('ports'), ...query.getAll('port')]
      .flatMap((list) => list.split(','))
      .filter((port) => port !== '');
    return { kind, ports: ports.map(readPort) };
  }
  const tty = isSet(query, 'tty');
  const streams = {
    container: query.get('container') ?? '',
    stdin: isSet(query, 'stdin'),
    stdout: isSet(query, 'stdout'),
    stderr: isSet(query, 'stderr') && !tty,
    tty,
  };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw new PodwrightError('invalid_argument', 'at least one of stdin, stdout and stderr must be set');
  }
  if (kind === 'attach') return { kind, ...streams };
  const command = query.getAll('command');
  if (command.length === 0) throw new PodwrightError('invalid_argument', 'command: is required');
  return { kind: 'exec', command, ...streams };
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new PodwrightError('invalid_argument', `ports: "${text.slice(0, 40)}" is not a port number`);
}

/**
 * Decodes the parameters of an apply request; `replace=false` forbids replacing objects, `unknown=leave` leaves out objects of unknown
 * kinds.
 */
export function applyOptions(query: URLSearchParams): ApplyOptions {
  const leaveOutUnknown = query.get('unknown') === 'leave';
  return { dryRun: isDryRun(query), replace: query.get('replace') !== 'false', leaveOutUnknown };
}

/** Decodes `dryRun`, which must be `All` or unset, as in the Kubernetes API. */
function isDryRun(query: URLSearchParams): boolean {
  const value = query.get('dryRun');
  if (value !== null && value !== 'All')
    throw new PodwrightError('invalid_argument', `dryRun: must be All or absent, got "${value.slice(0, 60)}"`);
  return value !== null;
}

/** Decodes the parameters of a Kubernetes pod log request. Throws `invalid_argument` describing the problem. */
export function logQuery(query: URLSearchParams, nowMs: number): LogQuery & LogChoice {
  const options = logOptions(query, nowMs);
  if (options.kind !== 'log') throw new PodwrightError('invalid_argument', options.problem);
  const which = { container: query.get('container') ?? '', containerId: query.get('containerID') ?? undefined };
  return { ...options.query, ...which, previous: options.previous };
}
