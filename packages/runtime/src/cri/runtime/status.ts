import type { RuntimeHandlers } from '@podwright/cri';
import { verboseInfo } from '../messages/verbose-info.ts';
import type { CriServices } from '../services/services.ts';

/** Status: whether pods can be run now, and what each runtime handler can do. */
export function status({
  network,
  controllers,
  facts,
}: Pick<CriServices, 'network' | 'controllers' | 'facts'>): RuntimeHandlers['status'] {
  return async ({ verbose }) => {
    const networkStatus = await network.status();
    const { reason, message } = networkStatus.ready ? { reason: '', message: '' } : networkStatus;
    return {
      status: {
        conditions: [
          { type: 'RuntimeReady', status: true },
          { type: 'NetworkReady', status: networkStatus.ready, reason, message },
        ],
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
      info: verboseInfo(verbose, () => facts.info, 'config'),
    };
  };
}
