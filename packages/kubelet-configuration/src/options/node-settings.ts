import type { Taint } from '@podwright/kube-api';

/** Settings of the node object: KubeletConfiguration fields, and flags of the same names. */
export type NodeSettings = {
  /** `registerNode`: if false, another program creates the node object. */
  register: boolean;
  /** `registerWithTaints`: set only when the node object is created. */
  taints: Taint[];
  providerId: string;
  /** `--cloud-provider=external`: the cloud controller sets addresses and removes the `uninitialized` taint. */
  externalCloudProvider: boolean;
  /** `enableControllerAttachDetach`. */
  controllerAttachDetach: boolean;
  /** `nodeStatusUpdateFrequency`: period of computing the status; `nodeStatusReportFrequency`: period of reporting an unchanged one. */
  statusUpdateMs: number;
  statusReportMs: number;
  /** `nodeLeaseDurationSeconds`: a node whose lease is older counts as dead; it is renewed after a quarter of this time. */
  leaseDurationSeconds: number;
  /** `nodeStatusMaxImages`: maximum number of reported images; -1 for no limit. */
  maxImages: number;
  /** `evictionHard`: the thresholds of memory and disk are subtracted from allocatable. */
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
