import { codeOfHttpStatus, PodwrightError } from '@podwright/base';

/** Matches the Engine's disk-full messages (errno(3), ENOSPC and EDQUOT), sent with status 500 or within a response. */
export const FULL_DISK = /no space left on device|disk quota exceeded/;

/** An error response from the Engine, with its HTTP status code. */
export class EngineError extends PodwrightError {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    const isFull = statusCode >= 500 && FULL_DISK.test(message);
    super(isFull ? 'resource_exhausted' : (codeOfHttpStatus(statusCode, 'failed_precondition') ?? 'internal'), message);
    this.statusCode = statusCode;
  }
}

/** Builds the error for a response whose body is `{"message": …}` or plain text. `what` names the call, such as `create container NAME`. */
export function engineError(what: string, statusCode: number, body: string): EngineError {
  return new EngineError(statusCode, `${what}: ${messageOf(body) || `the Docker Engine answered ${statusCode}`}`);
}

/** Whether the Engine rejected a call with a conflict: the name is taken, or the container is in the wrong state. */
export function isConflict(error: unknown): error is EngineError {
  return error instanceof EngineError && error.statusCode === 409;
}

function messageOf(body: string): string {
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer === 'object' && answer !== null && 'message' in answer) return String(answer.message).trim();
  } catch {
    // the body is plain text, for example from a proxy
  }
  return body.trim();
}
