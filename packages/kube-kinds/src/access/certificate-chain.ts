import { X509Certificate } from 'node:crypto';
import { hasSlowKeys } from '@podwright/base';
import { pemBlocks } from './pem-blocks.ts';

/** Returns why a base64 string is not a PEM certificate chain, or `undefined` if it is valid or empty. */
export function certificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const blocks = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  for (const { type, bytes, hasHeaders } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function isCertificate(bytes: Buffer): boolean {
  if (hasSlowKeys(bytes)) return false;
  try {
    new X509Certificate(bytes);
    return true;
  } catch {
    return false;
  }
}
