import { isRecord, PodwrightError } from '@podwright/base';
import { MAX_JSON_DEPTH } from './limits.ts';

/** A parsed JSON object whose content is unknown. */
export type JsonObject = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

/**
 * Parses text that must be a single JSON object. It may be nested at most 64 levels deep, so that it can be serialized without a stack
 * overflow. Throws `invalid_argument`; `what` names the text in the message.
 */
export function parseJsonObject(text: string, what: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PodwrightError('invalid_argument', `${what} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isJsonObject(value)) throw new PodwrightError('invalid_argument', `${what} is not a JSON object`);
  if (isDeeperThan(value, MAX_JSON_DEPTH))
    throw new PodwrightError('invalid_argument', `${what} is nested more than ${MAX_JSON_DEPTH} deep`);
  return value;
}

/**
 * Whether a JSON value is nested deeper than `limit`. Traverses it level by level, because untrusted input could overflow the stack of a
 * recursive function.
 */
function isDeeperThan(root: object, limit: number): boolean {
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    level = level.flatMap((node) => Object.values(node).filter((child) => typeof child === 'object' && child !== null));
  }
  return false;
}
