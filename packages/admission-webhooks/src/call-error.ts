/** How the call of a webhook can fail (apiserver, util/webhook/error.go). */
import { type ApiError, internalError } from '@podwright/api-machinery';

/** The webhook was not reached, or its response cannot be used. The failure policy decides whether the request is admitted. */
export class CallError extends Error {
  /** The status code in metrics. */
  readonly code: number;

  constructor(message: string, code = 503) {
    super(message);
    this.code = code;
  }

  /** The response to the request, if the failure policy is `Fail`. */
  answer(webhook: string): ApiError {
    return internalError(`failed calling webhook ${JSON.stringify(webhook)}: ${this.message}`);
  }
}

/** The webhook has refused the request. */
export class Rejection extends Error {
  readonly answer: ApiError;

  constructor(answer: ApiError) {
    super(answer.message);
    this.answer = answer;
  }
}
