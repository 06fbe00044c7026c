import * as z from 'zod';
import { DETAILS_LABEL } from '../labels/labels.ts';

/** Fields of a sandbox that Docker does not store, encoded in its details label. `createdAtNs` is in nanoseconds since the epoch. */
export type SandboxDetails = { createdAtNs: bigint; runtimeHandler: string };

const schema = z.object({ createdAtNs: z.string().regex(/^\d{1,19}$/), runtimeHandler: z.string().max(256) });

export function encodeDetails({ createdAtNs, runtimeHandler }: SandboxDetails): Record<string, string> {
  return { [DETAILS_LABEL]: JSON.stringify({ createdAtNs: String(createdAtNs), runtimeHandler }) };
}

/** Decodes the details label. Returns `undefined` if it is malformed or if the sandbox was created by another dockershim. */
export function decodeDetails(labels: Record<string, string>): SandboxDetails | undefined {
  try {
    const { createdAtNs, runtimeHandler } = schema.parse(JSON.parse(labels[DETAILS_LABEL] ?? ''));
    return { createdAtNs: BigInt(createdAtNs), runtimeHandler };
  } catch {
    return undefined;
  }
}
