/** Parses resource versions and continue tokens in requests. */
import { ApiError, badRequest } from '../status/api-error.ts';

const INVALID = (text: string) => `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;

/** Parses a resource version. Returns 0 for '', and `undefined` if the text is not a valid version. */
export function versionNumber(text: string): number | undefined {
  if (text === '') return 0;
  return /^\d{1,20}$/.test(text) ? Number(text) : undefined;
}

/** Parses the resource version of a list. Throws `ApiError`. */
export function listVersion(text: string): number {
  const version = versionNumber(text);
  if (version !== undefined) return version;
  const error = `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${INVALID(text)}`;
  throw badRequest(`invalid resource version: ${error}`);
}

/** Parses the resource version of a watch. Like upstream, reports an unknown error if it is invalid. */
export function watchVersion(text: string): number {
  const version = versionNumber(text);
  if (version !== undefined) return version;
  throw new ApiError(500, '', { message: `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${INVALID(text)}` });
}

/** Where a list continues: after the given key, at the given revision. If the revision is unset, at the latest revision. */
export type ListPosition = { revision?: number; after: string };

/** The version of the continue token format. `NEWEST` is the revision in tokens that continue with the latest state. */
const TOKEN_VERSION = 'meta.k8s.io/v1';
const NEWEST = -1;
const MAX_TOKEN_LENGTH = 4096;

export function formatContinue({ revision = NEWEST, after }: ListPosition): string {
  const token = { v: TOKEN_VERSION, rv: revision, start: `${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** Parses a continue token issued by this server. Throws `ApiError`. */
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
  const wrong = text.search(/[^\w-]/);
  if (wrong >= 0 || text.length % 4 === 1)
    throw invalidToken(`illegal base64 data at input byte ${wrong < 0 ? text.length - 1 : wrong}`);
  try {
    const token: unknown =
      text.length > MAX_TOKEN_LENGTH ? undefined : JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof token === 'object' && token !== null) return token;
  } catch {}
  throw badRequest('invalid continue token: continue key is not valid');
}

const invalidToken = (why: string): ApiError => badRequest(`invalid continue token: continue key is not valid: ${why}`);
