import { errorMessage } from '@podwright/base';
import { ApiStatusError } from './api-status-error.ts';

/** What the API server said, without our words around it, so that messages read as upstream's. */
export function apiMessage(error: unknown): string {
  return error instanceof ApiStatusError ? error.status.message : errorMessage(error);
}
