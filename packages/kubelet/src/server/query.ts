import { PodwrightError } from '@podwright/base';
import type { LogQuery } from '../logs/log-reader.ts';
import type { ApplyOptions, StopOptions } from './local-api.ts';
import type { LogChoice, StreamingCall } from './node-backend.ts';

export const isTrue = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name);
  return value === 'true' || value === '1' || value === '';
};

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^\d{1,15}$/.test(value))
    throw new PodwrightError('invalid_argument', `${name}: a whole number is needed, got "${value.slice(0, 40)}"`);
  return Number(value);
}

/** The parameters of the Kubernetes API's pod log. */
export function logQuery(query: URLSearchParams, nowMs: number): LogQuery & LogChoice {
  const sinceSeconds = wholeNumber(query, 'sinceSeconds');
  const sinceTime = query.get('sinceTime');
  if (sinceTime !== null && Number.isNaN(Date.parse(sinceTime))) {
    throw new PodwrightError(
      'invalid_argument',
      `sinceTime: an RFC 3339 time is needed, got "${sinceTime.slice(0, 40)}"`,
    );
  }
  return {
    container: query.get('container') ?? '',
    containerId: query.get('containerID') ?? undefined,
    previous: isTrue(query, 'previous'),
    follow: isTrue(query, 'follow'),
    timestamps: isTrue(query, 'timestamps'),
    tailLines: wholeNumber(query, 'tailLines'),
    limitBytes: wholeNumber(query, 'limitBytes'),
    sinceMs:
      sinceSeconds !== undefined ? nowMs - sinceSeconds * 1000 : sinceTime === null ? undefined : Date.parse(sinceTime),
  };
}

/** How the daemon is asked to end. */
export function stopOptions(query: URLSearchParams): StopOptions {
  return { removeHostState: isTrue(query, 'removeHostState'), endPods: isTrue(query, 'endPods') };
}

export function deleteGrace(query: URLSearchParams): number | undefined {
  return wholeNumber(query, 'gracePeriodSeconds');
}

/** The parameters of the Kubernetes API's exec, attach and portforward. */
export function streamingCall(kind: string, query: URLSearchParams): StreamingCall {
  if (kind === 'portforward') {
    const ports = [...query.getAll('ports'), ...query.getAll('port')]
      .flatMap((list) => list.split(','))
      .filter((port) => port !== '');
    return { kind, ports: ports.map(readPort) };
  }
  const tty = isTrue(query, 'tty');
  const streams = {
    container: query.get('container') ?? '',
    stdin: isTrue(query, 'stdin'),
    stdout: isTrue(query, 'stdout'),
    stderr: isTrue(query, 'stderr') && !tty,
    tty,
  };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw new PodwrightError('invalid_argument', 'at least one of stdin, stdout and stderr must be asked for');
  }
  if (kind === 'attach') return { kind, ...streams };
  const command = query.getAll('command');
  if (command.length === 0) throw new PodwrightError('invalid_argument', 'command: what to run is missing');
  return { kind: 'exec', command, ...streams };
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new PodwrightError('invalid_argument', `ports: "${text.slice(0, 40)}" is no port`);
}

/** `replace=false` does nothing where an object stands with other content. */
export function applyOptions(query: URLSearchParams): ApplyOptions {
  return { dryRun: isDryRun(query), replace: query.get('replace') !== 'false' };
}

/** Whether a call shall only tell what it would do: `dryRun=All`, as in the Kubernetes API. */
function isDryRun(query: URLSearchParams): boolean {
  const value = query.get('dryRun');
  if (value !== null && value !== 'All')
    throw new PodwrightError('invalid_argument', `dryRun: must be All or absent, got "${value.slice(0, 60)}"`);
  return value !== null;
}
