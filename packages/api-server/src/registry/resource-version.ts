/** Resource versions and continue tokens in requests. */
import { ApiError, badRequest } from '../status/api-error.ts';

const INVALID = (text: string) => `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;

/** The version as a number; 0 for ''. Undefined if the text is no version. */
export function versionNumber(text: string): number | undefined {
  if (text === '') return 0;
  return /^\d{1,20}$/.test(text) ? Number(text) : undefined;
}

/** The version of a list. Throws `ApiError`. */
export function listVersion(text: string): number {
  const version = versionNumber(text);
  if (version !== undefined) return version;
  const error = `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${INVALID(text)}`;
  throw badRequest(`invalid resource version: ${error}`);
}

/** The version of a watch. Upstream reports an unknown error for a wrong one. */
export function watchVersion(text: string): number {
  const version = versionNumber(text);
  if (version !== undefined) return version;
  throw new ApiError(500, '', { message: `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${INVALID(text)}` });
}

/** The position at which a list continues: after a key, at a revision. Without a revision, in the newest state. */
export type ListPosition = { revision?: number; after: string };

/** The version of the token's format, and the revision that stands for the newest state. */
const TOKEN_VERSION = 'meta.k8s.io/v1';
const NEWEST = -1;
const MAX_TOKEN_LENGTH = 4096;

export function formatContinue({ revision = NEWEST, after }: ListPosition): string {
  const token = { v: TOKEN_VERSION, rv: revision, start: `${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** Parses a token of this server. Throws `ApiError`. */
export function parseContinue(text: string): ListPosition {
  const { v, rv, start } = parseToken(text);
  if (v !== TOKEN_VERSION) throw invalidToken('server does not recognize this encoded version');
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw invalidToken(`incorrect encoded start resourceVersion (version ${TOKEN_VERSION})`);
  if (typeof start !== 'string' || start === '')
    throw invalidToken(`encoded start key empty (version ${TOKEN_VERSION})`);
  const after = start.replace(/\u0000$/, '');
  return rv < 0 ? { after } : { revision: rv, after };
}

function parseToken(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    const token: unknown =
      text.length > MAX_TOKEN_LENGTH ? undefined : JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof token === 'object' && token !== null) return token;
  } catch {}
  throw badRequest('invalid continue token: continue key is not valid');
}

const invalidToken = (why: string): ApiError => badRequest(`invalid continue token: continue key is not valid: ${why}`);
