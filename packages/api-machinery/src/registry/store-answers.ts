/** Converts store errors to API errors. */
import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import {
  ApiError,
  alreadyExists,
  conflict,
  expired,
  type GroupResource,
  internalError,
  MODIFIED,
  notFound,
} from '../status/api-error.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { ExpiredRevision, OutOfSpace } from '../store/store-errors.ts';

/**
 * Thrown if the object was concurrently modified, so the caller must compute its change again. `answer`: the error for the client if the
 * caller gives up.
 */
export class Overtaken extends Error {
  readonly answer: ApiError;

  constructor(answer: ApiError) {
    super(answer.message);
    this.name = 'Overtaken';
    this.answer = answer;
  }
}

/** Runs a write to an object. Throws `Overtaken` if the object was concurrently modified, and `ApiError` for other store errors. */
export function written<T>({ resource, name }: { resource: GroupResource; name: string }, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const overtaken = overtakenAnswer(resource, name, error);
    throw overtaken === undefined ? storeAnswer(error) : new Overtaken(overtaken);
  }
}

function overtakenAnswer(resource: GroupResource, name: string, error: unknown): ApiError | undefined {
  switch (errorCode(error)) {
    case 'already_exists':
      return alreadyExists(resource, name);
    case 'not_found':
      return notFound(resource, name);
    case 'aborted':
      return conflict(resource, name, MODIFIED);
    default:
      return undefined;
  }
}

/** Resolves when all previous writes are durable. Returns `undefined` if they already are. Rejects with an `ApiError` if the disk fails. */
export function untilDurable(store: Pick<ObjectStore, 'untilDurable'>): Promise<void> | undefined {
  return store.untilDurable()?.catch((error: unknown) => {
    throw storeAnswer(error);
  });
}

/** Converts an error of the store to an API error. Returns any other error unchanged. */
export function storeAnswer(error: unknown): unknown {
  if (!(error instanceof PodwrightError)) return error;
  if (error instanceof ExpiredRevision) return expired('The resourceVersion for the provided list is too old.');
  if (error instanceof OutOfSpace) return new ApiError(500, '', { message: errorMessage(error) });
  if (errorCode(error) === 'unavailable')
    return new ApiError(503, 'ServiceUnavailable', { message: errorMessage(error) });
  return internalError(errorMessage(error));
}
