/** Errors of the store as answers of the API. */
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
import { ExpiredRevision } from '../store/store-errors.ts';

/** An object has the name of a new one. `answer` is for the client, unless the caller tries again. */
export class NameInUse extends PodwrightError {
  readonly answer: ApiError;

  constructor(answer: ApiError) {
    super('already_exists', answer.message);
    this.answer = answer;
  }
}

/** The answer to an error of the store; any other error as it is. */
export function storeAnswer(resource: GroupResource, name: string, error: unknown): unknown {
  if (!(error instanceof PodwrightError)) return error;
  if (error instanceof NameInUse) return error.answer;
  if (error instanceof ExpiredRevision) return expired('The resourceVersion for the provided list is too old.');
  switch (errorCode(error)) {
    case 'already_exists':
      return alreadyExists(resource, name);
    case 'not_found':
      return notFound(resource, name);
    case 'aborted':
      return conflict(resource, name, MODIFIED);
    case 'unavailable':
      return new ApiError(503, 'ServiceUnavailable', { message: errorMessage(error) });
    default:
      return internalError(errorMessage(error));
  }
}

/** Whether another write intervened, so that the change must be computed again. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof PodwrightError && ['aborted', 'not_found', 'already_exists'].includes(error.code);
