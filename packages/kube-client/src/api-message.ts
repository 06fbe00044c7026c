import { errorMessage } from '@podwright/base';
import { ApiStatusError } from './api-status-error.ts';

/** The API server's own message, without the context that this client adds, so that messages equal upstream's. */
export function apiMessage(error: unknown): string {
  return error instanceof ApiStatusError ? error.status.message : errorMessage(error);
}
