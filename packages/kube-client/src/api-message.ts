import { errorMessage } from '@podwright/base';
import { ApiStatusError } from './api-status-error.ts';

/** Returns the API server's own message, without the context that this client adds. For messages that have to be the same as upstream's. */
export function apiMessage(error: unknown): string {
  return error instanceof ApiStatusError ? error.status.message : errorMessage(error);
}
