import { KUBELET_CLIENTS } from '../authorization/known-users.ts';
import type { CertificateAuthority, KeyPair } from '../certificates/certificate-authority.ts';

/**
 * The name of this client as kubeadm gives it. Kubelets that request authorization from this server allow the group everything that concerns
 * kubelets. It is not `system:masters`, because a node could publish the address of this server as that of its kubelet.
 */
const CLIENT = { commonName: 'kube-apiserver-kubelet-client', organizations: [KUBELET_CLIENTS] };
const DAY_MS = 86_400_000;
const LIFE_MS = 30 * DAY_MS;
const RENEWED_BEFORE_MS = 10 * DAY_MS;

/** The certificate of this server as a client of kubelets. It is issued on its first use, renewed in time, and only in memory. */
export class KubeletClientCertificate {
  readonly #authority: Pick<CertificateAuthority, 'client'>;
  readonly #now: () => number;
  #current: { pair: KeyPair; renewAtMs: number } | undefined;

  constructor(authority: Pick<CertificateAuthority, 'client'>, now: () => number) {
    this.#authority = authority;
    this.#now = now;
  }

  pair(): KeyPair {
    const now = this.#now();
    if (this.#current === undefined || now >= this.#current.renewAtMs)
      this.#current = {
        pair: this.#authority.client(CLIENT, LIFE_MS),
        renewAtMs: now + LIFE_MS - RENEWED_BEFORE_MS,
      };
    return this.#current.pair;
  }
}
