import { errorMessage } from '@podwright/base';
import { ApiStatusError } from './api-status-error.ts';

/** Returns the API server's own message without the context added by this client, for messages that must match upstream's. */
export function apiMessage(error: unknown): string {
  return error instanceof ApiStatusError ? error.status.message : errorMessage(error);
}
