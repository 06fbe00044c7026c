import { ApiError } from '@podwright/api-machinery';

/** Ignores the error of a write to an object that was concurrently changed or deleted. */
export function ignoreOvertaken(error: unknown): void {
  if (!isOvertaken(error)) throw error;
}

export const isOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && [404, 409].includes(error.status.code);
