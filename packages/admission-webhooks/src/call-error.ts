/** The reasons why a webhook call does not admit the request (apiserver, util/webhook/error.go). */
import { type ApiError, internalError } from '@podwright/api-machinery';

/** The webhook could not be reached, or its response is invalid. The failure policy decides whether the request is rejected. */
export class CallError extends Error {
  /** The HTTP status code for metrics: that of the webhook's response, 503 by default. */
  readonly code: number;

  constructor(message: string, code = 503) {
    super(message);
    this.code = code;
  }

  /** Returns the error for the client under failure policy `Fail`. */
  answer(webhook: string): ApiError {
    return internalError(`failed calling webhook ${JSON.stringify(webhook)}: ${this.message}`);
  }
}

/** Thrown if the webhook has rejected the request. */
export class Rejection extends Error {
  /** The error to return to the client whose request was rejected. */
  readonly answer: ApiError;

  constructor(answer: ApiError) {
    super(answer.message);
    this.answer = answer;
  }
}
