import { badRequest, conflict, invalid, notFound, type ObjectStore } from '@podwright/api-machinery';
import { isRecord } from '@podwright/base';
import { formatTime } from '@podwright/kube-api';
import { type ApiObject, type FieldError, invalidValue } from '@podwright/kube-kinds';
import type { AccountTokens } from './account-tokens.ts';
import { bindingOf } from './token-binding.ts';

export type TokenRequestParts = {
  store: ObjectStore;
  tokens: Pick<AccountTokens, 'issue'>;
  /** The API server's own audiences. */
  audiences: readonly string[];
  now: () => number;
  /**
   * Whether pod tokens requested by kubelets are valid for a year, for old clients that never reload them. Corresponds to upstream's
   * `--service-account-extend-token-expiration`. Default: true.
   */
  extendExpiration?: boolean;
  /** Maximum token lifetime in seconds. Default: 0 (no limit). */
  maxExpirationSeconds?: number;
};

/** Admission for writes to the `token` subresource. */
export type TokenRequestAdmission = {
  /** Runs the mutating plugins on the TokenRequest as sent by the client, and returns the mutated one. */
  mutate: (object: ApiObject) => Promise<ApiObject>;
  /** Runs the validating plugins on the TokenRequest, which has been defaulted and validated. */
  validate: (object: ApiObject) => Promise<void>;
};

export type TokenRequestCall = {
  namespace: string;
  /** Name of the service account for which a token is requested. */
  name: string;
  object: ApiObject;
  admission: TokenRequestAdmission;
  warn: (message: string) => void;
};

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const ACCOUNTS = { group: '', plural: 'serviceaccounts' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/**
 * Token lifetime requested for pods by the ServiceAccount admission plugin. Only tokens with exactly this requested lifetime are extended.
 */
const EXTENDED_REQUEST_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

type Spec = { audiences: string[]; expirationSeconds: number; boundObjectRef?: Record<string, unknown> };

/** Creates a service account token for a TokenRequest that was POSTed to the account's `token` subresource. */
export async function requestToken(parts: TokenRequestParts, call: TokenRequestCall): Promise<ApiObject> {
  const { namespace, name, admission, warn } = call;
  const { store, tokens, audiences, now, extendExpiration = true } = parts;
  const object = await admission.mutate(call.object);
  checkLocation(object, namespace, name);
  const account = store.get({ resource: 'serviceaccounts', namespace, name })?.decode();
  if (account === undefined) throw notFound(ACCOUNTS, name);
  const spec = specOf(object, audiences);
  const nowMs = now();
  const request = { ...object, metadata: metadataOf(object, account, nowMs), spec };
  checkSpec(spec);
  await admission.validate(request);
  const binding = bindingOf(store, account, spec.boundObjectRef);
  spec.expirationSeconds = shortened(spec.expirationSeconds, parts.maxExpirationSeconds, warn);
  const isExtended =
    extendExpiration &&
    binding.pod !== undefined &&
    spec.expirationSeconds === EXTENDED_REQUEST_SECONDS &&
    spec.audiences.every((audience) => audiences.includes(audience));
  const warnafter = Math.floor(nowMs / 1000) + spec.expirationSeconds;
  const token = tokens.issue({
    audiences: spec.audiences,
    expirationSeconds: isExtended ? EXTENDED_SECONDS : spec.expirationSeconds,
    binding: isExtended ? { ...binding, warnafter } : binding,
  });
  const expirationTimestamp = formatTime(nowMs + spec.expirationSeconds * 1000);
  return { ...request, status: { token, expirationTimestamp } };
}

/** Checks that the name and namespace in the body, if set, match the URL. */
function checkLocation({ metadata }: ApiObject, namespace: string, name: string): void {
  const check = (field: 'name' | 'namespace', expected: string) => {
    const given = metadata[field];
    if (!given || given === expected) return;
    const detail = `must match the service account ${field} if specified`;
    throw invalid(KIND, name, [invalidValue(`metadata.${field}`, given, detail)]);
  };
  check('name', name);
  check('namespace', namespace);
}

function metadataOf({ metadata }: ApiObject, account: ApiObject, nowMs: number): ApiObject['metadata'] {
  const { name = '', namespace, uid } = account.metadata;
  if (metadata.uid && metadata.uid !== uid)
    throw conflict(
      { group: KIND.group, plural: KIND.kind },
      name,
      `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid ?? ''})`,
    );
  const own = { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) };
  return { ...metadata, ...own, creationTimestamp: formatTime(nowMs) };
}

function specOf({ spec }: ApiObject, audiences: readonly string[]): Spec {
  const { audiences: given, expirationSeconds, boundObjectRef } = isRecord(spec) ? spec : {};
  const named = Array.isArray(given) ? given.map(String) : [];
  return {
    audiences: named.length === 0 ? [...audiences] : named,
    expirationSeconds: typeof expirationSeconds === 'number' ? expirationSeconds : DEFAULT_SECONDS,
    ...(isRecord(boundObjectRef) ? { boundObjectRef } : {}),
  };
}

function checkSpec({ expirationSeconds }: Spec): void {
  const problem = (detail: string): FieldError => invalidValue('spec.expirationSeconds', expirationSeconds, detail);
  if (expirationSeconds < MIN_SECONDS)
    throw invalid(KIND, '', [problem('may not specify a duration less than 10 minutes')]);
  if (expirationSeconds > MAX_SECONDS)
    throw invalid(KIND, '', [problem('may not specify a duration larger than 2^32 seconds')]);
  if (!Number.isInteger(expirationSeconds)) throw badRequest('spec.expirationSeconds must be an integer');
}

function shortened(seconds: number, max = 0, warn: (message: string) => void): number {
  if (max <= 0 || seconds <= max) return seconds;
  warn(`requested expiration of ${seconds} seconds shortened to ${max} seconds`);
  return max;
}
