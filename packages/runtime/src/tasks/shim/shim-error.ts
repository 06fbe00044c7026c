import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { runtimeErrorCode } from '../../oci-runtime/runtime-error.ts';

/**
 * Awaits a call to a shim and converts its error. Shims return the OCI runtime's error message without an error code, with the name of the
 * call as a prefix and containerd's error code as a suffix; both are stripped.
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

/** Whether an error means that there was nothing to kill, because the process or the shim itself has exited. */
export function isEnded(error: unknown): boolean {
  return ['not_found', 'failed_precondition', 'unavailable'].includes(errorCode(error));
}
