import type { HeaderField } from '../../http2/static-table.ts';

/** The characters that nghttp2, and so node:http2, allows in `:authority`; anything else ends the stream there. */
const VALID = /^[A-Za-z0-9\-._~!$&'()*+,;=:@[\]%]+$/;

/** True if a request with these fields gets through node:http2 as far as its authority is concerned. */
export function hasValidAuthority(fields: readonly HeaderField[]): boolean {
  const authority = fields.find(([name]) => name === ':authority');
  if (authority !== undefined) return VALID.test(authority[1]);
  const host = fields.find(([name]) => name === 'host');
  return host !== undefined && VALID.test(host[1]);
}

/**
 * The fields of a block with an authority that is valid: on a unix socket the name of the host means nothing.
 * Blocks that begin no request (trailers) stay as they are.
 */
export function withValidAuthority(fields: readonly HeaderField[]): readonly HeaderField[] {
  const isRequest = fields.some(([name]) => name === ':method');
  if (!isRequest || hasValidAuthority(fields)) return fields;
  const others = fields.filter(([name]) => name !== ':authority' && name !== 'host');
  return [[':authority', 'localhost'], ...others];
}
