import { everyContainer, type Pod } from '@podwright/kube-api';
import { type ClaimRecord, cdiDevices, claimHealth, claimsOfContainer, type ListedClaim } from '@podwright/placement';
import type { NodeClaims } from './node-claims.ts';
import type { NodeGrants } from './node-grants.ts';

/** Adds devices allocated through ResourceClaims to the containers' exclusive resources. */
export function withClaims(grants: NodeGrants, { claims, health }: Pick<NodeClaims, 'claims' | 'health'>): NodeGrants {
  const preparedFor = (pod: Pod) => claims.preparedIn(pod.metadata.namespace);
  return {
    ...grants,
    prepare: (pod, signal) => claims.prepare(pod, signal),
    unprepare: (podUid, signal) => claims.unprepare(podUid, signal),
    claimsOf: (pod, container) => claimsOfContainer(pod, container, preparedFor(pod)).map(listed),
    healthOf: (pod, name) => {
      const container = everyContainer(pod.spec).find((one) => one.name === name);
      const ofPlugins = grants.healthOf(pod, name);
      if (container === undefined) return ofPlugins;
      const healthOf = health.of.bind(health);
      return [...ofPlugins, ...claimHealth(pod, container, { prepared: preparedFor(pod), healthOf })];
    },
    grantsOf: async (pod, container) => {
      const names = cdiDevices(pod, container, preparedFor(pod));
      const given = await grants.grantsOf(pod, container);
      return { ...given, cdiDevices: [...names, ...given.cdiDevices] };
    },
    keepOnly: async (isKnown) => {
      await grants.keepOnly(isKnown);
      await claims.keepOnly(isKnown);
    },
  };
}

function listed({ Namespace: namespace, ClaimName: name, DriverState }: ClaimRecord): ListedClaim {
  const devices = Object.entries(DriverState).flatMap(([driver, { Devices }]) =>
    (Devices ?? []).map(({ PoolName: pool, DeviceName: device, ShareID, CDIDeviceIDs }) => ({
      ...{ driver, pool, device, shareId: ShareID ?? undefined },
      cdiDevices: CDIDeviceIDs ?? [],
    })),
  );
  return { namespace, name, devices };
}
