/** What fields of a KubeletConfiguration and flags make of the node object, for a kubelet that has an API server. */
import type { KubeletOptions } from '@podwright/kubelet';
import { hardThresholds } from './hard-thresholds.ts';
import { type FieldSetters, type WantedFields, withFields } from './laid-fields.ts';

type NodeSettings = KubeletOptions['node'];

const SETTERS: FieldSetters<NodeSettings> = {
  registerNode: (_, { registerNode: register }) => ({ register }),
  registerWithTaints: (_, { registerWithTaints: taints }) => ({ taints }),
  providerID: (_, { providerID: providerId }) => ({ providerId }),
  cloudProvider: (_, { cloudProvider }) => ({ externalCloudProvider: cloudProvider === 'external' }),
  enableControllerAttachDetach: (_, configuration) => ({
    controllerAttachDetach: configuration.enableControllerAttachDetach,
  }),
  // what is left out of the two is reported as often as it is worked out
  nodeStatusUpdateFrequency: (_, configuration) => ({
    statusUpdateMs: configuration.nodeStatusUpdateFrequency,
    statusReportMs: configuration.nodeStatusReportFrequency,
  }),
  nodeStatusReportFrequency: (_, { nodeStatusReportFrequency: statusReportMs }) => ({ statusReportMs }),
  nodeLeaseDurationSeconds: (_, { nodeLeaseDurationSeconds: leaseDurationSeconds }) => ({ leaseDurationSeconds }),
  evictionHard: (_, configuration) => ({ evictionHard: hardThresholds(configuration) }),
  mergeDefaultEvictionSettings: (_, configuration) => ({ evictionHard: hardThresholds(configuration) }),
  ignoreEvictionThreshold: (_, { ignoreEvictionThreshold: ignored }) => (ignored ? { evictionHard: {} } : {}),
  nodeStatusMaxImages: (_, { nodeStatusMaxImages: maxImages }) => ({ maxImages }),
};

/** The settings with these fields laid over them. */
export function configuredNode(node: NodeSettings, fields: WantedFields): NodeSettings {
  return withFields(node, SETTERS, fields);
}
