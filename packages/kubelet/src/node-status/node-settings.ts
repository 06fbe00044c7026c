import type { Taint } from '@podwright/kube-api';

/** How the node object is made and kept: KubeletConfiguration's fields and the flags of the same names. */
export type NodeSettings = {
  /** `registerNode`: with false somebody else makes the node object. */
  register: boolean;
  /** `registerWithTaints`: written when the object is made, and never again. */
  taints: Taint[];
  providerId: string;
  /** `--cloud-provider=external`: a controller of the cloud adds addresses, and takes the taint away that keeps pods off until then. */
  externalCloudProvider: boolean;
  /** `enableControllerAttachDetach`. */
  controllerAttachDetach: boolean;
  /** How often the status is worked out, and how often it is told though nothing but heartbeats changed. */
  statusUpdateMs: number;
  statusReportMs: number;
  /** A lease that was not renewed for this long means that the node is gone; it is renewed after a quarter of it. */
  leaseDurationSeconds: number;
  /** -1 for any number. */
  maxImages: number;
  /** `evictionHard`: what of it is kept back of memory and disk is no part of what pods may have. */
  evictionHard: Readonly<Record<string, string>>;
};

/** Upstream's defaults for what is left out. */
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
