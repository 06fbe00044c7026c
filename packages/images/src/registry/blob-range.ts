import { PodwrightError } from '@podwright/base';
import type { HttpResponse } from './http-client.ts';

export type RangeRequest = {
  digest: string;
  size: number;
  offset: number;
  name: string;
  /** Creates the error for an unsuccessful response to a blob request. */
  refusal: (response: HttpResponse, what: string) => Promise<Error>;
};

/**
 * Returns a blob's bytes from `offset` on, given the response to a range request (RFC 9110, section 14). If the server sent the whole blob
 * instead, skips the bytes before `offset`. Rejects with `data_loss` if the server sent a different range or size.
 */
export async function openRange(response: HttpResponse, request: RangeRequest): Promise<AsyncIterable<Buffer>> {
  const { digest, size, offset, name, refusal } = request;
  const refuse = (why: string) => {
    response.discard();
    return new PodwrightError('data_loss', `pull ${name}: blob ${digest}: ${why}`);
  };
  if (response.status === 416) throw refuse(`the registry has fewer than ${offset} bytes of it`);
  if (response.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '');
    if (Number(range?.[1]) !== offset) throw refuse(`requested bytes from ${offset} on, received others`);
    if (range?.[2] !== '*' && Number(range?.[2]) !== size) throw refuse(`it has ${range?.[2]} bytes, not ${size}`);
    return response.body;
  }
  if (response.status !== 200) throw await refusal(response, `pull ${name}: blob ${digest}`);
  const length = response.headers['content-length'];
  if (length !== undefined && Number(length) !== size) throw refuse(`it has ${length} bytes, not ${size}`);
  return skip(response.body, offset);
}

async function* skip(body: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const chunk of body) {
    if (chunk.length > left) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}
