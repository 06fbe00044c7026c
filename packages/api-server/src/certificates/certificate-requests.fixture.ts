import { execFileSync } from 'node:child_process';

/** Returns the `spec.request` field for a request created by OpenSSL, optionally with a subjectAltName. */
export function requestFor(
  subject: string,
  { names = '', kind = EC }: { names?: string; kind?: readonly string[] } = {},
): string {
  const key = ['-newkey', ...kind, '-nodes', '-keyout', '/dev/null'];
  const extension = names === '' ? [] : ['-addext', `subjectAltName=${names}`];
  const pem = execFileSync('openssl', ['req', '-new', ...key, '-utf8', '-subj', subject, ...extension], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return pem.toString('base64');
}

const EC = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
