import { createHmac, timingSafeEqual } from 'node:crypto';
import { PodwrightError } from '@podwright/base';

/** A bootstrap token. Its ID is not secret (Kubernetes documentation, "Authenticating with Bootstrap Tokens"). */
export type BootstrapToken = { id: string; secret: string };

/** Parses `id.secret`. Throws `invalid_argument` for anything else, with a message that does not contain the text. */
export function parseBootstrapToken(text: string): BootstrapToken {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text) ?? [];
  if (id !== undefined && secret !== undefined) return { id, secret };
  throw new PodwrightError(
    'invalid_argument',
    '--token: must be six characters, a dot and sixteen, of a to z and 0 to 9, as kubeadm token create prints it',
  );
}

/** Verifies that a detached JWS of the content (RFC 7515, appendix F; HS256) was signed with this token's secret. Pure. */
export function isSignedBy({ id, secret }: BootstrapToken, jws: string, content: string): boolean {
  const [head = '', payload, signature = '', ...rest] = jws.split('.');
  if (payload !== '' || rest.length > 0 || !isHeadOf(id, head)) return false;
  const expected = createHmac('sha256', secret)
    .update(`${head}.${Buffer.from(content).toString('base64url')}`)
    .digest();
  const given = Buffer.from(signature, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function isHeadOf(id: string, head: string): boolean {
  try {
    const { alg, kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
    return alg === 'HS256' && kid === id;
  } catch {
    return false;
  }
}
