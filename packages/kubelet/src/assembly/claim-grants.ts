import { errorMessage } from '@podwright/base';
import type { DraClaims } from '../dra/dra-claims.ts';
import type { NodeGrants } from './node-grants.ts';

/** What containers have for themselves, and the devices of their pods' ResourceClaims besides. */
export function withClaims(
  grants: NodeGrants,
  { claims, isRunning }: { claims: DraClaims; isRunning: (podUid: string) => boolean },
): NodeGrants {
  const prepared = new Set<string>();
  return {
    ...grants,
    admit: async (pod, signal) => {
      const answer = await grants.admit(pod, signal);
      const { uid } = pod.metadata;
      if (answer !== undefined || prepared.has(uid)) return answer;
      try {
        // of a pod that a kubelet before us has started, all is prepared
        if (!isRunning(uid)) await claims.prepare(pod, signal);
        prepared.add(uid);
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        const why = `prepare dynamic resources: ${errorMessage(error)}`;
        const message = `Failed to prepare dynamic resources: ${why}`;
        return { kind: 'waits', reason: 'FailedPrepareDynamicResources', message };
      }
    },
    release: async (podUid) => {
      prepared.delete(podUid);
      await grants.release(podUid);
      await claims.unprepare(podUid);
    },
    grantsOf: async (pod, container) => {
      const given = await grants.grantsOf(pod, container);
      const names = claims.cdiDevices(pod, container);
      if (names.length === 0) return given;
      const none = { environment: [], mounts: [], devices: [], annotations: {}, cdiDevices: [] };
      const { cdiDevices, ...others } = given ?? none;
      return { ...others, cdiDevices: [...cdiDevices, ...names] };
    },
    keepOnly: async (isKnown) => {
      await grants.keepOnly(isKnown);
      await claims.keepOnly(isKnown);
    },
  };
}
