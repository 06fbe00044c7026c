import { errorMessage } from '@podwright/base';

/**
 * The result of a remote command as sent on the error stream since protocol v4: a meta/v1 Status object (k8s.io/apimachinery, remotecommand
 * constants).
 */
export type ExitStatus = {
  metadata: object;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  code?: number;
  details?: { causes: { reason: string; message: string }[] };
};

export function exitStatus(exitCode: number): ExitStatus {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** Returns the status of a command that could not be run, or whose exit code is unknown. */
export function failureStatus(error: unknown): ExitStatus {
  return { metadata: {}, status: 'Failure', message: errorMessage(error), reason: 'InternalError', code: 500 };
}

/** Parses a server's Status object; returns `undefined` if the text is anything else. */
export function parseStatus(text: string): ExitStatus | undefined {
  try {
    const status: unknown = JSON.parse(text);
    const isStatus = typeof status === 'object' && status !== null && 'status' in status;
    return isStatus ? (status as ExitStatus) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the exit code in a status; `undefined` if the command could not be run. */
export function exitCodeFrom(status: ExitStatus): number | undefined {
  if (status.status === 'Success') return 0;
  const causes: unknown = status.details?.causes;
  if (!Array.isArray(causes)) return undefined;
  const cause = causes.find((one: { reason?: unknown } | null) => one?.reason === 'ExitCode') as { message?: unknown };
  const exitCode = Number.parseInt(String(cause?.message), 10);
  return Number.isNaN(exitCode) ? undefined : exitCode;
}
