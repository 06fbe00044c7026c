import { formatDuration } from '../../api/time.ts';
import type { KubeletOptions } from '../../options.ts';
import type { KubeletServerOptions } from '../kubelet-server-options.ts';

/** What is in force, as a KubeletConfiguration. Headers of requests for manifests may hold secrets, and are left out. */
export function effectiveConfiguration(kubelet: KubeletOptions, server: KubeletServerOptions): object {
  const { tls, authentication, streamingConnectionIdleTimeoutMs, ...ports } = server;
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    staticPodPath: kubelet.manifestDir,
    ...(kubelet.manifestUrl !== undefined && { staticPodURL: kubelet.manifestUrl }),
    ...ports,
    tlsCertFile: tls.certFile,
    tlsPrivateKeyFile: tls.privateKeyFile,
    tlsCipherSuites: tls.cipherSuites,
    tlsMinVersion: tls.minVersion,
    authentication: {
      x509: { clientCAFile: authentication.clientCaFile },
      anonymous: { enabled: authentication.anonymous },
    },
    authorization: { mode: 'AlwaysAllow' },
    streamingConnectionIdleTimeout: formatDuration(streamingConnectionIdleTimeoutMs),
    clusterDomain: kubelet.clusterDomain,
    clusterDNS: kubelet.clusterDns,
    maxPods: kubelet.maxPods,
    podPidsLimit: kubelet.podPidsLimit,
    resolvConf: kubelet.resolvConf,
    serializeImagePulls: kubelet.images.serializePulls,
    maxParallelImagePulls: kubelet.images.maxParallelPulls || undefined,
    registryPullQPS: kubelet.images.registryPullQps,
    registryBurst: kubelet.images.registryBurst,
    imageGCHighThresholdPercent: kubelet.imageGc.highThresholdPercent,
    imageGCLowThresholdPercent: kubelet.imageGc.lowThresholdPercent,
    containerLogMaxSize: String(kubelet.containerLog.maxSizeBytes),
    containerLogMaxFiles: kubelet.containerLog.maxFiles,
    allowedUnsafeSysctls: kubelet.allowedUnsafeSysctls,
    seccompDefault: kubelet.seccompDefault,
    containerRuntimeEndpoint: kubelet.runtimeEndpoint,
    imageServiceEndpoint: kubelet.imageEndpoint,
    podLogsDir: kubelet.podLogsDir,
  };
}
