import { RUNTIME_NAME } from '@podwright/base';
import { type RuntimeHandlers, verboseInfo } from '@podwright/cri';
import type { Readiness } from '../../readiness.ts';
import type { CriServices } from '../services/services.ts';

/** Status: returns whether pods can currently run (containerd always reports RuntimeReady), and each runtime handler's features. */
export function status({
  network,
  controllers,
  ready,
  facts,
}: Pick<CriServices, 'network' | 'controllers' | 'ready' | 'facts'>): RuntimeHandlers['status'] {
  return async ({ verbose }, { signal }) => {
    const [runtimeReadiness, networkReadiness] = await Promise.all([facts.readiness(), network.status(signal)]);
    ready.onNetworkStatus(networkReadiness);
    return {
      status: {
        conditions: [condition('RuntimeReady', runtimeReadiness), condition('NetworkReady', networkReadiness)],
      },
      runtimeHandlers: controllers.handlers().map((name) => ({
        name,
        features: {
          recursiveReadOnlyMounts: facts.recursiveReadOnlyHandlers.has(name),
          userNamespaces: facts.userNamespaceHandlers.has(name),
        },
      })),
      features: {
        supplementalGroupsPolicy: true,
        userNamespacesHostNetwork: facts.userNamespaceHandlers.size > 0,
      },
      info: verboseInfo(verbose, () => ({ ...facts.info, readySandboxes: ready.count }), 'config'),
    };
  };
}

function condition(type: string, { ready, reason = '', message = '' }: Readiness) {
  return { type, status: ready, reason, message };
}

/** Version of the kubelet's runtime API, which the kubelet expects in the response. It has always been 0.1.0. */
const KUBELET_API_VERSION = '0.1.0';

/** Version: returns the runtime's name and versions. */
export function version({ facts }: Pick<CriServices, 'facts'>): RuntimeHandlers['version'] {
  return async (_request, { service }) => ({
    version: KUBELET_API_VERSION,
    runtimeName: RUNTIME_NAME,
    runtimeVersion: facts.version,
    runtimeApiVersion: service.split('.')[1] ?? 'v1',
  });
}
