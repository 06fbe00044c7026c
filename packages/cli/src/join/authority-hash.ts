import { createHash, X509Certificate } from 'node:crypto';
import { PodwrightError, wrapError } from '@podwright/base';

/** Parses `sha256:` followed by 64 hexadecimal digits. Throws `invalid_argument` for anything else. */
export function parseAuthorityHash(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  const words = 'must be sha256: and 64 hexadecimal digits, as kubeadm token create --print-join-command prints it';
  throw new PodwrightError('invalid_argument', `--discovery-token-ca-cert-hash ${text.slice(0, 80)}: ${words}`);
}

/** Returns the public key hashes of PEM certificates, in kubeadm's format. Throws `invalid_argument` if a certificate is invalid. */
export function authorityHashes(pem: string): string[] {
  try {
    const all = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    return all.map((one) => {
      const key = new X509Certificate(one).publicKey.export({ type: 'spki', format: 'der' });
      return `sha256:${createHash('sha256').update(key).digest('hex')}`;
    });
  } catch (error) {
    throw wrapError("read the cluster's authorities", error, 'invalid_argument');
  }
}
