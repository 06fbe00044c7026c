import { ApiError } from '@podwright/api-machinery';

/** Ignores the error of a write to an object that another write has changed or deleted meanwhile. */
export function ignoreOvertaken(error: unknown): void {
  if (!isOvertaken(error)) throw error;
}

export const isOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && [404, 409].includes(error.status.code);
