import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type PemPair = { cert: string; key: string };

/** Subject attributes, as lines of an OpenSSL configuration: `0.O = name`. The attribute `kubeUid` is the user's UID. */
export type Subject = readonly string[];

const configuration = (subject: Subject) => `oid_section = oids
[oids]
kubeUid = 1.3.6.1.4.1.57683.2
[req]
distinguished_name = subject
prompt = no
utf8 = yes
string_mask = utf8only
[subject]
${subject.join('\n')}
`;

/** A certificate authority created by OpenSSL in a temporary directory. */
export class TestAuthority implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'client-certificates-'));

  constructor() {
    this.#request(['CN = authority'], ['-x509', '-keyout', this.#path('ca.key'), '-out', this.#path('ca.pem')]);
  }

  get certificate(): string {
    return readFileSync(this.#path('ca.pem'), 'utf8');
  }

  /** Issues a certificate that is valid for a day. `extensions`: lines of an OpenSSL configuration. */
  issue(subject: Subject, extensions: readonly string[] = []): PemPair {
    this.#request(subject, ['-keyout', this.#path('key'), '-out', this.#path('request')]);
    writeFileSync(this.#path('extensions'), extensions.join('\n'));
    const authority = ['-CA', this.#path('ca.pem'), '-CAkey', this.#path('ca.key'), '-CAcreateserial'];
    const files = ['-in', this.#path('request'), '-out', this.#path('cert'), '-extfile', this.#path('extensions')];
    execFileSync('openssl', ['x509', '-req', '-days', '1', ...authority, ...files], { stdio: 'pipe' });
    return { cert: readFileSync(this.#path('cert'), 'utf8'), key: readFileSync(this.#path('key'), 'utf8') };
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }

  #request(subject: Subject, options: readonly string[]): void {
    writeFileSync(this.#path('config'), configuration(subject));
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    execFileSync('openssl', ['req', '-config', this.#path('config'), ...key, ...options], { stdio: 'pipe' });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}
