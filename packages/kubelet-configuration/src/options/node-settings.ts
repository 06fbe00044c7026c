import type { Taint } from '@podwright/kube-api';

/** Settings of the node object: KubeletConfiguration fields, and flags of the same names. */
export type NodeSettings = {
  /** `registerNode`: whether the kubelet creates the node object. If false, another program has to. */
  register: boolean;
  /** `registerWithTaints`: taints that the node object is created with. They are not added later. */
  taints: Taint[];
  providerId: string;
  /** `--cloud-provider=external`: the cloud controller sets addresses and removes the `uninitialized` taint. */
  externalCloudProvider: boolean;
  /** `enableControllerAttachDetach`. */
  controllerAttachDetach: boolean;
  /**
   * `nodeStatusUpdateFrequency`: how often to compute the status; `nodeStatusReportFrequency`: how often to report an unchanged one.
   */
  statusUpdateMs: number;
  statusReportMs: number;
  /**
   * `nodeLeaseDurationSeconds`: age of the lease at which the node counts as dead. The lease is renewed after a quarter of this time.
   */
  leaseDurationSeconds: number;
  /** `nodeStatusMaxImages`: maximum number of reported images; -1 for no limit. */
  maxImages: number;
  /** `evictionHard`: the memory and disk thresholds are subtracted from allocatable. */
  evictionHard: Readonly<Record<string, string>>;
};

/** Fills in upstream's defaults. */
export function nodeSettings(given: Partial<NodeSettings> = {}): NodeSettings {
  return {
    register: true,
    taints: [],
    providerId: '',
    externalCloudProvider: false,
    controllerAttachDetach: true,
    statusUpdateMs: 10_000,
    statusReportMs: 300_000,
    leaseDurationSeconds: 40,
    maxImages: 50,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    ...given,
  };
}
