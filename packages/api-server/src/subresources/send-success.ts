import type { ResourceRequest } from '../server/server-parts.ts';

/** Responds with a Status that reports success, to a write whose object is not stored, such as a Binding. */
export const sendSuccess = ({ writer }: ResourceRequest, code: number): Promise<void> =>
  writer.status(code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code } as never);
