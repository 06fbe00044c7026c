import type { ResourceRequest } from '../server/server-parts.ts';

/** Responds with a success Status, for writes whose object is not stored. */
export const sendSuccess = ({ writer }: ResourceRequest, code: number): Promise<void> =>
  writer.status(code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code } as never);
