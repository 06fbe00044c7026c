/** The kubelet's serving certificate, signed by the cluster. */

import { isIP } from 'node:net';
import type { Logger, Registry } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { certificateMetrics } from './certificate-metrics.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { CertificateRenewal } from './certificate-renewal.ts';
import { nodeSubject } from './certificate-request.ts';
import { CertificateStore } from './certificate-store.ts';

export type ServingCertificateOptions = {
  nodeName: string;
  certDirectory: string;
  client: KubeClient;
  /** Returns the node's DNS names and addresses. A change triggers a new request. No certificate is requested until there is an address. */
  names: () => readonly string[];
  metrics?: Registry;
  logger: Logger;
};

/** Keeps a serving certificate for the node's names up to date. `current` returns the certificate, or nothing if it is not valid. */
export async function startServingCertificate(
  options: ServingCertificateOptions,
): Promise<{ current: () => CertificatePair | undefined; stop: () => Promise<void> }> {
  const { nodeName, certDirectory, client, names, logger } = options;
  const metrics = certificateMetrics(options.metrics, 'server', () => renewal.expiresAtMs);
  const renewal: CertificateRenewal = new CertificateRenewal({
    store: new CertificateStore(certDirectory, 'kubelet-server'),
    signer: 'kubernetes.io/kubelet-serving',
    subject: () => {
      const all = [...new Set(names())].sort();
      return all.some((name) => isIP(name) !== 0) ? nodeSubject(nodeName, all) : undefined;
    },
    client: () => client,
    onRenewed: () => undefined,
    onFailure: metrics.failed,
    logger,
  });
  await renewal.start();
  return { current: () => renewal.current(), stop: () => renewal.stop() };
}
