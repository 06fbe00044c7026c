/** The reasons why a call of a webhook does not admit the request (apiserver, util/webhook/error.go). */
import { type ApiError, internalError } from '@podwright/api-machinery';

/** The webhook was not reached, or its response is invalid. The failure policy decides whether the request is refused. */
export class CallError extends Error {
  /** The HTTP status code in metrics: that of the webhook's response, otherwise 503 by default. */
  readonly code: number;

  constructor(message: string, code = 503) {
    super(message);
    this.code = code;
  }

  /** Returns the error for the client, if the failure policy is `Fail`. */
  answer(webhook: string): ApiError {
    return internalError(`failed calling webhook ${JSON.stringify(webhook)}: ${this.message}`);
  }
}

/** The webhook has refused the request. */
export class Rejection extends Error {
  /** The error for the client. */
  readonly answer: ApiError;

  constructor(answer: ApiError) {
    super(answer.message);
    this.answer = answer;
  }
}
