import { type ErrorCode, PodwrightError } from '@podwright/base';

/** What the Engine's status codes mean (Docker Engine API, "Errors"). */
const CODES: Record<number, ErrorCode> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'failed_precondition',
  501: 'unimplemented',
  503: 'unavailable',
};

/** What the Engine says, with status 500 or in the middle of an answer, where there is no room for a file (errno(3), ENOSPC and EDQUOT). */
export const FULL_DISK = /no space left on device|disk quota exceeded/;

/** An answer of the Engine that is an error, with the status code that told it. */
export class EngineError extends PodwrightError {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    const isFull = statusCode >= 500 && FULL_DISK.test(message);
    super(isFull ? 'resource_exhausted' : (CODES[statusCode] ?? 'internal'), message);
    this.statusCode = statusCode;
  }
}

/** The error of an answer whose body is `{"message": …}`, or text. `what` says what was asked for, as `create container NAME`. */
export function engineError(what: string, statusCode: number, body: string): EngineError {
  return new EngineError(statusCode, `${what}: ${messageOf(body) || `the Docker Engine answered ${statusCode}`}`);
}

/** Whether the Engine says that the name is another container's, or the container in a state that forbids it. */
export function isConflict(error: unknown): error is EngineError {
  return error instanceof EngineError && error.statusCode === 409;
}

function messageOf(body: string): string {
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer === 'object' && answer !== null && 'message' in answer) return String(answer.message).trim();
  } catch {
    // a proxy's text
  }
  return body.trim();
}
