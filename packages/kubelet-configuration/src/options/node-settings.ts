import type { Taint } from '@podwright/kube-api';

/** Settings for the Node object. Backquotes name the KubeletConfiguration fields or flags. */
export type NodeSettings = {
  /** `registerNode`: whether the kubelet creates the Node object. If false, another program must create it. */
  register: boolean;
  /** `registerWithTaints`: taints to create the Node object with. They are not added to an existing Node. */
  taints: Taint[];
  providerId: string;
  /** `--cloud-provider=external`: the cloud controller manager sets the node's addresses and removes the `uninitialized` taint. */
  externalCloudProvider: boolean;
  /** `enableControllerAttachDetach`: whether the attach/detach controller attaches volumes to this node. */
  controllerAttachDetach: boolean;
  /**
   * `nodeStatusUpdateFrequency`: how often the node status is computed; `nodeStatusReportFrequency`: how often an unchanged status is
   * reported.
   */
  statusUpdateMs: number;
  statusReportMs: number;
  /**
   * `nodeLeaseDurationSeconds`: age of the lease at which the node is considered dead. The lease is renewed after a quarter of this time.
   */
  leaseDurationSeconds: number;
  /** `nodeStatusMaxImages`: maximum number of images in the node status; -1 for no limit. */
  maxImages: number;
  /** `evictionHard`: the memory and disk thresholds, which are subtracted from the node's capacity to compute allocatable. */
  evictionHard: Readonly<Record<string, string>>;
};

/** Returns the node settings, with upstream's defaults for unset ones. */
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
