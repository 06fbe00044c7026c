import { errorMessage } from '@podwright/base';

/**
 * How a remote command ended, as the error stream of the protocols v4 and v5 says it: a meta/v1 Status object
 * (k8s.io/apimachinery remotecommand constants).
 */
export type ExitStatus = {
  metadata: object;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
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

export function failureStatus(error: unknown): ExitStatus {
  return { metadata: {}, status: 'Failure', message: errorMessage(error), reason: 'InternalError' };
}

/** The exit code that a status tells, or `undefined` when the command could not be run at all. */
export function exitCodeFrom(status: ExitStatus): number | undefined {
  if (status.status === 'Success') return 0;
  const cause = status.details?.causes.find(({ reason }) => reason === 'ExitCode');
  return cause === undefined ? undefined : Number(cause.message);
}
