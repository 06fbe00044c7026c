import { codeOfHttpStatus, PodwrightError } from '@podwright/base';

/** The Engine's message, with status 500 or within an answer, if its disk is full (errno(3), ENOSPC and EDQUOT). */
export const FULL_DISK = /no space left on device|disk quota exceeded/;

/** An error answer of the Engine, with its HTTP status code. */
export class EngineError extends PodwrightError {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    const isFull = statusCode >= 500 && FULL_DISK.test(message);
    super(isFull ? 'resource_exhausted' : (codeOfHttpStatus(statusCode, 'failed_precondition') ?? 'internal'), message);
    this.statusCode = statusCode;
  }
}

/** The error of an answer whose body is `{"message": …}` or text. `what` names the call, as `create container NAME`. */
export function engineError(what: string, statusCode: number, body: string): EngineError {
  return new EngineError(statusCode, `${what}: ${messageOf(body) || `the Docker Engine answered ${statusCode}`}`);
}

/** Whether the Engine rejected a call because another container has the name, or because of the container's state. */
export function isConflict(error: unknown): error is EngineError {
  return error instanceof EngineError && error.statusCode === 409;
}

function messageOf(body: string): string {
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer === 'object' && answer !== null && 'message' in answer) return String(answer.message).trim();
  } catch {
    // plain text, for example of a proxy
  }
  return body.trim();
}
