/** A kubelet's connection to its cluster: API server clients and certificates. */
import { join } from 'node:path';
import { createLogger, type Registry } from '@podwright/base';
import { type CertificatePair, openNodeIdentity, startServingCertificate } from '@podwright/certificates';
import { withRateLimit } from '@podwright/kube-client';
import type { Kubelet, KubeletOptions } from '@podwright/kubelet';
import type { KubeletConfiguration } from '@podwright/kubelet-configuration';
import type { ServedKubeletApi } from '@podwright/kubelet-server';
import type { KubernetesApi } from '@podwright/node-api';

export type ClusterConnection = {
  options: NonNullable<KubeletOptions['cluster']>;
  /**
   * Requests and renews the serving certificate of the kubelet's API if serverTLSBootstrap is set. Resolves with a function that returns
   * the current certificate.
   */
  signServer(kubelet: Kubelet): Promise<() => CertificatePair | undefined>;
  /**
   * Sets how the API server connects to the kubelet's API if both run in this process; call it with `undefined` once the kubelet's API is
   * closed.
   */
  reachKubelet?(serve: ServedKubeletApi['serveConnection'] | undefined): void;
  /** The API server, if it runs in this process. */
  kubernetesApi?: KubernetesApi;
  close(): Promise<void>;
};

export type ClusterConnectionInput = {
  /** The kubelet's options, except `cluster`, which depends on this connection. */
  options: KubeletOptions;
  configuration: KubeletConfiguration;
  metrics: Registry;
  logLevel: string;
};

/** Starts connecting to the API server in the background, without waiting for it to respond. */
export async function connectCluster(input: ClusterConnectionInput): Promise<ClusterConnection> {
  const { options, configuration, metrics } = input;
  const { nodeName } = options;
  const certDirectory = options.server.tls.certDirectory ?? join(options.rootDir, 'pki');
  const logger = createLogger({ name: 'identity', level: input.logLevel });
  const identity = await openNodeIdentity({
    ...{ nodeName, certDirectory, metrics, logger },
    kubeconfig: configuration.kubeconfig,
    bootstrapKubeconfig: configuration.bootstrapKubeconfig || undefined,
    rotate: configuration.rotateCertificates,
  });
  const limited = (qps: number, burst: number) =>
    qps === 0 ? identity.connect() : withRateLimit(identity.connect(), { qps, burst });
  const client = limited(configuration.kubeAPIQPS, configuration.kubeAPIBurst);
  const eventClient = limited(configuration.eventRecordQPS, configuration.eventBurst);
  let stopSigning = async () => {};
  return {
    options: { client, heartbeatClient: identity.connect(), eventClient },
    signServer: async (kubelet) => {
      if (!configuration.serverTLSBootstrap) return () => undefined;
      const names = () => kubelet.servingNames; // none before the node has registered
      const signed = await startServingCertificate({ nodeName, certDirectory, client, names, metrics, logger });
      stopSigning = signed.stop;
      return signed.current;
    },
    close: async () => {
      await stopSigning();
      await identity.close();
    },
  };
}
