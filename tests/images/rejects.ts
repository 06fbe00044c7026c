import assert from 'node:assert/strict';
import { type ErrorCode, PodwrightError } from '@podwright/base';

/** The promise must reject with an error of this class, or of one of these, whose message matches. */
export async function rejects(
  promise: Promise<unknown>,
  code: ErrorCode | ErrorCode[],
  message: RegExp,
): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert.ok(error instanceof PodwrightError, String(error));
    assert.ok([code].flat().includes(error.code), `${error.code}: ${error.message}`);
    assert.match(error.message, message);
    return true;
  });
}
