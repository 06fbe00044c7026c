import { linesOf, wrapError } from '@podwright/base';
import * as z from 'zod';
import { MAX_PROGRESS_LINE_BYTES } from '../limits.ts';

const lineSchema = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
  errorDetail: z.object({ code: z.number().optional() }).optional(),
});

/** The error of a failed pull, as reported by the registry or the Engine. `statusCode` is the registry's, if known. */
export class PullRefusal extends Error {
  readonly statusCode: number | undefined;

  constructor(message: string, statusCode: number | undefined) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Status of a layer being unpacked. During that time, the Engine might report no progress if the layer is large or the disk is slow. */
const UNPACKING = 'Extracting';
const UNPACKED = 'Pull complete';

/**
 * Reads the progress of a pull until it ends. Calls `onGain` for each line that differs from the previous one, passing whether a layer is
 * being unpacked. Throws `PullRefusal`, `internal` for malformed progress, or a connection error.
 */
export async function readProgress(
  chunks: AsyncIterable<Buffer>,
  onGain: (isUnpacking: boolean) => void,
): Promise<void> {
  const unpacking = new Set<string>();
  let last = '';
  for await (const text of linesOf(chunks, MAX_PROGRESS_LINE_BYTES)) {
    if (text.trim() === '' || text === last) continue;
    last = text;
    const { id = '', status, error, errorDetail } = parseLine(text);
    if (error !== undefined) throw new PullRefusal(error, errorDetail?.code);
    if (status === UNPACKED) unpacking.delete(id);
    // track only one: the Engine unpacks one layer at a time
    if (status === UNPACKING && unpacking.size === 0) unpacking.add(id);
    onGain(unpacking.size > 0);
  }
}

function parseLine(text: string): z.infer<typeof lineSchema> {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch (error) {
    const shown = JSON.stringify(text.slice(0, 80));
    throw wrapError(`the Docker Engine's progress is not as expected, ${shown}`, error, 'internal');
  }
}
