import { PodwrightError } from '@podwright/base';
import type { HttpResponse } from './http-client.ts';

export type WantedRange = {
  digest: string;
  size: number;
  offset: number;
  name: string;
  /** The error for an answer without the bytes. */
  refusal: (response: HttpResponse, what: string) => Promise<Error>;
};

/**
 * The bytes of a blob from `offset` on, from an answer to a range request (RFC 9110, section 14). A server that sends
 * the whole blob instead is read past what is there already. `data_loss` if the answer is about other bytes or sizes.
 */
export async function openRange(response: HttpResponse, wanted: WantedRange): Promise<AsyncIterable<Buffer>> {
  const { digest, size, offset, name, refusal } = wanted;
  const refuse = (why: string) => {
    response.discard();
    return new PodwrightError('data_loss', `pull ${name}: blob ${digest}: ${why}`);
  };
  if (response.status === 416) throw refuse(`the registry has less than ${offset} bytes of it`);
  if (response.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '');
    if (Number(range?.[1]) !== offset) throw refuse(`bytes from ${offset} on were asked for, others came`);
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
