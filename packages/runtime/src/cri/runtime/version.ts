import type { RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** The kubelet's own API version, which it wants to hear (0.1.0, since ever). */
const KUBELET_API_VERSION = '0.1.0';

/** Version: who we are. */
export function version({ facts }: Pick<CriServices, 'facts'>): RuntimeHandlers['version'] {
  return async (_request, { service }) => ({
    version: KUBELET_API_VERSION,
    runtimeName: 'podwright',
    runtimeVersion: facts.version,
    runtimeApiVersion: service.split('.')[1] ?? 'v1',
  });
}
