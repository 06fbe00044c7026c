import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { runtimeErrorCode } from '../../oci-runtime/runtime-error.ts';

/**
 * The outcome of a call to a shim. Shims pass on the OCI runtime's message without a class, after the name of the call and
 * before the class that containerd would give it: both are left out here.
 */
export async function callShim<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const message = errorMessage(error)
      .replace(/^containerd\.[\w.]+\/\w+: /, '')
      .replace(/: unknown$/, '');
    const code = errorCode(error);
    throw new PodwrightError(code === 'unknown' ? runtimeErrorCode(message) : code, `${what}: ${message}`, {
      cause: error,
    });
  }
}

/** Whether a shim refused to kill a process because it has ended, or has ended itself. */
export function isEnded(error: unknown): boolean {
  return ['not_found', 'failed_precondition', 'unavailable'].includes(errorCode(error));
}
