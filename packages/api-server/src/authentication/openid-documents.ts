import { PodwrightError } from '@podwright/base';
import type { SigningKey } from './signing-key.ts';

/** A document for verifiers of tokens, and its response headers. */
export type OpenIdDocument = { body: string; headers: Readonly<Record<string, string>> };

/** The token issuer, the address where verifiers reach the API server, and the signing keys. */
export type OpenIdServer = { issuer: string; host: string; keys: readonly SigningKey[] };

const CONFIGURATION_PATH = '/.well-known/openid-configuration';
const KEYS_PATH = '/openid/v1/jwks';
const CACHE_CONTROL = 'public, max-age=3600';

/**
 * Returns one of the two documents that verifiers outside the cluster need to verify tokens: the location of the issuer's keys (OpenID
 * Connect Discovery 1.0), or the public keys (RFC 7517). Returns `undefined` for any other path. Throws `invalid_argument` if the issuer is
 * not an HTTPS URL without query and fragment.
 */
export function openIdDocument(path: string, server: OpenIdServer): OpenIdDocument | undefined {
  switch (path) {
    case CONFIGURATION_PATH:
      return document(configurationOf(server), 'application/json');
    case KEYS_PATH:
      return document({ keys: server.keys.map(publicKeyOf) }, 'application/jwk-set+json');
    default:
      return undefined;
  }
}

function configurationOf({ issuer, host, keys }: OpenIdServer): unknown {
  const { protocol, search, hash } = new URL(issuer);
  if (protocol !== 'https:' || search !== '' || hash !== '')
    throw new PodwrightError(
      'invalid_argument',
      `describe the token issuer ${issuer}: it must be an HTTPS URL without query and fragment`,
    );
  return {
    issuer,
    jwks_uri: `https://${host}${KEYS_PATH}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  };
}

function publicKeyOf({ id, algorithm, publicKey }: SigningKey): unknown {
  const { kty, ...values } = publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, alg: algorithm, ...values };
}

const document = (content: unknown, mediaType: string): OpenIdDocument => ({
  body: JSON.stringify(content),
  headers: { 'content-type': mediaType, 'cache-control': CACHE_CONTROL },
});
