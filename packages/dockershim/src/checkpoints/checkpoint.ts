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
  /** The plugin that the pod's network is of, `cni` or `none`. */
  network: z.string(),
  portMappings: z.array(
    z.object({ protocol: z.enum(['TCP', 'UDP', 'SCTP']), containerPort: port, hostPort: port, hostIp: z.string() }),
  ),
  dns: z.object({ servers: names, searches: names, options: names }).optional(),
  cgroupParent: z.string().optional(),
});

/** What is to be known of a sandbox when its container is gone, or an earlier process made it. */
export type SandboxCheckpoint = z.infer<typeof dataSchema>;

const fileSchema = z.object({ version: z.literal(1), checksum: z.string(), data: z.record(z.string(), z.unknown()) });

/** A checkpoint as the text of its file. */
export function encodeCheckpoint(checkpoint: SandboxCheckpoint): string {
  return JSON.stringify({ version: 1, checksum: checksumOf(checkpoint), data: checkpoint });
}

/** The checkpoint in a file's text. Throws `data_loss` for one that was cut, changed or never was one. */
export function decodeCheckpoint(text: string): SandboxCheckpoint {
  let file: z.infer<typeof fileSchema>;
  try {
    file = fileSchema.parse(JSON.parse(text));
  } catch (error) {
    throw wrapError('it is no checkpoint', error, 'data_loss');
  }
  if (checksumOf(file.data) !== file.checksum)
    throw new PodwrightError('data_loss', 'its checksum is not that of its content');
  const parsed = dataSchema.safeParse(file.data);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new PodwrightError('data_loss', `data.${issue?.path.join('.')}: ${issue?.message}`);
}

/** SHA-256 of the data as it stands in the file. */
function checksumOf(data: object): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('hex');
}
