import type { ResourceRequest } from '../server/server-parts.ts';

/** Responds to a write with a Status that reports success, if the object sent is not stored itself. */
export const sendSuccess = ({ writer }: ResourceRequest, code: number): Promise<void> =>
  writer.status(code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code } as never);
