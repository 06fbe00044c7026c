import { createHash } from 'node:crypto';
import { PodwrightError, wrapError } from '@podwright/base';
import * as z from 'zod';

const port = z.int().min(0).max(65535);
const names = z.array(z.string());

const dataSchema = z.object({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  attempt: z.int().min(0),
  createdAtMs: z.number(),
  hostNetwork: z.boolean(),
  /** The network plugin that set up the pod's network: `cni` or `none`. */
  network: z.string(),
  portMappings: z.array(
    z.object({ protocol: z.enum(['TCP', 'UDP', 'SCTP']), containerPort: port, hostPort: port, hostIp: z.string() }),
  ),
  dns: z.object({ servers: names, searches: names, options: names }).optional(),
  cgroupParent: z.string().optional(),
});

/** State of a sandbox that must survive the removal of its container and a restart of the dockershim. */
export type SandboxCheckpoint = z.infer<typeof dataSchema>;

const fileSchema = z.object({ version: z.literal(1), checksum: z.string(), data: z.record(z.string(), z.unknown()) });

/** Encodes a checkpoint as the content of its file. */
export function encodeCheckpoint(checkpoint: SandboxCheckpoint): string {
  return JSON.stringify({ version: 1, checksum: checksumOf(checkpoint), data: checkpoint });
}

/** Decodes a checkpoint from the content of its file. Throws `data_loss` if it is truncated, altered or not a checkpoint. */
export function decodeCheckpoint(text: string): SandboxCheckpoint {
  let file: z.infer<typeof fileSchema>;
  try {
    file = fileSchema.parse(JSON.parse(text));
  } catch (error) {
    throw wrapError('not a checkpoint', error, 'data_loss');
  }
  if (checksumOf(file.data) !== file.checksum)
    throw new PodwrightError('data_loss', 'its checksum does not match its content');
  const parsed = dataSchema.safeParse(file.data);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new PodwrightError('data_loss', `data.${issue?.path.join('.')}: ${issue?.message}`);
}

function checksumOf(data: object): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('hex');
}
