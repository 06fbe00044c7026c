import assert from 'node:assert/strict';
import { type ErrorCode, PodwrightError } from '@podwright/base';

/** Asserts that the promise rejects with an error of this class (or one of these classes) and a matching message. */
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
